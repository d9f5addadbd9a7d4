//! Sleeping until events are set.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use super::{Events, Outcome, Wait};
use crate::{
    abi::{HSA_EVENTTIMEOUT_INFINITE, HSAKMT_STATUS_WAIT_FAILURE, HSAKMT_STATUS_WAIT_TIMEOUT},
    entry::Result,
};

/// The end of a wait that lasts so many milliseconds from now; `None` if it lasts for ever.
fn deadline(milliseconds: u32) -> Option<Instant> {
    let limit = Duration::from_millis(milliseconds.into());
    (milliseconds != HSA_EVENTTIMEOUT_INFINITE).then(|| Instant::now() + limit)
}

impl Events {
    /// Sleeps until one of the events, or `all` of them, have been set. `ages`, where given, are the ages that the
    /// caller has seen: an event that is older counts as set, and the ages are brought up to date.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, `WAIT_TIMEOUT`, and `WAIT_FAILURE` if an event was destroyed meanwhile.
    pub fn wait(&self, handles: &[u64], all: bool, milliseconds: u32, ages: Option<&mut [u64]>) -> Result {
        let end = deadline(milliseconds);
        let wait = Arc::new(Wait { woken: Condvar::new(), state: Mutex::default() });
        let ids = self.enlist(&wait, handles, ages.as_deref())?;

        let mut outcome = wait.state.lock();
        let done = loop {
            if outcome.destroyed {
                break Err(HSAKMT_STATUS_WAIT_FAILURE);
            }
            let wanted = if all { distinct(&ids) } else { 1 };
            if outcome.set.len() >= wanted {
                break Ok(());
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            match left {
                Some(Duration::ZERO) => break Err(HSAKMT_STATUS_WAIT_TIMEOUT),
                Some(left) => drop(wait.woken.wait_for(&mut outcome, left)),
                None => wait.woken.wait(&mut outcome),
            }
        };
        // The table is locked before a wait's state, here as everywhere.
        drop(outcome);
        self.leave(&wait, handles, &ids, done.is_ok(), ages);
        done
    }

    /// Adds a wait to its events; those that are set already activate it at once.
    fn enlist(&self, wait: &Arc<Wait>, handles: &[u64], ages: Option<&[u64]>) -> Result<Vec<u32>> {
        let mut table = self.table.lock();
        let ids = handles.iter().map(|handle| table.id(*handle)).collect::<Result<Vec<_>>>()?;
        let mut outcome = Outcome::default();
        let this = thread::current().id();
        for (index, id) in ids.iter().enumerate() {
            let Some(event) = table.events.get_mut(id) else { continue };
            let missed =
                ages.and_then(|ages| ages.get(index)).is_some_and(|age| *age != 0 && *age != event.age);
            let taken_by_another = event.taken_by.take_if(|other| *other != this).is_some();
            if (event.signaled || missed || taken_by_another) && !outcome.set.contains(id) {
                outcome.set.push(*id);
            }
            if event.signaled && !event.manual {
                event.signaled = false;
                event.taken_by = Some(this);
            }
            event.waits.push(Arc::clone(wait));
        }
        *wait.state.lock() = outcome;
        Ok(ids)
    }

    /// Takes a wait off its events, gives back what it did not use, and fills in what the events carry.
    fn leave(&self, wait: &Arc<Wait>, handles: &[u64], ids: &[u32], took: bool, ages: Option<&mut [u64]>) {
        let mut table = self.table.lock();
        let set = std::mem::take(&mut wait.state.lock().set);
        for (handle, id) in handles.iter().zip(ids) {
            // A new event may have the identifier of a destroyed one.
            if table.handles.get(handle) != Some(id) {
                continue;
            }
            let Some(event) = table.events.get_mut(id) else { continue };
            event.waits.retain(|other| !Arc::ptr_eq(other, wait));
            if !set.contains(id) {
                continue;
            }
            if took {
                if let Some(fault) = event.fault.take() {
                    event.structure.tell(fault);
                }
            } else if !event.manual {
                // A wait that ran out consumes nothing.
                event.set();
            }
        }
        for (age, id) in ages.into_iter().flatten().zip(ids) {
            if let Some(event) = table.events.get(id).filter(|_| *age != 0) {
                *age = event.age;
            }
        }
    }
}

/// How many different events a list names.
fn distinct(ids: &[u32]) -> usize {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}
