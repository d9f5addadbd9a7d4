//! Work that is done side by side.

use std::{
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::Result;

/// As many jobs as there are processors.
pub fn processors() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// What `work` makes of each item, in their order; so many at a time.
///
/// # Errors
/// One of `work`'s, after all items.
pub fn in_parallel<I: Sync, T: Send>(
    items: &[I],
    jobs: NonZero<usize>,
    work: impl Fn(&I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let worker = || {
        loop {
            // ORDER: Relaxed. The counter only hands out numbers.
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { break };
            let outcome = work(item);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((place, outcome));
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(items.len()) {
            scope.spawn(worker);
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
