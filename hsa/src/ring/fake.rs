//! A queue in plain memory with a packet processor that a test steps.
//!
//! Every word is an atomic, bodies relaxed, so that a lost ordering shows as a stale value, under loom in
//! each interleaving that allows it.
//!
//! A queue may be weakly ordered, as device memory is to the host: what a thread stores stays in its buffer, word for
//! word, until it drains that, and is stored relaxed then. No later store of the thread, whatever its own ordering, waits
//! for it. A word that is stored again meanwhile takes the place of the former value, before the words that were stored
//! in between. A full buffer gives up any of its words.

use std::collections::HashMap;

use fastrand::Rng;
use parking_lot::Mutex;

use super::Port;
use crate::packet::{Header, Kind, Packet};
use crate::sync::{AtomicU64, Ordering, ThreadId, fence, this_thread};

/// Double words of a body that the fake keeps; loom explores fewer.
#[cfg(loom)]
const BODY: usize = 1;
#[cfg(not(loom))]
const BODY: usize = 7;

/// Words that a buffer holds; under loom as many as there are, which is what delays most.
const BUFFERED: usize = if cfg!(loom) { usize::MAX } else { 12 };

/// How stores to a ring become visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stores {
    /// As their own ordering says.
    Ordered,
    /// In any order, before the next drain at the latest.
    Weak,
}

/// What a thread has stored and no other thread sees yet: slot, word (0 is the header), value.
struct Buffer {
    words: Vec<(usize, usize, u64)>,
    random: Rng,
}

impl Default for Buffer {
    fn default() -> Self {
        Self { words: Vec::new(), random: Rng::with_seed(0) }
    }
}

impl Buffer {
    /// Takes a word in; returns one that has to go.
    fn hold(&mut self, slot: usize, word: usize, value: u64) -> Option<(usize, usize, u64)> {
        if let Some(held) = self.words.iter_mut().find(|held| (held.0, held.1) == (slot, word)) {
            held.2 = value;
            return None;
        }
        self.words.push((slot, word, value));
        if self.words.len() <= BUFFERED {
            return None;
        }
        let at = self.random.usize(..self.words.len());
        Some(self.words.remove(at))
    }
}

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
    /// Drains so far; nothing is ordered by it.
    pub(crate) drains: std::sync::atomic::AtomicU64,
    stores: Stores,
    /// Never held while an atomic is touched: loom would switch threads there.
    buffers: Mutex<HashMap<ThreadId, Buffer>>,
}

impl FakeQueue {
    pub(crate) fn new(size: u32, stores: Stores) -> Self {
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
            drains: std::sync::atomic::AtomicU64::new(0),
            stores,
            buffers: Mutex::default(),
        }
    }

    fn with_buffer<T>(&self, act: impl FnOnce(&mut Buffer) -> T) -> T {
        act(self.buffers.lock().entry(this_thread()).or_default())
    }

    /// Stores a word of the slot of `index`, the header by the ordering given.
    fn store(&self, index: u64, word: usize, value: u64, ordering: Ordering) {
        let slot = (index % self.slots.len() as u64) as usize;
        match self.stores {
            Stores::Ordered => self.reveal(slot, word, value, ordering),
            Stores::Weak => {
                if let Some((slot, word, value)) = self.with_buffer(|buffer| buffer.hold(slot, word, value)) {
                    self.reveal(slot, word, value, Ordering::Relaxed);
                }
            }
        }
    }

    fn reveal(&self, slot: usize, word: usize, value: u64, ordering: Ordering) {
        let slot = &self.slots[slot];
        match word {
            0 => slot.header.store(value, ordering),
            word => slot.body[word - 1].store(value, ordering),
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
        self.store(index, 0, u64::from(Packet::INVALID.header_word()), Ordering::Relaxed);
        for (double, pair) in packet.words().chunks_exact(2).enumerate().skip(1).take(BODY) {
            self.store(index, double, u64::from(pair[0]) | u64::from(pair[1]) << 32, Ordering::Relaxed);
        }
    }

    unsafe fn write_double(&self, index: u64, double: usize, value: u64) {
        assert_eq!(self.stores, Stores::Ordered, "a slot is stored once");
        if double <= BODY {
            self.store(index, double, value, Ordering::Relaxed);
        }
    }

    unsafe fn store_header(&self, index: u64, word: u32) {
        self.store(index, 0, u64::from(word), Ordering::Release);
    }

    fn is_weakly_ordered(&self) -> bool {
        self.stores == Stores::Weak
    }

    fn drain(&self) {
        self.drains.fetch_add(1, Ordering::Relaxed);
        if self.stores == Stores::Weak {
            for (slot, word, value) in self.with_buffer(|buffer| std::mem::take(&mut buffer.words)) {
                self.reveal(slot, word, value, Ordering::Relaxed);
            }
            fence(Ordering::Release);
        }
    }

    fn ring_doorbell(&self, last: u64) {
        // ORDER: release, as hsa_signal_store_screlease.
        let before = self.doorbell.swap(last, Ordering::Release);
        assert!(before == NEVER || before < last, "the doorbell went from {before} to {last}");
        self.rings.fetch_add(1, Ordering::Relaxed);
    }
}
