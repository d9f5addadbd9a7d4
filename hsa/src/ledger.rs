//! Accounts of the runtime's resources, by the names that their holders give.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// Kinds of resources that are accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// Memory of a pool, with an address of its own or without. Bytes are whole granules of the pool.
    Memory,
    /// Host memory that is locked for agents.
    Locked,
    /// Signals.
    Signal,
    /// Queues; their bytes are those of the rings.
    Queue,
    /// Executables; their bytes are those of the files that were loaded.
    Executable,
}

/// What holders of one name hold of one kind in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The kind.
    pub resource: Resource,
    /// The handle of the memory pool, or of the agent of queues; 0 where there is no such place.
    pub place: u64,
    /// Whatever the holder calls itself; empty if it has no name.
    pub holder: &'static str,
    /// How many there are.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

type Key = (Resource, u64, &'static str);

/// The accounts of one runtime.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<BTreeMap<Key, (u64, u64)>>);

impl Ledger {
    fn accounts(&self) -> MutexGuard<'_, BTreeMap<Key, (u64, u64)>> {
        self.0.lock()
    }

    /// All accounts, by kind, place and holder.
    pub(crate) fn holdings(&self) -> Vec<Holding> {
        let holding = |(&(resource, place, holder), &(count, bytes)): (&Key, &(u64, u64))| Holding {
            resource,
            place,
            holder,
            count,
            bytes,
        };
        self.accounts().iter().map(holding).collect()
    }

    fn add(&self, key: Key, bytes: u64) {
        let mut accounts = self.accounts();
        let account = accounts.entry(key).or_default();
        *account = (account.0 + 1, account.1 + bytes);
    }

    fn remove(&self, key: Key, bytes: u64) {
        let mut accounts = self.accounts();
        if let Some(account) = accounts.get_mut(&key) {
            *account = (account.0 - 1, account.1 - bytes);
            if account.0 == 0 {
                accounts.remove(&key);
            }
        }
    }
}

/// One resource in the accounts, for as long as this lives.
pub(crate) struct Entry {
    ledger: Arc<Ledger>,
    key: Key,
    bytes: u64,
}

impl Entry {
    /// Enters a resource that has no holder's name yet.
    pub(crate) fn new(ledger: &Arc<Ledger>, resource: Resource, place: u64, bytes: u64) -> Self {
        let entry = Self { ledger: ledger.clone(), key: (resource, place, ""), bytes };
        entry.ledger.add(entry.key, bytes);
        entry
    }

    /// Gives the holder a name.
    pub(crate) fn name(&mut self, holder: &'static str) {
        self.ledger.remove(self.key, self.bytes);
        self.key.2 = holder;
        self.ledger.add(self.key, self.bytes);
    }

    /// Adds to the bytes.
    pub(crate) fn grow(&mut self, bytes: u64) {
        self.ledger.remove(self.key, self.bytes);
        self.bytes += bytes;
        self.ledger.add(self.key, self.bytes);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.remove(self.key, self.bytes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_entered_counts_until_it_is_dropped() {
        let ledger = Arc::new(Ledger::default());
        let sum = |holder| ledger.accounts().get(&(Resource::Memory, 7, holder)).copied();
        let mut one = Entry::new(&ledger, Resource::Memory, 7, 100);
        let two = Entry::new(&ledger, Resource::Memory, 7, 20);
        assert_eq!(sum(""), Some((2, 120)));
        one.name("holder");
        one.grow(5);
        assert_eq!((sum(""), sum("holder")), (Some((1, 20)), Some((1, 105))));
        drop(one);
        drop(two);
        assert!(ledger.accounts().is_empty());
    }
}
