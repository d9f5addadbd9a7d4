//! Host memory that is shown to devices, by ranges that may overlap and repeat.

use std::{collections::BTreeMap, sync::Arc};

use super::{GpuSet, Known, Pool};
use crate::{
    device::Device,
    memory::{Allocation, Grain},
};

/// One call of `hsa_amd_memory_lock`.
struct Lock {
    end: u64,
    access: GpuSet,
    pool: Pool,
    user_data: u64,
    /// False where the range is pool memory, which the heap shows itself.
    shown: bool,
}

/// All locks, and per device the union of them as it stands in the device's map.
///
/// The union is kept, not the single ranges, so that a map never holds overlapping allocations and a
/// store across the seam of two adjoining locks finds one allocation.
pub(super) struct Locked {
    devices: Arc<[Arc<Device>]>,
    locks: BTreeMap<u64, Vec<Lock>>,
    /// Longest range ever locked: how far below an address a range that holds it can begin.
    longest: u64,
    shown: Vec<BTreeMap<u64, u64>>,
}

impl Locked {
    pub(super) fn new(devices: Arc<[Arc<Device>]>) -> Self {
        let shown = devices.iter().map(|_| BTreeMap::new()).collect();
        Self { devices, locks: BTreeMap::new(), longest: 0, shown }
    }

    pub(super) fn lock(&mut self, start: u64, end: u64, access: GpuSet, pool: Pool, shown: bool) {
        self.longest = self.longest.max(end - start);
        self.locks.entry(start).or_default().push(Lock { end, access, pool, user_data: 0, shown });
        if shown {
            self.refresh(start, end, access);
        }
    }

    /// Undoes the last lock that began at `start`; says how many bytes of the program's own it had.
    pub(super) fn unlock(&mut self, start: u64) -> Option<u64> {
        let locks = self.locks.get_mut(&start)?;
        let lock = locks.pop()?;
        if locks.is_empty() {
            self.locks.remove(&start);
        }
        if !lock.shown {
            return Some(0);
        }
        self.refresh(start, lock.end, lock.access);
        Some(lock.end - start)
    }

    pub(super) fn set_access(&mut self, address: u64, access: GpuSet) -> Option<()> {
        let lock = self.holding_mut(address)?;
        let before = std::mem::replace(&mut lock.1.access, access);
        let (start, end, shown) = (lock.0, lock.1.end, lock.1.shown);
        if shown {
            self.refresh(start, end, access | before);
        }
        Some(())
    }

    pub(super) fn set_user_data(&mut self, address: u64, user_data: u64) -> Option<()> {
        self.holding_mut(address)?.1.user_data = user_data;
        Some(())
    }

    pub(super) fn find(&self, address: u64) -> Option<Known> {
        let lowest = address.saturating_sub(self.longest);
        self.locks.range(lowest..=address).rev().find_map(|(base, locks)| {
            let lock = locks.iter().rev().find(|lock| address < lock.end)?;
            Some(Known {
                base: *base,
                size: lock.end - base,
                pool: lock.pool,
                access: lock.access,
                open: true,
                user_data: lock.user_data,
                locked: true,
                attached: false,
            })
        })
    }

    fn holding_mut(&mut self, address: u64) -> Option<(u64, &mut Lock)> {
        let lowest = address.saturating_sub(self.longest);
        self.locks.range_mut(lowest..=address).rev().find_map(|(base, locks)| {
            let lock = locks.iter_mut().rev().find(|lock| address < lock.end)?;
            Some((*base, lock))
        })
    }

    /// Makes the maps of `gpus` agree with the locks in and around `start..end`.
    fn refresh(&mut self, start: u64, end: u64, gpus: GpuSet) {
        for device in self.devices.iter().filter(|d| gpus & (1 << d.index) != 0) {
            let shown = &mut self.shown[device.index as usize];
            // What touches the range now, which is all that can change.
            let touching: Vec<(u64, u64)> =
                shown.range(..=end).rev().take_while(|(_, e)| **e >= start).map(|(s, e)| (*s, *e)).collect();
            let (mut low, mut high) = (start, end);
            for (s, e) in touching {
                (low, high) = (low.min(s), high.max(e));
                shown.remove(&s);
                device.map.remove(s);
            }
            let mut union: Option<(u64, u64)> = None;
            let mut whole = Vec::new();
            for (s, locks) in self.locks.range(low..high) {
                for lock in locks.iter().filter(|l| l.shown && l.access & (1 << device.index) != 0) {
                    union = match union {
                        Some((us, ue)) if *s <= ue => Some((us, ue.max(lock.end))),
                        Some(done) => {
                            whole.push(done);
                            Some((*s, lock.end))
                        }
                        None => Some((*s, lock.end)),
                    };
                }
            }
            whole.extend(union);
            for (s, e) in whole {
                shown.insert(s, e);
                // Where the program's own pages lie is its own choice: they count as near.
                let socket = Some(device.hardware.socket_of(device.index));
                let grain = Grain::Fine;
                device.show(Allocation { start: s, end: e, writable: true, grain, socket, backing: None });
            }
        }
    }
}
