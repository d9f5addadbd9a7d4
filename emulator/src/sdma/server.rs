//! The thread of a copy engine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
        mpsc::Sender,
    },
    time::Duration,
};

use hsa_sys::{HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, HSA_STATUS_ERROR_MEMORY_FAULT, hsa_status_t};

use super::{
    Queue, Request, Shared,
    packet::{self, Command, Refused},
};
use crate::{
    copy,
    device::Device,
    fault::{self, QueueFault},
    memory::Held,
    os::{self, hidden},
    processor::{Interrupts, LONG_NAP, NAP, SPIN},
    queue::State,
    uninit,
};

/// Packets of one queue before another queue's turn.
const BURST: usize = 64;

/// What became of a packet.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// A poll that does not hold yet.
    Waits,
}

/// Why a packet could not be executed.
struct Fault {
    status: hsa_status_t,
    /// The address of a memory fault, and whether it was a write to read-only memory.
    memory: Option<(u64, bool)>,
    reason: String,
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self { status: HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, memory: None, reason: refused.0 }
    }
}

/// The state of an engine's thread.
pub(super) struct Server {
    device: Arc<Device>,
    number: usize,
    interrupts: Arc<dyn Interrupts>,
    shared: Arc<Shared>,
    /// The queues and how far each is executed.
    lanes: Vec<(Arc<Queue>, u64)>,
}

impl Server {
    pub(super) fn new(
        device: Arc<Device>,
        number: usize,
        interrupts: Arc<dyn Interrupts>,
        shared: Arc<Shared>,
    ) -> Self {
        Self { device, number, interrupts, shared, lanes: Vec::new() }
    }

    /// Serves the queues until the driver is closed.
    pub(super) fn serve(mut self) {
        os::sleep_precisely();
        let mut idle_since = None;
        while !self.shared.stop.load(Ordering::SeqCst) {
            let mut worked = self.take_requests();
            for lane in 0..self.lanes.len() {
                worked |= self.visit(lane);
            }
            if worked {
                idle_since = None;
                continue;
            }
            let shared = &self.shared;
            if self.lanes.is_empty() {
                shared.event.wait(None, || shared.has_news());
                continue;
            }
            let now = os::now();
            let idle = now - *idle_since.get_or_insert(now);
            if idle < SPIN {
                std::thread::yield_now();
                continue;
            }
            // A fraction of the idle time: a client that submits again soon is served soon.
            let nap = Duration::from_nanos(idle / 64).clamp(NAP, LONG_NAP);
            shared.event.wait(Some(nap), || shared.has_news());
        }
    }

    fn take_requests(&mut self) -> bool {
        let requests = std::mem::take(&mut *self.shared.requests.lock());
        let any = !requests.is_empty();
        let answer = |asker: Sender<()>| {
            // The thread that asked may have given up waiting.
            let _ = asker.send(());
        };
        for request in requests {
            match request {
                Request::Attach(queue) => self.lanes.push((queue, 0)),
                Request::Detach(id, asker) => {
                    self.lanes.retain(|(queue, _)| queue.id != id);
                    answer(asker);
                }
                Request::Quiesce(asker) => answer(asker),
            }
        }
        any
    }

    /// Executes up to a burst of packets of one queue.
    fn visit(&mut self, lane: usize) -> bool {
        let (queue, read) = &mut self.lanes[lane];
        if queue.losses != self.device.losses.load(Ordering::SeqCst) {
            // The device has said so; its queues are gone with it.
            queue.change(State::Faulted);
        }
        for done in 0..BURST {
            if queue.state() != State::Active {
                return done > 0;
            }
            match step(&self.device, &*self.interrupts, queue, *read) {
                Ok(Some(dwords)) => {
                    *read += 4 * dwords;
                    // ORDER: Release. The packet is executed before its place in the ring is free.
                    queue.word(queue.place.read_pointer).store(*read, Ordering::Release);
                }
                Ok(None) => return done > 0,
                Err(Fault { status, memory, reason }) => {
                    let report = format!(
                        "copy engine {} of device {}: at byte {read} of queue {}: {reason}",
                        self.number, self.device.index, queue.id
                    );
                    queue.change(State::Faulted);
                    let fault = QueueFault { status, memory, report };
                    fault::record(&fault, queue.id);
                    self.interrupts.queue_error(queue.id, self.device.index, &fault);
                    return true;
                }
            }
        }
        true
    }
}

/// Executes the packet at the front of a queue; its dwords, or `None` if there is none that can be executed now.
fn step(
    device: &Device,
    interrupts: &dyn Interrupts,
    queue: &Queue,
    read: u64,
) -> Result<Option<u64>, Fault> {
    // ORDER: Acquire. Pairs with the client's store: the packets below are published.
    let limit = queue.word(queue.place.doorbell).load(Ordering::Acquire);
    let published = limit.wrapping_sub(read);
    if published == 0 {
        return Ok(None);
    }
    if published > queue.place.bytes || !published.is_multiple_of(4) {
        let size = queue.place.bytes;
        return Err(
            Refused(format!("the doorbell {limit:#x} is not that of a ring of {size:#x} bytes")).into()
        );
    }
    let fetch = |index: u64| queue.fetch(read + 4 * index);
    let (command, dwords) = packet::decode(published / 4, device.card.copy_count_bits, fetch)?;
    Ok((execute(device, interrupts, &command)? == Outcome::Done).then_some(dwords))
}

