//! The packet processor's loop.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use hsa_sys::{
    HSA_STATUS_ERROR, HSA_STATUS_ERROR_EXCEPTION, HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
    HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, HSA_STATUS_ERROR_INVALID_ALLOCATION,
    HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, HSA_STATUS_ERROR_MEMORY_FAULT,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES, hsa_kernel_dispatch_packet_t, hsa_status_t,
};

use super::{
    Client, Interrupts, Request, Shared, header,
    lane::{Front, Lane, Running},
    packet::{Barrier, Work},
    random::Random,
    signals::Signals,
    turns::Turns,
};
use crate::{
    convergence::Deadlock,
    device::Device,
    dispatch::{Dispatch, DispatchFault, Environment, Launch, LaunchError, Residency},
    fault::{self, Loss, QueueFault},
    hardware::FailureKind,
    memory::{
        Allocation, Grain,
        coherence::{Origin, Scope},
    },
    os::{self, Mapping, hidden},
    queue::{Packet, State},
    race::RaceWatch,
    signal::{self, SEATS},
    touched::{self, AccessFault, Dispatched, How, Observer, Refused, Starting},
    units::{self, OnUnits, UnitObserver, UnitPlace, UnitSlice},
    wave::{Apertures, FaultKind, Host, Surroundings, WaveSync},
    workers::{Hand, Turn, Workers},
    workgroup::Watches,
};

/// Dispatches of a device that may run at once.
const CONCURRENT: usize = 256;
/// How long an idle packet processor looks for packets before it sleeps.
pub(crate) const SPIN: u64 = 20_000;
/// How long a dispatch runs on the packet processor alone before workers are asked to help.
const ALONE: u64 = 30_000;
/// Packets of one queue before another queue's turn.
const BURST: usize = 64;
/// How often a running dispatch is looked at for what device code stored into signals.
const LOOK: Duration = Duration::from_millis(1);

/// Sleep of a packet processor whose workgroups all wait.
const PAUSE: Duration = Duration::from_micros(50);

/// How often an idle packet processor looks at doorbells that are plain memory; longer after longer idleness.
pub(crate) const NAP: Duration = Duration::from_micros(20);
/// At most so often.
pub(crate) const LONG_NAP: Duration = Duration::from_micros(500);

/// What device code finds outside of its compute unit: interrupts, which wake the host, and global wave sync.
struct Board {
    device: Arc<Device>,
    /// Where interrupts go, if a client of the driver is served.
    interrupts: Option<Arc<dyn Interrupts>>,
    /// A device's only set: its queues share it, as cooperative launches do on a card.
    wave_sync: WaveSync,
}

impl Host for Board {
    fn message(&self, message: u16, m0: u32) {
        // MSG_INTERRUPT (MI200 ISA, 4.5): device code stored into a signal that has a mailbox.
        if message & 0xf == 1 {
            match &self.interrupts {
                Some(interrupts) => interrupts.message(self.device.index, m0),
                None => signal::device_wrote(),
            }
        }
    }

    fn read(&self, socket: u32, early: bool) {
        let Device { tally, hardware, index, .. } = &*self.device;
        let is_near = socket == hardware.socket_of(*index);
        let reads = if is_near { &tally.near_host_reads } else { &tally.far_host_reads };
        reads.add_shared(1);
        if early {
            tally.early_host_reads.add_shared(1);
        }
    }

    fn wave_sync(&self) -> Option<&WaveSync> {
        Some(&self.wave_sync)
    }
}

/// The state of a packet processor's thread.
pub(super) struct Engine {
    pub(super) device: Arc<Device>,
    pub(super) lanes: Vec<Lane>,
    pub(super) hand: Hand,
    pub(super) random: Option<Random>,
    workers: Arc<Workers>,
    client: Client,
    signals: Arc<Signals>,
    shared: Arc<Shared>,
    surroundings: Surroundings,
    residency: Arc<Residency>,
    /// All compute units, for queues without a mask.
    units: Arc<[u32]>,
    /// Copies of the packets whose kernels run, where kernels can read them: the slots in the ring are
    /// given back at launch.
    shadows: Arc<Mapping>,
    free_shadows: Vec<u32>,
    next_look: u64,
    /// The lane that comes first in the next round.
    first: usize,
    pub(super) turns: Turns,
}

