//! Global wave sync: the counters that waves of different workgroups wait at (MI200 ISA, 12.12, DS_GWS_*).

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Resources of a device.
const RESOURCES: usize = 64;

/// One resource: a barrier or a semaphore, by how it is used.
#[derive(Clone, Copy, Default)]
struct Resource {
    /// Arrivals that a barrier still needs before the last, or units that a semaphore has.
    counter: u32,
    /// Counts releases: who arrived in an earlier round may go.
    round: u64,
}

/// The resources of one device.
pub struct Gws([Mutex<Resource>; RESOURCES]);

impl Default for Gws {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

/// What a wave is told that arrives, or asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It may go on.
    Released,
    /// It waits for the end of this round.
    Waits(u64),
}

impl Gws {
    fn resource(&self, id: u32) -> MutexGuard<'_, Resource> {
        self.0[id as usize % RESOURCES].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the counter.
    pub(crate) fn init(&self, id: u32, value: u32) {
        self.resource(id).counter = value;
    }

    /// Arrives at a barrier for `value + 1` waves; `since` is the round in which the wave arrived, if it has.
    pub(crate) fn barrier(&self, id: u32, value: u32, since: Option<u64>) -> Arrival {
        let mut resource = self.resource(id);
        match since {
            Some(round) if round != resource.round => Arrival::Released,
            Some(round) => Arrival::Waits(round),
            None if resource.counter == 0 => {
                resource.counter = value;
                resource.round += 1;
                Arrival::Released
            }
            None => {
                resource.counter -= 1;
                Arrival::Waits(resource.round)
            }
        }
    }

    /// Adds units to a semaphore.
    pub(crate) fn raise(&self, id: u32, units: u32) {
        let mut resource = self.resource(id);
        resource.counter = resource.counter.saturating_add(units);
    }

    /// Takes a unit of a semaphore, or waits for one; `since` as for [`Gws::barrier`].
    pub(crate) fn lower(&self, id: u32, since: Option<u64>) -> Arrival {
        let mut resource = self.resource(id);
        match since {
            Some(round) if round != resource.round => Arrival::Released,
            _ if resource.counter > 0 => {
                resource.counter -= 1;
                Arrival::Released
            }
            _ => Arrival::Waits(resource.round),
        }
    }

    /// Lets all go that wait at a semaphore.
    pub(crate) fn release_all(&self, id: u32) {
        self.resource(id).round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_barrier_releases_all_and_sets_it_up_again() {
        let gws = Gws::default();
        gws.init(3, 2);
        for _ in 0..3 {
            let Arrival::Waits(first) = gws.barrier(3, 2, None) else { panic!("two are missing") };
            let Arrival::Waits(second) = gws.barrier(3, 2, None) else { panic!("one is missing") };
            assert_eq!(gws.barrier(3, 2, Some(first)), Arrival::Waits(first));
            assert_eq!(gws.barrier(3, 2, None), Arrival::Released);
            assert_eq!(gws.barrier(3, 2, Some(first)), Arrival::Released);
            assert_eq!(gws.barrier(3, 2, Some(second)), Arrival::Released);
        }
        assert_eq!(gws.barrier(4, 0, None), Arrival::Released, "another resource");
    }

    #[test]
    fn a_semaphore_lets_as_many_pass_as_it_has_units() {
        let gws = Gws::default();
        gws.init(0, 1);
        assert_eq!(gws.lower(0, None), Arrival::Released);
        let Arrival::Waits(round) = gws.lower(0, None) else { panic!("no unit is left") };
        gws.raise(0, 1);
        assert_eq!(gws.lower(0, Some(round)), Arrival::Released);
        assert_eq!(gws.lower(0, None), Arrival::Waits(round));
        gws.release_all(0);
        assert_eq!(gws.lower(0, Some(round)), Arrival::Released);
    }
}
