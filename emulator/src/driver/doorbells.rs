//! The doorbells of a driver's queues: 64-bit words in a mapping of their own, and behind them the pointers into the
//! rings of copy engines.

use std::{io, sync::Arc};

use crate::{
    memory::{Allocation, Grain},
    os::{Mapping, PAGE},
};

/// Queues that a driver may have at once.
pub(super) const CAPACITY: usize = 4 * PAGE / size_of::<u64>();

/// Words of a queue: its doorbell, and a read and a write pointer.
const WORDS: usize = 3;

/// The words of all queues.
pub(super) struct Doorbells(Arc<Mapping>);

impl Doorbells {
    /// Maps them all.
    pub(super) fn map() -> io::Result<Self> {
        Mapping::anonymous(WORDS * CAPACITY * size_of::<u64>()).map(|mapping| Self(Arc::new(mapping)))
    }

    /// Address of the doorbell at `slot`, below [`CAPACITY`].
    pub(super) fn address(&self, slot: usize) -> u64 {
        self.0.address() + (slot * size_of::<u64>()) as u64
    }

    /// Addresses of the read and the write pointer at `slot`, below [`CAPACITY`].
    pub(super) fn pointers(&self, slot: usize) -> [u64; 2] {
        [1, 2].map(|word| self.address(word * CAPACITY + slot))
    }

    /// All of them, for the map of a device.
    pub(super) fn allocation(&self) -> Allocation {
        let (start, backing) = (self.0.address(), Arc::clone(&self.0) as _);
        let (end, grain) = (start + self.0.size() as u64, Grain::Fine);
        Allocation { start, end, writable: true, grain, socket: None, backing: Some(backing) }
    }

    /// What keeps the words mapped.
    pub(super) fn mapping(&self) -> &Arc<Mapping> {
        &self.0
    }
}
