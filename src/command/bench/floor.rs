//! The floor under every launch: the bytes of its packets copied to where a ring would be, and nothing else.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering},
};

use hsa::packet::Packet;

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
