//! User objects: resources of the caller's whose destructor runs when nobody holds a reference any more, neither the
//! caller nor a graph, an executable or a launch in flight.
//!
//! Destructors run on one thread of ours, never on one that calls us: who lets the last reference go may hold locks that
//! the destructor wants. References that a launch in flight still needs wait for its end on another thread, so that
//! destructors do not wait for launches that have nothing to do with them.

#![forbid(unsafe_code)]

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
};

use crate::{
    device::Fence,
    error::{Error, Result},
    graph::references::{References, Resource},
};

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

/// What all references lead to; the last of them to go starts the destructor.
struct Payload {
    destructor: Mutex<Option<Destructor>>,
    thread: Sender<Destructor>,
}

impl Drop for Payload {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // The thread ends with the process only.
            let _ = self.thread.send(destructor);
        }
    }
}

impl UserObject {
    /// An object with `count` references that the caller owns; `destructor` runs when all references are gone.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0 or more than 2^31 - 1, [`Error::OutOfMemory`] if the thread for
    /// destructors cannot be started.
    pub fn new(count: u32, destructor: impl FnOnce() + Send + 'static) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        check(count)?;
        let thread = destructors()?.clone();
        let destructor: Destructor = Box::new(destructor);
        let payload = Arc::new(Payload { destructor: Mutex::new(Some(destructor)), thread });
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

    /// Gives up `count` of the references that the caller owns.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a count of 0, or of more references than the caller owns.
    pub fn release(&self, count: u32) -> Result<()> {
        check(count)?;
        drop(self.take(count)?);
        Ok(())
    }

    /// Takes `count` references from the caller; what the last of them kept is to be dropped behind all locks.
    fn take(&self, count: u32) -> Result<Option<Resource>> {
        let mut own = self.own();
        let left =
            own.count.checked_sub(count).ok_or(Error::InvalidValue("the caller owns fewer references"))?;
        own.count = left;
        Ok(if left == 0 { own.payload.take() } else { None })
    }

    /// Creates `count` references that a graph owns, or gives it as many of the caller's.
    pub(crate) fn retain_for(&self, graph: &mut References, count: u32, from_caller: bool) -> Result<()> {
        check(count)?;
        let payload = self.payload()?;
        if from_caller && self.own().count < count {
            return Err(Error::InvalidValue("the caller owns fewer references"));
        }
        if !graph.retain(self.0.id, &payload, count) {
            return Err(Error::InvalidValue("too many references"));
        }
        // The graph holds the payload: what the caller had of it is not the last.
        if from_caller && self.take(count).is_err() {
            // Another thread has been quicker.
            drop(graph.release(self.0.id, count));
            return Err(Error::InvalidValue("the caller owns fewer references"));
        }
        Ok(())
    }

    /// Gives up `count` of the references that a graph owns.
    pub(crate) fn release_from(&self, graph: &mut References, count: u32) -> Result<()> {
        check(count)?;
        let last = graph.release(self.0.id, count);
        // A destructor is only handed to its thread here.
        last.map(drop).map_err(|_| Error::InvalidValue("the graph owns fewer references"))
    }

    fn payload(&self) -> Result<Resource> {
        let payload = self.0.payload.upgrade();
        payload.map(|payload| payload as Resource).ok_or(Error::InvalidValue("the user object is gone"))
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.0.own.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Starts a thread that does `work` with all that it is sent.
fn thread<T: Send + 'static>(
    slot: &'static OnceLock<Sender<T>>,
    name: &str,
    work: impl Fn(T) + Send + 'static,
) -> Result<&'static Sender<T>> {
    if slot.get().is_none() {
        let (sender, received) = channel::<T>();
        crate::thread::start(name, move || received.into_iter().for_each(work))?;
        // Two threads may race here; the loser's thread ends as its sender is dropped.
        let _ = slot.set(sender);
    }
    // PANIC: set above, by this thread or by the one that won.
    Ok(slot.get().expect("the thread has started"))
}

/// The thread that runs destructors.
fn destructors() -> Result<&'static Sender<Destructor>> {
    static THREAD: OnceLock<Sender<Destructor>> = OnceLock::new();
    thread(&THREAD, "aqlipse-destroy", |destructor: Destructor| {
        if catch_unwind(AssertUnwindSafe(destructor)).is_err() {
            tracing::error!("the destructor of a user object panicked");
        }
    })
}

