//! Virtual time: the next thing that happens, again and again.

use super::program::{HostCall, Packet, Program, Work};
use aqlipse_graph::schedule::CostTable;
use hsa::packet::Scope;

/// When everything ran, in nanoseconds from the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// When the last packet or host call was over.
    pub makespan_ns: u64,
    /// Start and end of each node; nothing for what neither a packet nor a host call stands for.
    pub nodes: Vec<Option<(u64, u64)>>,
    /// When the packet processors last turned to a packet of each queue.
    pub last_launch_ns: Vec<u64>,
}

/// The program waits for what never happens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queues stop at packets {positions:?}, the host at its call {host}")]
pub struct Stuck {
    /// By queue, the first packet that never launches.
    pub positions: Vec<usize>,
    /// The first host call that never starts.
    pub host: usize,
}

/// Runs a program on devices that the table describes.
///
/// # Errors
/// [`Stuck`] if some packet or call can never start.
pub fn run(program: &Program, table: &CostTable) -> Result<Timeline, Stuck> {
    let mut machine = Machine::new(program, table);
    while let Some((at, event)) = machine.next() {
        machine.pass(at);
        match event {
            Event::Completion => machine.complete(),
            Event::HostEnd => machine.end_host_call(),
            Event::HostStart => machine.start_host_call(),
            Event::Launch(queue) => machine.launch(queue),
        }
    }
    machine.finish()
}

/// What can happen next; of what happens at one time, the first of these comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Of the running kernels that are done.
    Completion,
    HostEnd,
    HostStart,
    /// The packet processor turns to a packet of this queue.
    Launch(usize),
}

/// A kernel on its compute units.
struct Running<'p> {
    queue: usize,
    packet: &'p Packet,
    work: Work,
    start: u64,
    /// Units times nanoseconds that are left to do.
    left: u64,
    /// Units that it can use, of those that the device has.
    wanted: u32,
    /// Units that it has.
    granted: u32,
}

impl Running<'_> {
    /// Nanoseconds to its end if it keeps what it has; nothing while it has nothing.
    fn rest(&self) -> Option<u64> {
        match self.granted {
            _ if self.left == 0 => Some(0),
            0 => None,
            granted => Some(self.left.div_ceil(u64::from(granted))),
        }
    }
}

#[derive(Clone, Default)]
struct Progress {
    next: usize,
    /// Kernels that have launched and not completed.
    open: usize,
    /// When the latest kernel completed, with the interrupt that it raised.
    drained: Option<u64>,
    /// When the latest barrier-AND packet had raised its interrupt.
    raised: u64,
    last_launch: u64,
}

