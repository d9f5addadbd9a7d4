//! What the launches of graphs hold of a device's memory.
//!
//! A block counts from the first launch that uses it, and stays counted between launches, for the next one will use it
//! again: until the device is trimmed, or no executable graph has the block any more and what a launch left allocated
//! in it is freed (docs/adr/0021).

#![forbid(unsafe_code)]

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{lease::Leased, meter::Meter};
use crate::device::Device;

/// The graph memory of one device.
#[derive(Default)]
pub(crate) struct Footprint {
    meters: Mutex<Meters>,
    leases: Mutex<Vec<Weak<Leased>>>,
}

/// What the device is asked for. Blocks are memory of their own, used by one executable at a time: as many bytes are
/// reserved as are used.
#[derive(Clone, Copy, Default)]
struct Meters {
    used: Meter,
    reserved: Meter,
}

impl Footprint {
    pub(super) fn add(&self, bytes: u64) {
        self.with(|meters| {
            meters.used.add(bytes);
            meters.reserved.add(bytes);
        });
    }

    pub(super) fn sub(&self, bytes: u64) {
        self.with(|meters| {
            meters.used.sub(bytes);
            meters.reserved.sub(bytes);
        });
    }

    pub(super) fn register(&self, lease: &Arc<Leased>) {
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.retain(|lease| lease.strong_count() > 0);
        leases.push(Arc::downgrade(lease));
    }

    fn trim(&self) {
        let leases: Vec<Arc<Leased>> = {
            let leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
            leases.iter().filter_map(Weak::upgrade).collect()
        };
        let (busy, idle): (Vec<_>, Vec<_>) = leases.iter().partition(|lease| lease.is_in_flight());
        let busy: HashSet<u64> = busy.iter().flat_map(|lease| lease.blocks()).map(|b| b.address()).collect();
        for block in idle.iter().flat_map(|lease| lease.blocks()) {
            if !busy.contains(&block.address()) {
                block.discount_unless_live();
            }
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Meters) -> T) -> T {
        work(&mut self.meters.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Device {
    /// Bytes of the device's memory that launches of graphs use, or have used and will use again.
    pub fn graph_memory_used(&self) -> Meter {
        self.0.graph_memory.with(|meters| meters.used)
    }

    /// Bytes of the device's memory that are set aside for launches of graphs.
    pub fn graph_memory_reserved(&self) -> Meter {
        self.0.graph_memory.with(|meters| meters.reserved)
    }

    /// Starts the high mark of [`Device::graph_memory_used`] anew.
    pub fn reset_graph_memory_used_high(&self) {
        self.0.graph_memory.with(|meters| meters.used.reset_high());
    }

    /// Starts the high mark of [`Device::graph_memory_reserved`] anew.
    pub fn reset_graph_memory_reserved_high(&self) {
        self.0.graph_memory.with(|meters| meters.reserved.reset_high());
    }

    /// Lets go of the memory that no launch in flight uses and none has left allocated, until the next launch.
    pub fn trim_graph_memory(&self) {
        self.0.graph_memory.trim();
    }
}
