//! A queue in plain memory with a packet processor that a test steps.
//!
//! Every word is an atomic, bodies relaxed, so that a lost ordering shows as a stale value, under loom in
//! each interleaving that allows it.

use super::Port;
use crate::packet::{Header, Kind, Packet};
use crate::sync::{AtomicU64, Ordering};

/// Double words of a body that the fake keeps; loom explores fewer.
#[cfg(loom)]
const BODY: usize = 1;
#[cfg(not(loom))]
const BODY: usize = 7;

/// What the doorbell reads before it is first rung.
const NEVER: u64 = u64::MAX;

struct Slot {
    header: AtomicU64,
    body: [AtomicU64; BODY],
}

pub(crate) struct FakeQueue {
    slots: Vec<Slot>,
    write: AtomicU64,
    read: AtomicU64,
    doorbell: AtomicU64,
    pub(crate) rings: AtomicU64,
}

impl FakeQueue {
    pub(crate) fn new(size: u32) -> Self {
        let slot = || Slot {
            header: AtomicU64::new(u64::from(Packet::INVALID.header_word())),
            body: std::array::from_fn(|_| AtomicU64::new(0)),
        };
        Self {
            slots: (0..size).map(|_| slot()).collect(),
            write: AtomicU64::new(0),
            read: AtomicU64::new(0),
            doorbell: AtomicU64::new(NEVER),
            rings: AtomicU64::new(0),
        }
    }

    fn slot(&self, index: u64) -> &Slot {
        &self.slots[(index % self.slots.len() as u64) as usize]
    }

    /// Index of the last packet that was announced.
    pub(crate) fn doorbell(&self) -> Option<u64> {
        let last = self.doorbell.load(Ordering::Acquire);
        (last != NEVER).then_some(last)
    }

    /// Retires the next packet if the doorbell covers it, and returns its first body double word and header.
    ///
    /// # Panics
    /// If the doorbell covers a slot that is not valid, or the body is torn.
    pub(crate) fn step(&self) -> Option<(u64, Header)> {
        let index = self.read.load(Ordering::Relaxed);
        if self.doorbell().is_none_or(|last| last < index) {
            return None;
        }
        let packet = self.poll();
        assert!(packet.is_some(), "the doorbell covers packet {index}, which is not valid");
        packet
    }

    /// Retires the next packet if its header is valid, as a packet processor does that looks ahead of the
    /// doorbell.
    ///
    /// # Panics
    /// If the body is torn.
    pub(crate) fn poll(&self) -> Option<(u64, Header)> {
        let index = self.read.load(Ordering::Relaxed);
        let slot = self.slot(index);
        let word = slot.header.load(Ordering::Acquire);
        let header = Header::decode(word as u16).expect("a header is whole");
        if header.kind == Kind::Invalid {
            return None;
        }
        let body: Vec<_> = slot.body.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert!(body.iter().all(|word| *word == body[0]), "packet {index} is torn: {body:x?}");
        slot.header.store(u64::from(Packet::INVALID.header_word()), Ordering::Relaxed);
        // ORDER: release. The producer that reuses the slot has loaded this index with acquire.
        self.read.store(index + 1, Ordering::Release);
        Some((body[0], header))
    }
}

/// A packet whose seven body double words all carry `payload`.
pub(crate) fn packet(payload: u64) -> Packet {
    let mut words = [0; 16];
    for pair in words.chunks_exact_mut(2) {
        pair[0] = payload as u32;
        pair[1] = (payload >> 32) as u32;
    }
    words[..2].copy_from_slice(&[Packet::NO_OPERATION.header_word(), 0]);
    Packet::from_words(words)
}

impl Port for FakeQueue {
    fn size(&self) -> u32 {
        self.slots.len() as u32
    }

    fn read_index(&self) -> u64 {
        self.read.load(Ordering::Acquire)
    }

    fn write_index(&self) -> u64 {
        self.write.load(Ordering::Relaxed)
    }

    fn exchange_write_index(&self, expected: u64, new: u64) -> u64 {
        self.write
            .compare_exchange(expected, new, Ordering::Relaxed, Ordering::Relaxed)
            .unwrap_or_else(|seen| seen)
    }

    unsafe fn write_body(&self, index: u64, packet: &Packet) {
        let slot = self.slot(index);
        slot.header.store(u64::from(Packet::INVALID.header_word()), Ordering::Relaxed);
        for (word, pair) in slot.body.iter().zip(packet.words().chunks_exact(2).skip(1)) {
            word.store(u64::from(pair[0]) | u64::from(pair[1]) << 32, Ordering::Relaxed);
        }
    }

    unsafe fn write_double(&self, index: u64, double: usize, value: u64) {
        if let Some(word) = self.slot(index).body.get(double - 1) {
            word.store(value, Ordering::Relaxed);
        }
    }

    unsafe fn store_header(&self, index: u64, word: u32) {
        self.slot(index).header.store(u64::from(word), Ordering::Release);
    }

    fn ring_doorbell(&self, last: u64) {
        // ORDER: release, as hsa_signal_store_screlease.
        let before = self.doorbell.swap(last, Ordering::Release);
        assert!(before == NEVER || before < last, "the doorbell went from {before} to {last}");
        self.rings.fetch_add(1, Ordering::Relaxed);
    }
}
