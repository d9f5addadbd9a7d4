//! The kernels that a thread has named lately: finding one of them again takes no lock, and touches nothing that other
//! threads write but the kernel's own count of users.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicU64, Ordering},
};

use aqlipse::{Function, WeakFunction};

use crate::error::hipError_t;

/// Kernels that a thread remembers, each in the place that its name has.
const PLACES: usize = 8;

/// How often a name has come to stand for another kernel, or for none.
static CHANGES: AtomicU64 = AtomicU64::new(0);

struct Named {
    /// A host function, or a handle.
    name: usize,
    /// What [`CHANGES`] was before the kernel was looked up.
    changes: u64,
    kernel: WeakFunction,
}

thread_local! {
    static LATELY: RefCell<[Named; PLACES]> =
        const { RefCell::new([const { Named { name: 0, changes: 0, kernel: WeakFunction::NONE } }; PLACES]) };
}

/// The kernel that `name` stands for, as `look_up` finds it if the thread does not remember it.
///
/// # Errors
/// What `look_up` refuses.
pub fn find(
    name: usize,
    look_up: impl FnOnce() -> Result<Function, hipError_t>,
) -> Result<Function, hipError_t> {
    // Functions and handles are multiples of 16.
    let place = name / 16 % PLACES;
    // ORDER: acquire, before the look-up. What was changed before is seen by it, what is changed behind it changes the
    // count.
    let changes = CHANGES.load(Ordering::Acquire);
    let remembered = LATELY.try_with(|lately| {
        let known = &lately.borrow()[place];
        if known.name == name && known.changes == changes { known.kernel.upgrade() } else { None }
    });
    // A thread whose storage is gone remembers nothing.
    if let Ok(Some(kernel)) = remembered {
        return Ok(kernel);
    }
    let found = look_up()?;
    let kernel = found.downgrade();
    let _ = LATELY.try_with(|lately| lately.borrow_mut()[place] = Named { name, changes, kernel });
    Ok(found)
}

/// Has all threads look kernels up again: some name does not stand any more for what it did.
pub fn forget() {
    // ORDER: release. A thread that sees the count sees what was changed before.
    CHANGES.fetch_add(1, Ordering::Release);
}