impl Engine {
    pub(super) fn new(
        device: Arc<Device>,
        workers: Arc<Workers>,
        client: Client,
        seed: Option<u64>,
        shared: Arc<Shared>,
    ) -> std::io::Result<Self> {
        let shadows = Arc::new(Mapping::anonymous(CONCURRENT * size_of::<Packet>())?);
        let (start, end) = (shadows.address(), shadows.address() + shadows.size() as u64);
        let backing: Arc<dyn Send + Sync> = Arc::clone(&shadows) as _;
        // Not cached: a wave finds the packet that launched it, whatever that packet acquires.
        let grain = Grain::Uncached;
        device.map.insert(Allocation {
            start,
            end,
            writable: false,
            grain,
            socket: None,
            backing: Some(backing),
        });
        let surroundings = Surroundings {
            map: Arc::clone(&device.map),
            apertures: Apertures::default(),
            host: Arc::new(Board {
                device: Arc::clone(&device),
                interrupts: match &client {
                    Client::Table(_) => None,
                    Client::Driver(interrupts) => Some(Arc::clone(interrupts)),
                },
                wave_sync: WaveSync::default(),
            }),
        };
        let signals = Arc::new(Signals::of(&client, &device));
        let residency = Arc::new(Residency::new(device.compute_units, device.card.waves_per_unit));
        Ok(Self {
            residency,
            units: (0..device.compute_units).collect(),
            random: seed.map(|seed| Random::new(seed, device.index)),
            device,
            lanes: Vec::new(),
            hand: Hand::new(),
            workers,
            signals,
            client,
            shared,
            surroundings,
            shadows,
            // CAST: a small constant.
            free_shadows: (0..CONCURRENT as u32).rev().collect(),
            next_look: 0,
            first: 0,
            turns: Turns::default(),
        })
    }

    /// Serves the queues until the runtime ends.
    pub(super) fn serve(mut self) {
        os::sleep_precisely();
        let mut idle_since = None;
        while !self.shared.stop.load(Ordering::SeqCst) {
            SEATS.take(self.device.index, os::core());
            let mut worked = self.take_requests();
            worked |= if self.random.is_some() { self.seeded_round() } else { self.round() };
            if worked {
                idle_since = None;
                continue;
            }
            if self.is_running() {
                // Everything here waits for what other threads do, or workers have the rest.
                let now = os::now();
                if now - *idle_since.get_or_insert(now) < SPIN {
                    std::thread::yield_now();
                    continue;
                }
                let polled = self.lanes.iter().any(Lane::is_polled);
                self.sleep(Some(if self.hand.is_empty() && !polled { LOOK } else { PAUSE }));
                self.look();
                continue;
            }
            let now = os::now();
            let idle = now - *idle_since.get_or_insert(now);
            if idle < SPIN {
                for _ in 0..32 {
                    std::hint::spin_loop();
                }
                continue;
            }
            self.hand.rest();
            if self.lanes.iter().any(Lane::is_polled) {
                // A fraction of the idle time: a client that submits again soon is served soon.
                self.sleep(Some(Duration::from_nanos(idle / 64).clamp(NAP, LONG_NAP)));
                continue;
            }
            self.sleep(None);
            idle_since = None;
        }
        SEATS.leave(self.device.index);
        self.abandon();
    }

    /// Sleeps until something can be done.
    fn sleep(&mut self, timeout: Option<Duration>) {
        for lane in &mut self.lanes {
            if let Front::Pending(barrier) = lane.front() {
                lane.watch(&barrier);
            }
        }
        let (shared, lanes) = (&self.shared, &self.lanes);
        SEATS.leave(self.device.index);
        signal::processor_event(self.device.index).wait(timeout, || {
            shared.stop.load(Ordering::SeqCst)
                || !shared.requests().is_empty()
                || lanes.iter().any(Lane::has_work)
        });
    }

    fn take_requests(&mut self) -> bool {
        let requests = std::mem::take(&mut *self.shared.requests());
        let any = !requests.is_empty();
        for request in requests {
            match request {
                Request::Attach(queue) => {
                    let (signals, memory) = (Arc::clone(&self.signals), Arc::clone(&self.device.map));
                    self.lanes.push(Lane::new(queue, signals, memory));
                }
                Request::Detach(id, answer) => {
                    if let Some(lane) = self.lanes.iter_mut().find(|l| l.queue.id == id) {
                        lane.abort();
                        lane.leaving = Some(answer);
                    }
                }
                Request::Abort(id, answer) => {
                    if let Some(lane) = self.lanes.iter_mut().find(|l| l.queue.id == id) {
                        lane.abort();
                        lane.silenced.push(answer);
                    }
                }
                Request::Quiesce(answer) => {
                    // The thread that asked may have given up waiting.
                    let _ = answer.send(());
                }
            }
        }
        any
    }

