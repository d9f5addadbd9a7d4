//! When destructors run: inside the call that lets the last reference go, on the thread that makes it, with nothing locked.
//!
//! References of an executable that is destroyed with a launch in flight wait for the end of that launch. The first call that
//! ends behind it, of whatever thread of the program's, lets them go. Nothing else does: no thread of the runtime's runs
//! destructors, and neither does the end of a thread or of the process.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::{Mutex, MutexGuard};

use super::Destructor;
use crate::{device::Fence, thread};
use aqlipse_graph::references::Resource;

thread_local! {
    /// How many calls the thread is in, one inside of the other; and [`IS_DUE`]. One word, as every call writes it.
    static STATE: Cell<u32> = const { Cell::new(0) };
    /// What runs at the end of the outermost.
    static DUE: RefCell<VecDeque<Destructor>> = const { RefCell::new(VecDeque::new()) };
}

/// Set in the thread's state if there may be something in [`DUE`].
const IS_DUE: u32 = 1 << 31;

static LEFT: Mutex<Left> = Mutex::new(Left { due: Vec::new(), behind: Vec::new() });

/// There may be something in [`LEFT`].
static ANY_LEFT: AtomicBool = AtomicBool::new(false);

/// The process is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What a later call takes care of.
struct Left {
    /// Destructors of objects whose last reference went outside of any call.
    due: Vec<Destructor>,
    /// References that a launch in flight may need.
    behind: Vec<(Fence, Vec<Resource>)>,
}

fn left() -> MutexGuard<'static, Left> {
    // ORDER: Relaxed. A call that is ordered behind the one that leaves something sees this by the same order.
    ANY_LEFT.store(true, Ordering::Relaxed);
    LEFT.lock()
}

/// A call of the program's: at its end destructors run that are due.
pub struct Call(());

impl Call {
    /// Begins one.
    #[inline]
    pub fn begin() -> Self {
        STATE.set(STATE.get() + 1);
        Self(())
    }
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        let state = STATE.get();
        if state == 1 && !ANY_LEFT.load(Ordering::Relaxed) {
            STATE.set(0);
        } else {
            end(state);
        }
    }
}

/// Ends a call that is inside of another, or that destructors run behind.
#[cold]
fn end(state: u32) {
    let is_outermost = state & !IS_DUE == 1;
    // Still within the call: what is let go there becomes due.
    if is_outermost && ANY_LEFT.load(Ordering::Relaxed) {
        take_what_is_left();
    }
    if !is_outermost {
        STATE.set(state - 1);
    } else {
        STATE.set(0);
        // What a destructor calls runs itself what that makes due.
        while let Some(destructor) = DUE.try_with(|due| due.borrow_mut().pop_front()).ok().flatten() {
            run(destructor);
        }
    }
}

fn run(destructor: Destructor) {
    if catch_unwind(AssertUnwindSafe(destructor)).is_err() {
        tracing::error!("the destructor of a user object panicked");
    }
}

/// Makes due on this thread what was left and what launches do not need any more.
#[cold]
fn take_what_is_left() {
    // What a host function calls on a thread of ours ends what it lets go of itself, and nothing else.
    if thread::is_ours() || ENDING.load(Ordering::Relaxed) {
        return;
    }
    let mut all = left();
    let due = std::mem::take(&mut all.due);
    let over: Vec<_> = all.behind.extract_if(.., |(fence, _)| fence.is_over()).collect();
    if all.behind.is_empty() {
        ANY_LEFT.store(false, Ordering::Relaxed);
    }
    drop(all);
    // A thread whose storage is gone runs none; it is about to end.
    let _ = DUE.try_with(|here| here.borrow_mut().extend(due));
    drop(over);
}

/// Has the destructor of an object run whose last reference went. One that runs `in_calls` only is left to the next call if
/// this is none: threads end, and the process does, with references that go then.
pub(super) fn has_ended(destructor: Destructor, in_calls: bool) {
    let state = STATE.get();
    if state & !IS_DUE > 0 {
        STATE.set(state | IS_DUE);
        let _ = DUE.try_with(|due| due.borrow_mut().push_back(destructor));
    } else if in_calls || thread::is_ours() {
        left().due.push(destructor);
    } else {
        run(destructor);
    }
}

/// Lets `resources` go when `fence` has fired, or never will.
pub(crate) fn release_behind(fence: Option<&Fence>, resources: Vec<Resource>) {
    if let Some(fence) = fence.filter(|fence| !resources.is_empty() && !fence.is_over()) {
        left().behind.push((fence.clone(), resources));
    }
}

/// Leaves for good what was left to a later call: the process ends, and what the destructors use may be gone. What a call
/// lets go of itself still ends with it.
pub fn stop() {
    ENDING.store(true, Ordering::Relaxed);
}
