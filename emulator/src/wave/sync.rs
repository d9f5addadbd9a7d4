//! Global wave sync: barriers and semaphores among the waves of a device (CDNA3 ISA, 11.4 and 12.12,
//! DS_GWS_*).

use parking_lot::{Mutex, MutexGuard};

use crate::isa::Operand;

/// Resources of a device; the six bits that name one wrap.
const RESOURCES: usize = 64;

#[derive(Clone, Copy, Default)]
struct Resource {
    /// Of a barrier: waves that have yet to arrive before the last. Of a semaphore: waves that may pass.
    counter: u32,
    /// Counts the barrier's releases, so that a wave knows its own from the next one's.
    phase: u32,
    /// Waves that wait at the semaphore.
    queued: u32,
}

/// What a wave waits for, kept while it gives way and tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticket {
    /// The barrier's release, seen when the phase is no longer this one.
    Barrier {
        /// Phase at arrival.
        phase: u32,
    },
    /// A semaphore, in whose queue the wave is counted.
    Semaphore,
}

/// What a wave asks about its workgroup's barrier, which the workgroup answers before the wave goes on (RDNA 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether it is the first that signals; it signals with the question.
    IsFirst,
    /// How many waves there are, and how many have signalled: for this register.
    State(Operand),
}

/// The resources of `ds_gws_*`: 64 counters that act as barriers or counting semaphores.
pub struct WaveSync(Mutex<[Resource; RESOURCES]>);

impl Default for WaveSync {
    fn default() -> Self {
        Self(Mutex::new([Resource::default(); RESOURCES]))
    }
}

impl WaveSync {
    fn lock(&self) -> MutexGuard<'_, [Resource; RESOURCES]> {
        self.0.lock()
    }

    /// Sets a resource's counter: for a barrier the number of waves less one.
    pub(super) fn init(&self, resource: u32, counter: u32) {
        let next = Resource { counter, ..Resource::default() };
        let mut all = self.lock();
        let place = &mut all[resource as usize % RESOURCES];
        // The phase goes on: waves of an abandoned barrier must not take the new one's phase for theirs.
        *place = Resource { phase: place.phase.wrapping_add(1), ..next };
    }

    /// Arrives at a barrier, or asks again with the ticket of the arrival; `None` lets the wave pass. The
    /// wave that completes the barrier sets the counter for the next use to `next`, the number of waves less
    /// one.
    pub(super) fn barrier(&self, resource: u32, next: u32, ticket: Option<Ticket>) -> Option<Ticket> {
        let mut all = self.lock();
        let resource = &mut all[resource as usize % RESOURCES];
        if let Some(Ticket::Barrier { phase }) = ticket {
            return ticket.filter(|_| resource.phase == phase);
        }
        if resource.counter == 0 {
            resource.counter = next;
            resource.phase = resource.phase.wrapping_add(1);
            return None;
        }
        resource.counter -= 1;
        Some(Ticket::Barrier { phase: resource.phase })
    }

    /// Takes one from a semaphore's counter and lets the wave pass, or makes it wait.
    pub(super) fn acquire(&self, resource: u32, ticket: Option<Ticket>) -> Option<Ticket> {
        let mut all = self.lock();
        let resource = &mut all[resource as usize % RESOURCES];
        let queued = ticket == Some(Ticket::Semaphore);
        if resource.counter == 0 {
            resource.queued += u32::from(!queued);
            return Some(Ticket::Semaphore);
        }
        resource.counter -= 1;
        resource.queued = resource.queued.saturating_sub(u32::from(queued));
        None
    }

    /// Lets `count` waves pass a semaphore, now or as they come.
    pub(super) fn release(&self, resource: u32, count: u32) {
        let mut all = self.lock();
        let resource = &mut all[resource as usize % RESOURCES];
        resource.counter = resource.counter.saturating_add(count);
    }

    /// Lets those pass that wait at a semaphore now.
    pub(super) fn release_queued(&self, resource: u32) {
        let mut all = self.lock();
        let resource = &mut all[resource as usize % RESOURCES];
        resource.counter = resource.counter.max(resource.queued);
    }
}
