//! What is noted of an allocation beside what it is.

#![forbid(unsafe_code)]

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use parking_lot::Mutex;

use crate::{
    check::{self, Site},
    device::clocks,
};

/// The notes of one allocation.
///
/// ORDER: Relaxed throughout. Each word is a value of its own, and nothing is published by it.
#[derive(Debug)]
pub struct Marks {
    /// 0 until it is asked for.
    id: AtomicU64,
    /// How many commands there were before it was given out.
    born: AtomicU64,
    synchronous: AtomicBool,
    registered_again: AtomicU32,
    /// Where it was allocated, if that is kept.
    site: Mutex<Option<Arc<Site>>>,
}

impl Default for Marks {
    fn default() -> Self {
        let (id, synchronous, registered_again) = Default::default();
        let (born, site) = (AtomicU64::new(clocks::commands()), Mutex::new(check::allocated()));
        Self { id, born, synchronous, registered_again, site }
    }
}

impl Marks {
    /// How many commands (`device::clocks`) there were before the allocation, where they are counted.
    pub(super) fn born(&self) -> u64 {
        self.born.load(Ordering::Relaxed)
    }

    /// Where it was allocated, if that is kept.
    pub(crate) fn site(&self) -> Option<Arc<Site>> {
        self.site.lock().clone()
    }

    /// A number that no other allocation of the process has.
    pub fn id(&self) -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let known = self.id.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let fresh = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        // Two threads may ask for the first time at once: the first one's number is the allocation's.
        self.id
            .compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed)
            .map_or_else(|id| id, |_| fresh)
    }

    /// Whether synchronous copies and fills of the allocation wait for what they do, also where they need not.
    pub fn is_synchronous(&self) -> bool {
        self.synchronous.load(Ordering::Relaxed)
    }

    /// Sets what [`Marks::is_synchronous`] says.
    pub fn set_synchronous(&self, synchronous: bool) {
        self.synchronous.store(synchronous, Ordering::Relaxed);
    }

    /// Counts one more registration of memory that devices reach already.
    pub(super) fn register_again(&self) {
        self.registered_again.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the registrations of memory that this allocation took the place of, and its own.
    pub(super) fn register_after(&self, before: &Self) {
        let count = before.registered_again.load(Ordering::Relaxed).saturating_add(1);
        self.registered_again.store(count, Ordering::Relaxed);
    }

    /// Ends one of these registrations; `false` if there is none.
    pub(super) fn unregister_again(&self) -> bool {
        let less = |n: u32| n.checked_sub(1);
        self.registered_again.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Forgets all: the memory is another allocation now.
    pub(super) fn clear(&self) {
        self.id.store(0, Ordering::Relaxed);
        self.born.store(clocks::commands(), Ordering::Relaxed);
        self.synchronous.store(false, Ordering::Relaxed);
        self.registered_again.store(0, Ordering::Relaxed);
        if let Some(site) = check::allocated() {
            *self.site.lock() = Some(site);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_allocation_has_its_number() {
        let (one, other) = (Marks::default(), Marks::default());
        assert_eq!(one.id(), one.id());
        assert_ne!(one.id(), other.id());
        let before = one.id();
        one.clear();
        assert_ne!(one.id(), before);
    }

    #[test]
    fn registrations_end_as_often_as_they_began() {
        let marks = Marks::default();
        assert!(!marks.unregister_again());
        marks.register_again();
        let longer = Marks::default();
        longer.register_after(&marks);
        assert!(longer.unregister_again() && longer.unregister_again() && !longer.unregister_again());
        assert!(marks.unregister_again() && !marks.unregister_again());
    }
}
