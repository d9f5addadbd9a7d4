//! Loom explores every interleaving of threads that look at an object and threads that remove it and use its place again.

#[path = "slot.rs"]
#[allow(clippy::duplicate_mod, reason = "the same code on other atomics is what a model is")]
mod slot;

use loom::{
    model::Builder,
    sync::{Arc, atomic::AtomicUsize},
    thread,
};
// What the slot stands on.
use loom::sync::atomic::{AtomicU64, Ordering};

use slot::Slot;

/// A cell that reports two accesses which nothing keeps apart.
struct Cell<T>(loom::cell::UnsafeCell<T>);

impl<T> Cell<T> {
    fn new(value: T) -> Self {
        Self(loom::cell::UnsafeCell::new(value))
    }

    fn read(&self) -> *const T {
        self.0.with(|value| value)
    }

    fn write<R>(&self, work: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(work)
    }
}

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// An object with a name, which counts how many of its kind were let go.
struct Object(u64, Arc<AtomicUsize>);

impl Drop for Object {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// Looks at the object of a generation, if there is one; the thread that looks away last has the object and the vacant
/// place.
fn look(slot: &Slot<Object>, generation: u64, removes: bool) -> Option<Object> {
    if !slot.enter(Some(generation)) {
        return None;
    }
    if removes {
        slot.end();
    }
    // SAFETY: counted in, and the reference does not outlive the line.
    assert_eq!(unsafe { slot.object() }.0, generation, "another object than was asked for");
    // SAFETY: counted in, without a reference.
    unsafe { slot.leave() }
}

#[test]
fn the_last_one_who_looks_lets_a_removed_object_go_and_nobody_else_does() {
    explore(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let slot = Arc::new(Slot::vacant());
        // SAFETY: no other thread has the place yet.
        unsafe { slot.fill(Object(0, gone.clone())) };
        let threads = [false, true].map(|removes| {
            let slot = slot.clone();
            thread::spawn(move || look(&slot, 0, removes).is_some())
        });
        let here = look(&slot, 0, true).is_some();
        let there = threads.map(|thread| thread.join().unwrap());
        assert_eq!(there.into_iter().chain([here]).filter(|last| *last).count(), 1);
        assert_eq!((gone.load(Ordering::Relaxed), slot.generation()), (1, 1));
        assert!(!slot.is_living(0) && !slot.enter(None));
    });
}

#[test]
fn who_has_an_old_handle_never_sees_the_next_object_of_the_place() {
    explore(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let slot = Arc::new(Slot::vacant());
        // SAFETY: no other thread has the place yet.
        unsafe { slot.fill(Object(0, gone.clone())) };
        let looker = {
            let (slot, gone) = (slot.clone(), gone.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    if look(&slot, 0, false).is_some() {
                        // SAFETY: the thread that looked away last has the place to itself.
                        unsafe { slot.fill(Object(1, gone.clone())) };
                    }
                }
            })
        };
        if look(&slot, 0, true).is_some() {
            // SAFETY: as above.
            unsafe { slot.fill(Object(1, gone.clone())) };
        }
        looker.join().unwrap();
        assert!(slot.is_living(1) && !slot.is_living(0));
        assert_eq!(gone.load(Ordering::Relaxed), 1);
    });
}