/// Lets `resources` go when `fence` has fired, or never will.
pub(crate) fn release_behind(fence: Option<&Fence>, resources: Vec<Resource>) {
    static THREAD: OnceLock<Sender<(Fence, Vec<Resource>)>> = OnceLock::new();
    let Some(fence) = fence.filter(|fence| !resources.is_empty() && !fence.is_over()) else { return };
    let waits = thread(&THREAD, "aqlipse-release", |(fence, resources): (Fence, Vec<Resource>)| {
        // After a fault nothing of the launch runs any more.
        let _ = fence.signal().wait();
        drop(resources);
    });
    match waits {
        Ok(thread) => drop(thread.send((fence.clone(), resources))),
        // Without a thread they are let go when somebody sees that the launch is over.
        Err(_) => fence.keep(crate::device::fence::Keep::Other(Arc::new(resources))),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::TryRecvError, thread, time::Duration};

    use super::*;

    fn object(count: u32) -> (UserObject, std::sync::mpsc::Receiver<thread::ThreadId>) {
        let (sender, receiver) = channel();
        let destructor = move || sender.send(thread::current().id()).unwrap();
        (UserObject::new(count, destructor).unwrap(), receiver)
    }

    #[test]
    fn the_destructor_runs_once_on_a_thread_of_ours() {
        let (object, gone) = object(3);
        object.release(1).unwrap();
        object.retain(1).unwrap();
        object.release(2).unwrap();
        assert_eq!(gone.try_recv(), Err(TryRecvError::Empty));
        object.release(1).unwrap();
        let by = gone.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_ne!(by, thread::current().id());
        assert!(object.retain(1).is_err() && object.release(1).is_err());
        assert!(gone.recv_timeout(Duration::from_secs(60)).is_err(), "the sender went with the destructor");
    }

    #[test]
    fn nobody_gives_up_what_it_does_not_own() {
        let (object, gone) = object(2);
        let mut graph = References::default();
        assert!(object.release(3).is_err());
        assert!(object.retain_for(&mut graph, 3, true).is_err());
        assert!(object.release_from(&mut graph, 1).is_err());
        object.retain_for(&mut graph, 2, true).unwrap();
        assert!(object.release(1).is_err(), "the graph has them");
        object.retain(1).unwrap();
        object.release(1).unwrap();
        assert!(object.release_from(&mut graph, 3).is_err());
        assert_eq!(gone.try_recv(), Err(TryRecvError::Empty));
        object.release_from(&mut graph, 2).unwrap();
        gone.recv_timeout(Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn counts_are_positive_and_do_not_overflow() {
        for count in [0, MAX_COUNT + 1, u32::MAX] {
            assert!(UserObject::new(count, || {}).is_err());
        }
        let (object, _gone) = object(MAX_COUNT);
        object.retain(MAX_COUNT).unwrap();
        object.retain(1).unwrap();
        assert_eq!(object.retain(1), Err(Error::InvalidValue("too many references")));
        for count in [0, MAX_COUNT + 1] {
            assert!(object.retain(count).is_err() && object.release(count).is_err());
        }
        object.release(MAX_COUNT).unwrap();
    }

    #[test]
    fn a_destructor_that_panics_does_not_take_the_thread() {
        let first = UserObject::new(1, || panic!("on purpose")).unwrap();
        let (second, gone) = object(1);
        first.release(1).unwrap();
        second.release(1).unwrap();
        gone.recv_timeout(Duration::from_secs(60)).unwrap();
    }
}