/// Does what a packet asks for.
fn execute(device: &Device, interrupts: &dyn Interrupts, command: &Command) -> Result<Outcome, Fault> {
    // Keeps what it covers mapped.
    let memory = &mut Held::new(&device.map);
    let mut stored = None;
    match *command {
        Command::Nothing => {}
        Command::Copy { destination, source, bytes } => {
            reach(memory, "a copy reads", source, bytes, false)?;
            reach(memory, "a copy writes", destination, bytes, true)?;
            // CAST: less than 2^30. SAFETY: the snapshot covers both ranges.
            unsafe { copy::copy(destination, source, bytes as usize) };
            stored = Some(bytes);
        }
        Command::CopyRect(ref rect) => {
            for (destination, source) in rect.rows() {
                reach(memory, "a sub-window copy reads", source, rect.width, false)?;
                reach(memory, "a sub-window copy writes", destination, rect.width, true)?;
            }
            // SAFETY: the snapshot covers all rows.
            unsafe { rect.copy() };
            stored = Some(rect.bytes());
        }
        Command::Fill { destination, value, unit, count } => {
            reach(memory, "a fill writes", destination, unit * count, true)?;
            // SAFETY: the snapshot covers the range.
            unsafe { fill(destination, value, unit, count) };
            stored = Some(unit * count);
        }
        Command::Write { destination, ref words } => {
            reach(memory, "a write stores", destination, 4 * words.len() as u64, true)?;
            // SAFETY: the snapshot covers the range.
            unsafe { copy::copy(destination, words.as_ptr() as u64, size_of_val(words.as_slice())) };
        }
        Command::Fence { address, value } => {
            // ORDER: Release. A thread that sees the dword sees what was copied before.
            dword(memory, "a fence stores", address, true)?.store(value, Ordering::Release);
        }
        Command::Poll { address, mask, comparison, reference } => {
            let value = dword(memory, "a poll reads", address, false)?.load(Ordering::Acquire);
            if !comparison.holds(value & mask, reference) {
                return Ok(Outcome::Waits);
            }
        }
        Command::Add32 { address, value } => {
            dword(memory, "an atomic changes", address, true)?.fetch_add(value, Ordering::SeqCst);
        }
        Command::Add64 { address, value } => {
            // ORDER: as of the fence; a signal's value.
            quadword(memory, "an atomic changes", address)?.fetch_add(value, Ordering::SeqCst);
        }
        Command::Timestamp { address } => {
            quadword(memory, "a time stamp is stored", address)?.store(device.ticks(), Ordering::Release);
        }
        Command::Trap { context } => interrupts.event(device.index, context),
    }
    if let Some(bytes) = stored {
        device.tally.engine_copies.add_shared(1);
        device.tally.engine_bytes.add_shared(bytes);
    }
    Ok(Outcome::Done)
}

/// Checks that the device may touch a range.
fn reach(memory: &mut Held<'_>, what: &str, start: u64, bytes: u64, write: bool) -> Result<(), Fault> {
    let gap = match start.checked_add(bytes) {
        Some(end) => memory.first_gap(start, end, write),
        None => Some(start),
    };
    let Some(address) = gap else { return Ok(()) };
    let read_only = memory.snapshot().find(address).is_some();
    let why = if read_only { "may not write to" } else { "does not reach" };
    let reason = format!("{what} {bytes} bytes at {start:#x}, and the device {why} {address:#x}");
    Err(Fault { status: HSA_STATUS_ERROR_MEMORY_FAULT, memory: Some((address, read_only)), reason })
}

fn aligned(what: &str, address: u64, bytes: u64) -> Result<(), Fault> {
    if address.is_multiple_of(bytes) {
        return Ok(());
    }
    let reason = format!("{what} {bytes} bytes at {address:#x}, which is not aligned");
    Err(Fault { status: HSA_STATUS_ERROR_MEMORY_FAULT, memory: Some((address, false)), reason })
}

fn dword<'a>(
    memory: &'a mut Held<'_>,
    what: &str,
    address: u64,
    write: bool,
) -> Result<&'a AtomicU32, Fault> {
    aligned(what, address, 4)?;
    reach(memory, what, address, 4, write)?;
    // SAFETY: aligned, and the snapshot keeps it mapped.
    Ok(unsafe { AtomicU32::from_ptr(hidden::at(address).cast()) })
}

fn quadword<'a>(memory: &'a mut Held<'_>, what: &str, address: u64) -> Result<&'a AtomicU64, Fault> {
    aligned(what, address, 8)?;
    reach(memory, what, address, 8, true)?;
    // SAFETY: aligned, and the snapshot keeps it mapped.
    Ok(unsafe { AtomicU64::from_ptr(hidden::at(address).cast()) })
}

/// Stores the low `unit` bytes of `value` `count` times.
///
/// # Safety
/// The range is mapped and writable.
unsafe fn fill(destination: u64, value: u32, unit: u64, count: u64) {
    uninit::shadow().fill(destination, unit * count);
    let pattern = value.to_le_bytes();
    for index in 0..count {
        let place = hidden::at(destination + index * unit);
        // SAFETY: the caller's; at most four bytes of the pattern.
        unsafe { std::ptr::copy_nonoverlapping(pattern.as_ptr(), place, unit as usize) };
    }
}
