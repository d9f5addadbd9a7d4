//! Names for our objects that C callbacks carry in place of pointers.
//!
//! The specification does not say when a callback is the last one. A token that has been withdrawn finds
//! nothing, so a late callback is ignored where a pointer would dangle.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};

pub(crate) struct Tokens<T> {
    table: Mutex<Table<T>>,
}

struct Table<T> {
    last: usize,
    live: BTreeMap<usize, Weak<T>>,
}

impl<T> Tokens<T> {
    pub(crate) const fn new() -> Self {
        Self { table: Mutex::new(Table { last: 0, live: BTreeMap::new() }) }
    }

    /// Issues a token, never 0 and never used before.
    pub(crate) fn issue(&self, object: &Arc<T>) -> Token {
        let mut table = self.lock();
        table.last += 1;
        let token = table.last;
        table.live.insert(token, Arc::downgrade(object));
        Token(token)
    }

    /// The object behind what a callback was given.
    pub(crate) fn find(&self, data: *mut c_void) -> Option<Arc<T>> {
        self.lock().live.get(&data.addr()).and_then(Weak::upgrade)
    }

    pub(crate) fn withdraw(&self, token: Token) {
        self.lock().live.remove(&token.0);
    }

    fn lock(&self) -> MutexGuard<'_, Table<T>> {
        // A panic elsewhere cannot leave the table half changed.
        self.table.lock()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token(usize);

impl Token {
    /// What C carries: a number in a pointer's clothes, never dereferenced.
    pub(crate) fn as_data(self) -> *mut c_void {
        ptr::without_provenance_mut(self.0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn withdrawn_and_dead_tokens_find_nothing() {
        static TOKENS: Tokens<u32> = Tokens::new();
        let (seven, eight) = (Arc::new(7), Arc::new(8));
        let (a, b) = (TOKENS.issue(&seven), TOKENS.issue(&eight));
        assert_eq!(TOKENS.find(a.as_data()).as_deref(), Some(&7));
        TOKENS.withdraw(a);
        assert_eq!(TOKENS.find(a.as_data()), None);
        drop(eight);
        assert_eq!(TOKENS.find(b.as_data()), None);
        assert_eq!(TOKENS.find(ptr::null_mut()), None);
    }
}
