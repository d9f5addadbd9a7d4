//! User objects: resources of the caller's whose destructor runs when no reference is left, neither the
//! caller nor a graph, an executable or a launch in flight.
//!
//! [`due`] says when the destructor runs.

#![forbid(unsafe_code)]

pub mod due;

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use aqlipse_graph::references::{References, Resource};

/// The most references that one call creates or gives up.
const MAX_COUNT: u32 = i32::MAX as u32;

/// A resource that graphs can hold, and the references to it that the caller owns.
#[derive(Clone)]
pub struct UserObject(Arc<Inner>);

struct Inner {
    id: u64,
    /// Empty when the last reference is gone.
    payload: Weak<Payload>,
    own: Mutex<Own>,
}

/// What the caller owns itself.
struct Own {
    count: u32,
    payload: Option<Resource>,
}

type Destructor = Box<dyn FnOnce() + Send>;

/// What all references lead to; the last of them to go has the destructor run.
struct Payload {
    destructor: Mutex<Option<Destructor>>,
    /// The destructor runs inside of calls only.
    in_calls: bool,
}

impl Drop for Payload {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor.get_mut().take() {
            due::has_ended(destructor, self.in_calls);
        }
    }
}

impl UserObject {
    /// An object with `count` references that the caller owns. `destructor` runs when all references are gone, on the
    /// thread that lets the last one go, before the call returns that does so.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0 or more than 2^31 - 1.
    pub fn new(count: u32, destructor: impl FnOnce() + Send + 'static) -> Result<Self> {
        Self::make(count, Box::new(destructor), false)
    }

    /// As [`UserObject::new`]; the destructor runs inside of [calls](due::Call) only.
    ///
    /// # Errors
    /// As [`UserObject::new`].
    pub fn of_calls(count: u32, destructor: impl FnOnce() + Send + 'static) -> Result<Self> {
        Self::make(count, Box::new(destructor), true)
    }

    fn make(count: u32, destructor: Destructor, in_calls: bool) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        check(count)?;
        let payload = Arc::new(Payload { destructor: Mutex::new(Some(destructor)), in_calls });
        Ok(Self(Arc::new(Inner {
            // ORDER: Relaxed. Only uniqueness matters.
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            payload: Arc::downgrade(&payload),
            own: Mutex::new(Own { count, payload: Some(payload) }),
        })))
    }

    /// Creates `count` more references that the caller owns.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0 or more than 2^31 - 1, for more references than 32 bits can
    /// count, or when all references are gone.
    pub fn retain(&self, count: u32) -> Result<()> {
        check(count)?;
        let payload = self.payload()?;
        let mut own = self.own();
        own.count = own.count.checked_add(count).ok_or(Error::InvalidValue("too many references"))?;
        own.payload = Some(payload);
        Ok(())
    }

    /// Gives up `count` of the references that the caller owns, or all if these are fewer.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0 or more than 2^31 - 1.
    pub fn release(&self, count: u32) -> Result<()> {
        check(count)?;
        drop(self.take(count));
        Ok(())
    }

    /// Takes as many of `count` references from the caller as there are; what the last of them kept is to be dropped
    /// behind all locks.
    fn take(&self, count: u32) -> Option<Resource> {
        let mut own = self.own();
        own.count = own.count.saturating_sub(count);
        if own.count == 0 { own.payload.take() } else { None }
    }

    /// Creates `count` references that a graph owns; with `from_caller` the caller gives up as many of its own, or all if
    /// these are fewer.
    pub(crate) fn retain_for(&self, graph: &mut References, count: u32, from_caller: bool) -> Result<()> {
        check(count)?;
        let payload = self.payload()?;
        if !graph.retain(self.0.id, &payload, count) {
            return Err(Error::InvalidValue("too many references"));
        }
        if from_caller {
            // The graph holds the payload: what the caller had of it is not the last.
            drop(self.take(count));
        }
        Ok(())
    }

    /// Gives up `count` of the references that a graph owns, or all if these are fewer; what the last of them kept is to be
    /// dropped where nothing is locked.
    pub(crate) fn release_from(&self, graph: &mut References, count: u32) -> Result<Option<Resource>> {
        check(count)?;
        Ok(graph.release(self.0.id, count))
    }

    fn payload(&self) -> Result<Resource> {
        let payload = self.0.payload.upgrade();
        payload.map(|payload| payload as Resource).ok_or(Error::InvalidValue("the user object is gone"))
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.0.own.lock()
    }
}

impl fmt::Debug for UserObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserObject").field("id", &self.0.id).field("own", &self.own().count).finish()
    }
}

fn check(count: u32) -> Result<()> {
    if (1..=MAX_COUNT).contains(&count) {
        Ok(())
    } else {
        Err(Error::InvalidValue("a count of references must be 1 to 2^31 - 1"))
    }
}

#[cfg(test)]
mod tests;