struct Machine<'p> {
    program: &'p Program,
    table: &'p CostTable,
    now: u64,
    queues: Vec<Progress>,
    /// By device: when its packet processors are free again.
    free: Vec<u64>,
    /// By start.
    running: Vec<Running<'p>>,
    /// When each signal fired.
    fired: Vec<Option<u64>>,
    host: usize,
    /// When the host call that runs began.
    host_since: Option<u64>,
    /// When the host was last done with a call.
    host_free: u64,
    makespan: u64,
    nodes: Vec<Option<(u64, u64)>>,
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program, table: &'p CostTable) -> Self {
        let devices = program.queues.iter().map(|queue| usize::from(queue.device) + 1).max();
        Self {
            program,
            table,
            now: 0,
            queues: vec![Progress::default(); program.queues.len()],
            free: vec![0; devices.unwrap_or(0)],
            running: Vec::new(),
            fired: vec![None; program.signals as usize],
            host: 0,
            host_since: None,
            host_free: 0,
            makespan: 0,
            nodes: vec![None; program.nodes as usize],
        }
    }

    /// What happens next, and when.
    fn next(&self) -> Option<(u64, Event)> {
        let completion = self.running.iter().filter_map(Running::rest).min();
        let completion = completion.map(|rest| (self.now + rest, Event::Completion));
        let host = match (self.program.host.get(self.host), self.host_since) {
            (Some(call), Some(since)) => Some((since + u64::from(call.duration_ns), Event::HostEnd)),
            (Some(call), None) => self.host_may_start(call).map(|at| (at, Event::HostStart)),
            (None, _) => None,
        };
        // Of queues that are ready at one time, the one that has waited longest is next.
        let ready = (0..self.queues.len()).filter_map(|queue| Some((self.ready(queue)?, queue)));
        let launches = ready.map(|(at, queue)| {
            let free = self.free[usize::from(self.program.queues[queue].device)];
            (at.max(free), at, queue)
        });
        let launch = launches.min().map(|(at, _, queue)| (at, Event::Launch(queue)));
        completion.into_iter().chain(host).chain(launch).min()
    }

    /// When the next packet of a queue may launch, as far as its queue and its signals say; nothing if that is open.
    fn ready(&self, queue: usize) -> Option<u64> {
        let progress = &self.queues[queue];
        let packet = self.program.queues[queue].packets.get(progress.next)?;
        let mut at = progress.last_launch;
        if packet.fences.barrier {
            if progress.open > 0 {
                return None;
            }
            at = at.max(progress.drained.map_or(0, |drained| drained + u64::from(self.table.dependent_ns)));
            at = at.max(progress.raised);
        }
        let acquires = packet.fences.acquire != Scope::None;
        let acquire = u64::from(if acquires { self.table.acquire_ns } else { 0 });
        // What a crossing takes in all includes the launch of the barrier packet.
        self.seen(&packet.waits, u64::from(self.table.way_ns())).map(|seen| at.max(seen) + acquire)
    }

    fn host_may_start(&self, call: &HostCall) -> Option<u64> {
        self.seen(&call.waits, u64::from(self.table.host_wake_ns)).map(|seen| seen.max(self.host_free))
    }

    /// When all of the signals are seen, each some time after it fired; nothing if one has not fired.
    fn seen(&self, signals: &[u32], way: u64) -> Option<u64> {
        signals.iter().try_fold(0, |at: u64, &signal| Some(at.max(self.fired[signal as usize]? + way)))
    }

    /// Lets the time pass in which the running kernels work.
    fn pass(&mut self, at: u64) {
        let span = at.saturating_sub(self.now);
        for kernel in &mut self.running {
            kernel.left = kernel.left.saturating_sub(span * u64::from(kernel.granted));
        }
        self.now = self.now.max(at);
    }

    fn complete(&mut self) {
        let now = self.now;
        let table = self.table;
        let mut running = std::mem::take(&mut self.running);
        running.retain(|kernel| {
            if kernel.left > 0 {
                return true;
            }
            let progress = &mut self.queues[kernel.queue];
            progress.open -= 1;
            let interrupt = if kernel.packet.interrupts { table.interrupt_ns } else { 0 };
            progress.drained = progress.drained.max(Some(now + u64::from(interrupt)));
            self.nodes[kernel.work.node as usize] = Some((kernel.start, now));
            self.fire(kernel.packet.signal);
            false
        });
        self.running = running;
        self.grant();
    }

    fn fire(&mut self, signal: Option<u32>) {
        self.makespan = self.makespan.max(self.now);
        if let Some(signal) = signal {
            self.fired[signal as usize] = Some(self.now);
        }
    }

    fn start_host_call(&mut self) {
        self.host_since = Some(self.now);
    }

    fn end_host_call(&mut self) {
        let call = &self.program.host[self.host];
        let since = self.host_since.take().unwrap_or(self.now);
        self.nodes[call.node as usize] = Some((since, self.now));
        self.host_free = self.now;
        self.host += 1;
        self.fire(call.signal);
    }

    fn launch(&mut self, queue: usize) {
        let Some(packet) = self.program.queues[queue].packets.get(self.queues[queue].next) else { return };
        let device = self.program.queues[queue].device;
        self.free[usize::from(device)] = self.now + u64::from(self.table.packet_ns);
        let progress = &mut self.queues[queue];
        progress.next += 1;
        progress.last_launch = self.now;
        let Some(work) = packet.work else {
            if packet.interrupts {
                progress.raised = self.now + u64::from(self.table.interrupt_ns);
            }
            self.fire(packet.signal);
            return;
        };
        progress.open += 1;
        let wanted = work.units.clamp(1, self.table.compute_units.max(1));
        let first_load = if self.program.host_arguments { self.table.first_load_ns } else { 0 };
        self.running.push(Running {
            queue,
            packet,
            work,
            start: self.now,
            left: (u64::from(work.duration_ns) + u64::from(first_load)) * u64::from(wanted),
            wanted,
            granted: 0,
        });
        self.grant();
    }

    /// Shares the units of each device among its running kernels.
    fn grant(&mut self) {
        let mut left = vec![self.table.compute_units.max(1); self.free.len()];
        for kernel in &mut self.running {
            let left = &mut left[usize::from(self.program.queues[kernel.queue].device)];
            kernel.granted = kernel.wanted.min(*left);
            *left -= kernel.granted;
        }
    }

    fn finish(self) -> Result<Timeline, Stuck> {
        let ends = self.program.queues.iter().map(|queue| queue.packets.len());
        let all = self.queues.iter().map(|progress| progress.next).eq(ends);
        if all && self.host == self.program.host.len() {
            let last_launch_ns = self.queues.iter().map(|progress| progress.last_launch).collect();
            return Ok(Timeline { makespan_ns: self.makespan, nodes: self.nodes, last_launch_ns });
        }
        let positions = self.queues.iter().map(|progress| progress.next).collect();
        Err(Stuck { positions, host: self.host })
    }
}