    /// Whether a dispatch is under way.
    fn is_running(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.running.is_empty())
    }

    /// Completes what is complete, launches what can be launched, and lends a hand.
    fn round(&mut self) -> bool {
        let mut worked = self.finish();
        self.turns.deal(&mut self.lanes, &self.device);
        let count = self.lanes.len();
        self.first = (self.first + 1) % count.max(1);
        for priority in (0..=2).rev() {
            for offset in 0..count {
                let index = (self.first + offset) % count;
                if self.lanes[index].has_place && self.lanes[index].queue.priority() == priority {
                    worked |= self.visit(index);
                }
            }
        }
        match self.hand.turn(1) {
            Turn::Worked => worked = true,
            // Neither progress nor a reason to burn a core.
            Turn::Stuck | Turn::Nothing => {}
        }
        if self.is_running() && os::now() >= self.next_look {
            self.look();
        }
        worked | self.finish()
    }

    /// Notices on the host's behalf what device code stored.
    fn look(&mut self) {
        signal::device_wrote();
        // CAST: a millisecond.
        self.next_look = os::now() + LOOK.as_nanos() as u64;
    }

    /// Launches up to a burst of packets of one queue.
    fn visit(&mut self, index: usize) -> bool {
        for done in 0..BURST {
            if !self.step(index) {
                return done > 0;
            }
            if !self.lanes[index].running.is_empty() {
                self.finish_lane(index);
            }
        }
        true
    }

    /// Launches the front packet of a queue if that is allowed now.
    pub(super) fn step(&mut self, index: usize) -> bool {
        match self.lanes[index].front() {
            Front::Nothing => false,
            Front::Pending(barrier) => {
                self.lanes[index].watch(&barrier);
                // The signals may have changed before they were watched.
                barrier.holds()
            }
            Front::Refused(refusal) => {
                let report = format!("{}: {}", self.lanes[index].place(), refusal.reason);
                self.fail(index, QueueFault { status: refusal.status, memory: None, report });
                true
            }
            Front::Ready(packet, Work::Kernel(kernel)) => {
                if self.device.hardware.discrete {
                    hidden::bar::settled();
                }
                if let Some(failure) = self.failure() {
                    self.befall(index, &packet, &kernel, failure);
                } else if self.device.null_kernels {
                    self.process(index, &packet, Work::Kernel(kernel));
                } else {
                    return self.launch(index, &packet, &kernel);
                }
                true
            }
            Front::Ready(packet, work) => {
                self.process(index, &packet, work);
                true
            }
        }
    }

    /// How the hardware fails at the device's next dispatch, if it was asked to.
    fn failure(&self) -> Option<FailureKind> {
        let hardware = &self.device.hardware;
        if hardware.failures.is_empty() {
            return None;
        }
        hardware.failure(self.device.index, self.device.tally.read().kernels + 1)
    }

    /// Fails at the dispatch at the front of a queue.
    fn befall(
        &mut self,
        index: usize,
        packet: &Packet,
        kernel: &hsa_kernel_dispatch_packet_t,
        failure: FailureKind,
    ) {
        self.count(index, packet, &Work::Kernel(*kernel));
        let place =
            format!("{}: {}", self.lanes[index].place(), kernel_name(&self.device, kernel.kernel_object));
        match failure {
            FailureKind::Hang => {
                tracing::warn!("{place}: never ends, as AQLIPSE_EMULATE_HARDWARE asks");
                self.lanes[index].hang();
            }
            FailureKind::QueueError => {
                let report = format!("{place}: a queue error, as AQLIPSE_EMULATE_HARDWARE asks");
                self.fail(index, QueueFault { status: HSA_STATUS_ERROR_EXCEPTION, memory: None, report });
            }
            FailureKind::Reset => self.lose(Loss::Hang, format!("{place}: the device hung and was reset")),
            FailureKind::MemoryError => {
                self.lose(Loss::Memory, format!("{place}: an error of memory that cannot be corrected"));
            }
        }
    }

    /// Stops all queues of the device. None reports an error: the device does.
    fn lose(&mut self, loss: Loss, report: String) {
        self.device.losses.fetch_add(1, Ordering::SeqCst);
        for lane in &mut self.lanes {
            lane.abort();
            lane.queue.stop(State::Faulted);
        }
        fault::record_loss(report, self.device.index);
        match &self.client {
            Client::Table(handlers) => fault::announce_loss(loss, &self.device, handlers),
            Client::Driver(interrupts) => interrupts.lost(self.device.index, loss),
        }
    }

    /// Does what a packet other than a dispatch asks for; it is complete then, unless it enters other packets.
    fn process(&mut self, index: usize, packet: &Packet, work: Work) {
        self.count(index, packet, &work);
        if !matches!(work, Work::Return) {
            self.acquire(index, packet, matches!(work, Work::Commands(_)));
        }
        match work {
            Work::Branch(branch) => {
                if let Some(run) = branch.choose() {
                    self.lanes[index].enter(run, *packet);
                    return;
                }
            }
            Work::LoopBack(back) => {
                if back.again() {
                    self.lanes[index].restart();
                    return;
                }
            }
            Work::Return => self.lanes[index].leave(),
            Work::Commands(commands) if commands.invalidate_code => self.device.code.invalidate(),
            Work::Commands(_) | Work::Barrier(_) | Work::Kernel(_) => {}
        }
        let completion = header::completion(packet);
        let now = self.ticks(index, completion);
        self.lanes[index].advance(false);
        self.release(index, packet.header(), None);
        self.complete(index, completion, now, now);
    }

    /// Adds a packet that is launched to what the device has done.
    fn count(&self, index: usize, packet: &Packet, work: &Work) {
        let tally = &self.device.tally;
        match work {
            Work::Kernel(_) => &tally.kernels,
            Work::Barrier(Barrier::And(_)) => &tally.barrier_and,
            Work::Barrier(Barrier::Or(_)) => &tally.barrier_or,
            Work::Barrier(Barrier::Value { .. }) => &tally.barrier_value,
            Work::Commands(_) => &tally.pm4,
            Work::Branch(_) | Work::LoopBack(_) => &tally.branches,
            // Its packet has been counted when it entered the run.
            Work::Return => return,
        }
        .add(1);
        if header::has_barrier_bit(packet) {
            tally.barrier_bits.add(1);
        }
        if let Some(client) = self.lanes[index].queue.client() {
            tally.doorbells.add(client.take_rings());
        }
    }

    /// Takes one off a completion signal, after the times if the queue is profiled.
    fn complete(&self, index: usize, handle: u64, start: u64, end: u64) {
        if handle == 0 {
            return;
        }
        let times = self.lanes[index].queue.is_profiled().then_some((start, end));
        self.signals.complete(handle, times, &self.device);
    }

    /// Performs a packet's acquire fence, at system scope for commands that maintain caches.
    fn acquire(&self, index: usize, packet: &Packet, maintenance: bool) {
        if let Some(caches) = self.device.map.caches() {
            let scope = if maintenance { Scope::System } else { Scope::acquire(packet.header()) };
            caches.acquire(&self.device.map, self.lanes[index].queue.id, scope);
        }
    }

    /// Performs a packet's release fence.
    fn release(&self, index: usize, header: u16, origin: Option<Origin>) {
        if let Some(caches) = self.device.map.caches() {
            caches.release(&self.device.map, self.lanes[index].queue.id, header, origin);
        }
    }

    fn launch(&mut self, index: usize, packet: &Packet, kernel: &hsa_kernel_dispatch_packet_t) -> bool {
        let Some(shadow) = self.free_shadows.pop() else { return false };
        let patience = self.patience(kernel.kernel_object);
        // CAST: a small index.
        let place = self.shadows.pointer().cast::<Packet>().wrapping_add(shadow as usize);
        // SAFETY: the slot is inside the mapping, aligned, and no dispatch's until it is freed.
        unsafe { place.write(*packet) };
        self.acquire(index, packet, false);
        let queue = self.lanes[index].queue.id;
        let origin = self.device.map.caches().map(|caches| caches.origin(queue));
        let lane = &mut self.lanes[index];
        let at = lane.index();
        // ORDER: Acquire fence of the packet: everything stored before it was published is visible, as
        // the header was read with Acquire.
        let launch = Launch::from_packet(kernel, place as u64, lane.queue.control(), at);
        let environment = Environment {
            target: self.device.card.target,
            units: lane.queue.units().unwrap_or_else(|| Arc::clone(&self.units)),
            dies: self.device.card.dies,
            residency: Arc::clone(&self.residency),
            surroundings: self.surroundings.clone(),
            code: self.device.code.snapshot(),
        };
        let order = self.random.as_mut().map(Random::next);
        let made = Dispatch::new(&environment, launch).map(|dispatch| dispatch.seen_from(origin));
        let watches = Watches {
            races: RaceWatch {
                order: self.device.observed_races,
                same_values: self.device.observed_same_values,
                bounds: self.device.observed_bounds,
            },
            sync: self.device.observed_sync.then_some(patience),
            uninit: self.device.observed_uninit,
        };
        let made = made.map(|dispatch| if self.device.observed { dispatch.noted(watches) } else { dispatch });
        let made = match units::observer() {
            Some(observer) if observer.is_watching() => made.map(Dispatch::timed),
            _ => made,
        };
        if let Some(observer) = touched::observer().filter(|_| self.device.observed) {
            Self::announce(&self.device, observer, &launch);
        }
        let dispatch = match made {
            Ok(dispatch) => Arc::new(match order {
                Some(seed) => dispatch.shuffled(seed),
                None => dispatch,
            }),
            Err(error) => {
                self.free_shadows.push(shadow);
                let name = kernel_name(&self.device, kernel.kernel_object);
                let report = format!("{}: {name}: {error}", lane.place());
                self.fail(index, QueueFault { status: launch_status(&error), memory: None, report });
                return true;
            }
        };
        lane.advance(true);
        self.count(index, packet, &Work::Kernel(*kernel));
        let completion = header::completion(packet);
        let start = self.ticks(index, completion);
        let mut running = Running {
            dispatch,
            index: at,
            header: packet.header(),
            origin,
            completion,
            start,
            shadow,
            offered: false,
        };
        self.hand.join(&running.dispatch, self.device.index);
        if self.random.is_none() {
            self.start(&mut running, index);
        }
        self.lanes[index].running.push(running);
        true
    }

    /// The device's time, if a queue wants to know it and there is a signal to tell it by: the clock costs as much as a
    /// barrier packet.
    fn ticks(&self, index: usize, completion: u64) -> u64 {
        if completion != 0 && self.lanes[index].queue.is_profiled() { self.device.ticks() } else { 0 }
    }

    /// Runs a new dispatch here; if it is not done soon, workers help.
    fn start(&mut self, running: &mut Running, index: usize) {
        let begin = os::now();
        while self.hand.turn_of(&running.dispatch, 1) == Turn::Worked {
            if os::now() - begin > ALONE {
                break;
            }
        }
        if running.dispatch.has_unclaimed() {
            running.offered = true;
            let priority = self.lanes[index].queue.priority();
            self.workers.offer(&running.dispatch, self.device.index, priority);
        }
    }

    /// Completes the dispatches that are done.
    pub(super) fn finish(&mut self) -> bool {
        let mut any = false;
        let mut index = 0;
        while index < self.lanes.len() {
            any |= self.finish_lane(index);
            if self.lanes[index].running.is_empty() {
                for answer in self.lanes[index].silenced.drain(..) {
                    // The thread that asked may have given up waiting.
                    let _ = answer.send(());
                }
            }
            if self.lanes[index].leaving.is_some() && self.lanes[index].running.is_empty() {
                let lane = self.lanes.swap_remove(index);
                if let Some(caches) = self.device.map.caches() {
                    caches.leave(lane.queue.id);
                }
                if let Some(answer) = lane.leaving {
                    // The thread that asked may have given up waiting.
                    let _ = answer.send(());
                }
                any = true;
            } else {
                index += 1;
            }
        }
        any
    }

    fn finish_lane(&mut self, index: usize) -> bool {
        let mut any = false;
        while let Some(place) = self.lanes[index].running.iter().position(|r| r.dispatch.is_complete()) {
            let running = self.lanes[index].running.remove(place);
            self.free_shadows.push(running.shadow);
            if running.offered {
                self.workers.withdraw(&running.dispatch);
            }
            any = true;
            self.tell(index, &running.dispatch);
            if let Some((slices, observer)) = running.dispatch.on_units().zip(units::observer()) {
                self.tell_units(index, &running, slices, observer);
            }
            self.release(index, running.header, running.origin);
            self.lanes[index].free_slots();
            // What the kernel stored is announced before its completion, so that no watcher is woken twice for it.
            signal::device_wrote();
            if let Some(error) = running.dispatch.fault() {
                let fault = self.describe(error);
                self.fail(index, fault);
            } else if !running.dispatch.is_stopped() {
                let end = self.ticks(index, running.completion);
                self.complete(index, running.completion, running.start, end);
            }
        }
        any
    }

    /// How long waves of a kernel may wait.
    fn patience(&self, kernel_object: u64) -> Duration {
        let watched = touched::observer().filter(|_| self.device.observed_sync);
        let is_endless = watched.is_some_and(|observer| observer.is_patient(kernel_object));
        if is_endless { Duration::MAX } else { self.device.patience }
    }

    /// Tells the observer of a dispatch that is about to start.
    fn announce(device: &Device, observer: &dyn Observer, launch: &Launch) {
        let map = device.map.snapshot();
        let word = |offset| {
            let at = launch.kernarg.checked_add(offset)?;
            let is_there = map.covers(at, at.checked_add(8)?, false);
            // SAFETY: the map says that the range is readable, and the snapshot keeps its backing.
            is_there.then(|| unsafe { hidden::at(at).cast::<u64>().read_unaligned() })
        };
        let is_mapped = |address: u64| os::is_mapped(address, address.saturating_add(1));
        let is_memory = |address| map.find(address).is_some() || is_mapped(address);
        let (arguments, kernel_object) = (launch.kernarg, launch.kernel_object);
        observer.starting(&Starting { arguments, kernel_object, word: &word, is_memory: &is_memory });
    }

    /// Tells the observer, if there is one, what a dispatch has touched.
    fn tell(&self, index: usize, dispatch: &Dispatch) {
        let Some((notes, observer)) = dispatch.notes().zip(touched::observer()) else { return };
        let (launch, (touched, firsts)) = (dispatch.launch(), notes.take());
        observer.dispatched(&Dispatched {
            device: self.device.index,
            queue: self.lanes[index].queue.id,
            kernel_object: launch.kernel_object,
            kernel: &|| kernel_name(&self.device, launch.kernel_object),
            arguments: launch.kernarg,
            touched: &touched,
            firsts: &firsts,
            entry: dispatch.entry(),
            races: &notes.races.take(),
            sync: &notes.sync.take(),
            uninit: &notes.uninit.take(),
            refused: dispatch.fault().and_then(|fault| self.refused(dispatch, fault)),
            deadlock: dispatch.fault().and_then(|fault| deadlock(dispatch, fault)),
        });
    }

    /// Tells the observer where the workgroups of a dispatch were.
    #[cold]
    fn tell_units(
        &self,
        index: usize,
        running: &Running,
        slices: Vec<(UnitPlace, UnitSlice)>,
        observer: &dyn UnitObserver,
    ) {
        observer.ran(OnUnits {
            device: self.device.index,
            queue: self.lanes[index].queue.id,
            completion: running.completion,
            kernel: &|| kernel_name(&self.device, running.dispatch.launch().kernel_object),
            slices,
        });
    }

    /// The access that a fault is about, if it is about one.
    fn refused(&self, dispatch: &Dispatch, fault: &DispatchFault) -> Option<Refused> {
        let (kind, address, bytes, how) = match fault.kind {
            FaultKind::Memory { address, bytes, write, .. } => {
                let is_there = self.device.map.snapshot().find(address).is_some();
                let kind = if write && is_there { AccessFault::ReadOnly } else { AccessFault::NoMemory };
                (kind, address, bytes, if write { How::Write } else { How::Read })
            }
            FaultKind::Misaligned { address, bytes, .. } => {
                (AccessFault::Misaligned, address, bytes, How::Atomic)
            }
            _ => return None,
        };
        Some(Refused {
            fault: kind,
            address,
            bytes: bytes.into(),
            how,
            workgroup: dispatch.number(fault.workgroup),
            wave: fault.wave,
            pc: fault.pc,
        })
    }

    /// Stops a queue for good and reports the fault.
    fn fail(&mut self, index: usize, fault: QueueFault) {
        let lane = &mut self.lanes[index];
        lane.abort();
        if lane.queue.state() != State::Active {
            // The first fault is the cause; for a destroyed queue there is nothing to report it to.
            return;
        }
        lane.queue.stop(State::Faulted);
        fault::record(&fault, lane.queue.id);
        match &self.client {
            Client::Table(handlers) => fault::announce(fault, &lane.queue, &self.device, handlers),
            Client::Driver(interrupts) => interrupts.queue_error(lane.queue.id, self.device.index, &fault),
        }
    }

    fn describe(&self, fault: &DispatchFault) -> QueueFault {
        let (status, memory) = match fault.kind {
            FaultKind::Memory { address, write, .. } => {
                let read_only = write && self.device.map.snapshot().find(address).is_some();
                (HSA_STATUS_ERROR_MEMORY_FAULT, Some((address, read_only)))
            }
            FaultKind::Misaligned { address, .. } => (HSA_STATUS_ERROR_MEMORY_FAULT, Some((address, false))),
            FaultKind::Fetch => (HSA_STATUS_ERROR_MEMORY_FAULT, Some((fault.pc, false))),
            FaultKind::Aperture { .. } => (HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, None),
            FaultKind::IllegalInstruction { .. }
            | FaultKind::Unimplemented { .. }
            | FaultKind::Illegal { .. }
            | FaultKind::BufferFormat { .. }
            | FaultKind::Format { .. } => (HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, None),
            FaultKind::Trap { .. } | FaultKind::Halt | FaultKind::Deadlock { .. } => {
                (HSA_STATUS_ERROR_EXCEPTION, None)
            }
            #[allow(unreachable_patterns, reason = "further kinds may be added")]
            _ => (HSA_STATUS_ERROR, None),
        };
        let name = kernel_name(&self.device, fault.kernel_object);
        let place = self.device.image(fault.pc).and_then(|image| image.function(fault.pc));
        let place = place.map_or(String::new(), |(function, offset)| format!(" in {function}+{offset:#x}"));
        let distance = match (fault.kind, fault.nearest) {
            (FaultKind::Memory { address, .. }, Some((start, end))) => distance(address, start, end),
            _ => String::new(),
        };
        QueueFault { status, memory, report: format!("kernel {name}{place}: {fault}{distance}") }
    }

    /// Stops everything: the runtime ends.
    fn abandon(&mut self) {
        for running in self.lanes.iter().flat_map(|l| &l.running) {
            running.dispatch.stop();
        }
        while self.is_running() {
            self.hand.turn(1);
            self.finish();
            std::thread::yield_now();
        }
        // A thread that waits for a queue to be detached gets an error, which says as much.
        self.lanes.clear();
    }
}

