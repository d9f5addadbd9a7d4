//! What the launches of graphs hold of a device's memory.
//!
//! Memory counts from the first launch that uses it, and stays counted between launches, for the next one will use it
//! again: until the device is trimmed, or no executable graph has it any more and what a launch left allocated in it is
//! freed (docs/adr/0021). What executables take turns with counts once ([`arena`](super::arena)). For what is in
//! use alone, the rest is [discounted](Device::discount_idle_graph_memory) before.

#![forbid(unsafe_code)]

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::{arena::Arenas, exec_memory::BoundMemory, graph_memory::Block, mapping::MappingCalls};
use crate::{device::Device, memory::meter::Meter};

/// The graph memory of one device.
#[derive(Default)]
pub(crate) struct Footprint {
    meters: Mutex<Meters>,
    bound: Mutex<Vec<Weak<BoundMemory>>>,
    arenas: Arenas,
}

/// What the device is asked for.
#[derive(Clone, Copy, Default)]
struct Meters {
    used: Meter,
    reserved: Meter,
}

impl Footprint {
    /// Counts some memory's bytes, used and reserved, as they are `now` instead of as `before`.
    pub(super) fn change(&self, before: (u64, u64), now: (u64, u64)) {
        self.with(|meters| {
            meters.used.change(before.0, now.0);
            meters.reserved.change(before.1, now.1);
        });
    }

    pub(super) fn arenas(&self) -> &Arenas {
        &self.arenas
    }

    pub(super) fn register(&self, memory: &Arc<BoundMemory>) {
        let mut bound = self.bound.lock();
        bound.retain(|memory| memory.strong_count() > 0);
        bound.push(Arc::downgrade(memory));
    }

    fn trim(&self, device: &Device) {
        self.arenas.trim(device);
        self.with_idle(device, BoundMemory::trim);
    }

    /// Takes what is idle out of the count.
    fn discount(&self, device: &Device) {
        self.arenas.discount(device);
        self.with_idle(device, BoundMemory::discount);
    }

    /// Does `work` with the memory of each executable of which no launch is in flight, and with what tells blocks that
    /// another one of which a launch is uses.
    fn with_idle(&self, device: &Device, work: impl Fn(&BoundMemory, &dyn Fn(&Block) -> bool)) {
        let bound: Vec<Arc<BoundMemory>> = {
            let bound = self.bound.lock();
            bound.iter().filter_map(Weak::upgrade).collect()
        };
        let (busy, idle): (Vec<_>, Vec<_>) = bound.iter().partition(|memory| memory.is_in_flight());
        let busy: HashSet<u64> =
            busy.iter().flat_map(|memory| memory.blocks()).map(|b| b.address()).collect();
        for memory in idle.iter().filter(|memory| memory.is_on(device)) {
            work(memory, &|block| busy.contains(&block.address()));
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Meters) -> T) -> T {
        work(&mut self.meters.lock())
    }
}

impl Device {
    /// Bytes of the device's memory that launches of graphs use, or have used and will use again.
    pub fn graph_memory_used(&self) -> Meter {
        self.context().graph_memory.with(|meters| meters.used)
    }

    /// Bytes of the device's memory that are set aside for launches of graphs.
    pub fn graph_memory_reserved(&self) -> Meter {
        self.context().graph_memory.with(|meters| meters.reserved)
    }

    /// What graphs have asked the HSA runtime for so far to have memory of the device mapped.
    pub fn graph_memory_calls(&self) -> MappingCalls {
        self.context().graph_memory.arenas().calls.get()
    }

    /// Counts memory no more that no launch in flight uses and none has left allocated, until the next launch that uses it.
    /// It stays where it is.
    pub fn discount_idle_graph_memory(&self) {
        self.context().graph_memory.discount(self);
    }

    /// Starts the high mark of [`Device::graph_memory_used`] anew.
    pub fn reset_graph_memory_used_high(&self) {
        self.context().graph_memory.with(|meters| meters.used.reset_high());
    }

    /// Starts the high mark of [`Device::graph_memory_reserved`] anew.
    pub fn reset_graph_memory_reserved_high(&self) {
        self.context().graph_memory.with(|meters| meters.reserved.reset_high());
    }

    /// Lets go of the memory that no launch in flight uses and none has left allocated, until the next launch, which is
    /// refused if there is no memory then. Where graphs do not [share memory](Device::shares_graph_memory) it only counts
    /// no more.
    pub fn trim_graph_memory(&self) {
        self.context().graph_memory.trim(self);
    }

    /// Whether memory of graphs is mapped: it exists from instantiation on, allocations have it in turns if their
    /// lifetimes are ordered, graphs if their launches are, and a trim gives it back. Otherwise, where the HSA runtime
    /// has no virtual memory functions, it exists from when its node is made, and only nodes of one graph have it in
    /// turns, of which the later ask for no more than the earlier did.
    pub fn shares_graph_memory(&self) -> bool {
        self.context().graph_memory.arenas().mapping(self).is_some()
    }
}
