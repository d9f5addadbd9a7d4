//! What a program has made and not destroyed when the process ends: `AQLIPSE_CHECK=leak`.
//!
//! Memory is in the table of allocations, which knows where each was made. Objects behind handles are entered here by the C
//! interface.

use std::{
    collections::{BTreeMap, HashMap},
    process,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use parking_lot::Mutex;

use super::{
    allocations::{self, Left},
    finding::{Finding, Made},
    made::Site,
    report,
};
use crate::device::{Tool, checked};

/// The objects that the program has to destroy, by handle.
static OBJECTS: LazyLock<Mutex<HashMap<usize, (&'static str, Site)>>> = LazyLock::new(Mutex::default);

/// The process whose objects they are; 0 until there is one. A child that was forked has none of its own.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Enters an object that the program has made, and has to destroy. `what`: what people call such.
#[inline]
pub fn given(handle: usize, what: &'static str) {
    if checked::is_on(Tool::Leak) {
        note_owner();
        OBJECTS.lock().insert(handle, (what, Site::here()));
    }
}

/// An object is destroyed.
#[inline]
pub fn taken(handle: usize) {
    if checked::is_on(Tool::Leak) {
        OBJECTS.lock().remove(&handle);
    }
}

/// Where an allocation is made, to be kept with it.
#[inline]
pub(crate) fn allocated() -> Option<Arc<Site>> {
    checked::is_any_on(&[Tool::Leak, Tool::Memory, Tool::Init, Tool::Graph]).then(|| {
        note_owner();
        Arc::new(Site::here())
    })
}

fn note_owner() {
    // ORDER: Relaxed. Nothing else hangs on the number.
    let _ = OWNER.compare_exchange(0, process::id(), Ordering::Relaxed, Ordering::Relaxed);
}

/// What is there now that the program has to give back.
fn leaks() -> Vec<Finding> {
    let mut all: BTreeMap<(&str, Made), (u64, u64)> = BTreeMap::new();
    let mut add = |what, site: &Site, bytes| {
        let (count, sum) = all.entry((what, site.look_up())).or_default();
        (*count, *sum) = (*count + 1, *sum + bytes);
    };
    OBJECTS.lock().values().for_each(|(what, site)| add(what, site, 0));
    for Left { what, bytes, site } in allocations::table().map(|table| table.left()).unwrap_or_default() {
        // An allocation of no bytes is one that has to be freed.
        add(what, &site, bytes.max(1));
    }
    let leak = |((what, made), (count, bytes)): ((&str, _), _)| Finding::Leak {
        what: what.into(),
        count,
        bytes,
        made,
    };
    all.into_iter().map(leak).collect()
}

extern "C" fn tell_leaks() {
    if !checked::is_on(Tool::Leak) || OWNER.load(Ordering::Relaxed) != process::id() {
        return;
    }
    // A panic must not cross into C, where the process is ending.
    let _ = std::panic::catch_unwind(|| leaks().iter().for_each(report::tell));
}

/// Runs when the library is unloaded, behind all that the program does when it ends: behind destructors of its static objects
/// and functions of `atexit`.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C" fn() = tell_leaks;
