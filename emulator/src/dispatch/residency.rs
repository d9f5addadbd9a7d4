//! How many waves a device holds at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// Waves of the largest workgroup, for which every device has room.
const LARGEST: u64 = super::MAX_WORKGROUP as u64 / 64;

/// The places for waves on one device, which all its dispatches share.
///
/// Device code relies on the bound: the hostcall buffer has a packet for every wave that can be resident, and a
/// cooperative launch is accepted if all its workgroups can be.
#[derive(Debug)]
pub struct Residency {
    places: u64,
    taken: AtomicU64,
}

impl Residency {
    /// Room for the waves of `compute_units` units.
    pub fn new(compute_units: u32, waves_per_unit: u32) -> Self {
        let places = u64::from(compute_units) * u64::from(waves_per_unit);
        Self { places: places.max(LARGEST), taken: AtomicU64::new(0) }
    }

    /// Takes `waves` places, or none.
    pub(super) fn take(&self, waves: u64) -> bool {
        let fits = |taken: u64| taken.checked_add(waves).filter(|all| *all <= self.places);
        // ORDER: Relaxed. Places owe each other no order; workgroups do not communicate through them.
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Gives `waves` places back.
    pub(super) fn give(&self, waves: u64) {
        self.taken.fetch_sub(waves, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_whole_and_come_back() {
        let residency = Residency::new(1, 32);
        assert!(residency.take(20) && !residency.take(13) && residency.take(12) && !residency.take(1));
        residency.give(12);
        assert!(residency.take(12));
    }

    #[test]
    fn the_largest_workgroup_always_fits() {
        assert!(Residency::new(1, 1).take(16));
    }
}