fn kernel_name(device: &Device, kernel_object: u64) -> String {
    let image = device.image(kernel_object);
    let name = image.and_then(|image| image.kernel(kernel_object));
    name.unwrap_or_else(|| format!("{kernel_object:#x} (no loaded kernel)"))
}

/// The wave that a fault is about, if it is a deadlock.
fn deadlock(dispatch: &Dispatch, fault: &DispatchFault) -> Option<Deadlock> {
    let FaultKind::Deadlock { awaited, waiting } = fault.kind else { return None };
    let (workgroup, wave, pc) = (dispatch.number(fault.workgroup), fault.wave, fault.pc);
    Some(Deadlock { workgroup, wave, pc, awaited, waiting })
}

fn distance(address: u64, start: u64, end: u64) -> String {
    let size = end - start;
    if address >= end {
        format!("; {} bytes past the end of the nearest allocation ({size} bytes)", address - end)
    } else if address < start {
        format!("; {} bytes before the nearest allocation ({size} bytes)", start - address)
    } else {
        format!("; inside a read-only allocation of {size} bytes")
    }
}

fn launch_status(error: &LaunchError) -> hsa_status_t {
    match error {
        LaunchError::Empty | LaunchError::GridSize => HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
        LaunchError::WorkgroupSize { .. } => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        LaunchError::GroupSegment { .. } => HSA_STATUS_ERROR_INVALID_ALLOCATION,
        LaunchError::PrivateSegment { .. } => HSA_STATUS_ERROR_OUT_OF_RESOURCES,
        LaunchError::KernelObject { .. } | LaunchError::Entry { .. } => HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
        #[allow(unreachable_patterns, reason = "further errors may be added")]
        _ => HSA_STATUS_ERROR,
    }
}
