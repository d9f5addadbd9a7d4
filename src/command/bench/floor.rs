//! The floor under every launch: the bytes of its packets copied into a ring, and nothing else.
//!
//! [`DeviceRing`] is a queue of the emulated device, which takes the packets out again: its ring is where a packet
//! processor has left it, in the cache of another core. [`Ring`] is memory that nobody else looks at.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use hsa::packet::{Fences, KernelDispatch, Packet};

use super::sampling::nanoseconds;

/// Slots of the ring; the runtime's queues have as many.
const SLOTS: usize = 16 * 1024;

/// Packets whose headers are held back together, as in the runtime's ring.
const RUN: usize = 64;

/// Memory like a queue's, which nobody reads.
pub struct Ring {
    slots: Box<[Packet; SLOTS]>,
    next: usize,
}

impl Ring {
    /// A ring whose pages have all been touched.
    pub fn new() -> Self {
        let slots = vec![Packet::INVALID; SLOTS].into_boxed_slice();
        // PANIC: the length is the array's.
        Self { slots: slots.try_into().expect("as many slots as the array has"), next: 0 }
    }

    /// Copies `packets` behind those of the call before: in runs, last to first, bodies with headers that read
    /// invalid, then the headers, last to first, with release.
    ///
    /// # Panics
    /// If there are more packets than slots.
    pub fn copy(&mut self, packets: &[Packet]) {
        assert!(packets.len() <= SLOTS, "more packets than slots");
        let first = self.next;
        let mut end = packets.len();
        while end > 0 {
            let start = end.saturating_sub(RUN);
            let run = &packets[start..end];
            for (at, packet) in (first + start..).zip(run) {
                let mut words = *packet.words();
                words[0] = Packet::INVALID.header_word();
                self.slots[at % SLOTS] = Packet::from_words(words);
            }
            for (at, packet) in (first + start..first + end).zip(run).rev() {
                let header: *mut u32 = (&raw mut self.slots[at % SLOTS]).cast();
                // SAFETY: the first of a packet's words, aligned with it, and borrowed by this call alone.
                unsafe { AtomicU32::from_ptr(header) }.store(packet.header_word(), Ordering::Release);
            }
            end = start;
        }
        self.next = (first + packets.len()) % SLOTS;
        black_box(&mut self.slots);
    }
}

/// A queue of an emulated device of this process whose kernels do nothing (`AQLIPSE_EMULATE_NULL`).
pub struct DeviceRing {
    runtime: Arc<hsa::Runtime>,
    queue: hsa::Queue,
    done: hsa::Signal,
}

impl DeviceRing {
    /// A queue like those of the runtime.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn new() -> Result<Self, hsa::Error> {
        let runtime = hsa::Runtime::new(emulator::api())?;
        let gpu = |agent: &hsa::Agent| agent.kind() == hsa::AgentKind::Gpu;
        let missing = hsa::Error::Call {
            function: "hsa_iterate_agents",
            status: hsa_sys::HSA_STATUS_ERROR_INVALID_AGENT,
        };
        let agent = runtime.agents()?.into_iter().find(gpu).ok_or(missing)?;
        // CAST: a small constant.
        let queue = hsa::Queue::create(&agent, SLOTS as u32, hsa::QueueOptions::default(), Box::new(|_| {}))?;
        let done = hsa::Signal::create(&runtime, 0, &[], hsa::Waiters::HostAndDevice)?;
        Ok(Self { runtime, queue, done })
    }

    /// Packets of a chain of kernels of which the last fires the queue's signal.
    ///
    /// # Errors
    /// None: the packets are whole.
    pub fn chain(&self, nodes: usize) -> Result<Vec<Packet>, hsa::Error> {
        let kernel = KernelDispatch { fences: Fences::AGENT, ..KernelDispatch::new(64) };
        let mut packets = vec![kernel.packet()?; nodes];
        if let Some(last) = packets.last_mut() {
            last.set_completion_signal(self.done.handle());
        }
        Ok(packets)
    }

    /// Copies `packets` into the ring, in runs as [`Ring::copy`] does, and rings the doorbell; returns what that took,
    /// in nanoseconds, when the device has taken them.
    ///
    /// # Panics
    /// If there are more packets than slots.
    pub fn copy(&mut self, packets: &[Packet]) -> f64 {
        assert!(packets.len() <= SLOTS, "more packets than slots");
        // SAFETY: the queue is alive; its base and doorbell do not change.
        let hsa_sys::hsa_queue_t { base_address, doorbell_signal, .. } = unsafe { *self.queue.raw() };
        let api = self.runtime.api();
        let slot = |index: u64| base_address.cast::<u32>().wrapping_add(16 * (index as usize % SLOTS));
        self.done.silent_store(1, Ordering::Relaxed);
        let start = Instant::now();
        let n = packets.len() as u64;
        // SAFETY: the queue is alive, and nobody else submits to it.
        let first = unsafe { (api.hsa_queue_add_write_index_relaxed)(self.queue.raw(), n) };
        let mut end = packets.len();
        while end > 0 {
            let start = end.saturating_sub(RUN);
            for (at, packet) in (start..end).zip(&packets[start..end]) {
                let slot = slot(first + at as u64);
                // SAFETY: a slot of the ring, which is empty: the device has taken all packets before. It reads the
                // header meanwhile, and nothing else.
                unsafe {
                    AtomicU32::from_ptr(slot).store(Packet::INVALID.header_word(), Ordering::Relaxed);
                    slot.add(1).copy_from_nonoverlapping(packet.words().as_ptr().add(1), 15);
                }
            }
            for (n, packet) in packets[start..end].iter().enumerate().rev() {
                // SAFETY: as above.
                let header = unsafe { AtomicU32::from_ptr(slot(first + (start + n) as u64)) };
                header.store(packet.header_word(), Ordering::Release);
            }
            end = start;
        }
        // CAST: indices stay far below 2^63.
        // SAFETY: the doorbell is the queue's.
        unsafe { (api.hsa_signal_store_screlease)(doorbell_signal, (first + n - 1) as i64) };
        let time = nanoseconds(start);
        while self.done.wait(hsa::Condition::Less, 1, None, hsa::WaitState::Blocked) > 0 {}
        time
    }
}

#[cfg(test)]
mod tests {
    use hsa::packet::BarrierAnd;

    use super::*;

    fn packet(value: u64) -> Packet {
        let mut packet = BarrierAnd::default().packet();
        packet.set_completion_signal(hsa_sys::hsa_signal_t { handle: value });
        packet
    }

    #[test]
    fn packets_arrive_whole_and_in_order() {
        let mut ring = Ring::new();
        let packets: Vec<_> = (0..SLOTS as u64 - 10).map(packet).collect();
        ring.copy(&packets);
        ring.copy(&packets[..100]);
        for (at, value) in
            [(0, 10), (89, 99), (90, 90), (SLOTS - 11, SLOTS - 11), (SLOTS - 10, 0), (SLOTS - 1, 9)]
        {
            assert_eq!(ring.slots[at], packet(value as u64));
        }
    }
}
