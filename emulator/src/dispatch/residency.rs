//! How many waves a device holds at once, and on which compute units.

use std::sync::atomic::{AtomicU32, Ordering};

/// Waves of the largest workgroup, of 32 lanes, for which every compute unit has room.
const LARGEST: u32 = super::MAX_WORKGROUP / 32;

/// The places of one unit that are taken. In a cache line of its own: threads take places of different units.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Unit(AtomicU32);

/// The places for waves on the compute units of one device, which all its dispatches share.
///
/// Device code relies on the bound: the hostcall buffer has a packet for every wave that can be resident, and a
/// cooperative launch is accepted if all its workgroups can be.
#[derive(Debug)]
pub struct Residency {
    /// Places of each unit.
    places: u32,
    units: Box<[Unit]>,
}

impl Residency {
    /// Room for `waves_per_unit` waves on each of `compute_units` units, at least one.
    pub fn new(compute_units: u32, waves_per_unit: u32) -> Self {
        let units = (0..compute_units.max(1)).map(|_| Unit::default()).collect();
        Self { places: waves_per_unit.max(LARGEST), units }
    }

    /// Takes `waves` places on one of `units`, the first that has them from the `first`th on; returns the unit.
    pub(super) fn take(&self, units: &[u32], waves: u32, first: usize) -> Option<u32> {
        let fits = |taken: u32| taken.checked_add(waves).filter(|all| *all <= self.places);
        let (before, from) = units.split_at(first % units.len().max(1));
        from.iter().chain(before).copied().find(|unit| {
            self.units.get(*unit as usize).is_some_and(|unit| {
                // ORDER: Relaxed. Places owe each other no order; workgroups do not communicate through them.
                unit.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
            })
        })
    }

    /// Gives `waves` places of a unit back.
    pub(super) fn give(&self, unit: u32, waves: u32) {
        if let Some(unit) = self.units.get(unit as usize) {
            unit.0.fetch_sub(waves, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_whole_and_come_back() {
        let residency = Residency::new(1, 32);
        let take = |waves| residency.take(&[0], waves, 0);
        assert_eq!([take(20), take(13), take(12), take(1)], [Some(0), None, Some(0), None]);
        residency.give(0, 12);
        assert_eq!(take(12), Some(0));
    }

    #[test]
    fn a_workgroup_has_its_places_on_one_of_the_units_that_it_may_run_on() {
        let residency = Residency::new(4, 32);
        let take = |units: &[u32], first| residency.take(units, 20, first);
        assert_eq!([take(&[1, 3], 1), take(&[1, 3], 3), take(&[1, 3], 1)], [Some(3), Some(1), None]);
        assert_eq!([take(&[0, 1, 2, 3], 1), take(&[0, 1, 2, 3], 1)], [Some(2), Some(0)]);
        assert_eq!(take(&[], 0), None);
    }

    #[test]
    fn the_largest_workgroup_always_fits() {
        assert_eq!(Residency::new(1, 1).take(&[0], 32, 0), Some(0));
    }
}
