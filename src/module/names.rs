//! Names of kernels by their descriptors, kept where queues that do not move are to be reported.

#![forbid(unsafe_code)]

use std::collections::HashMap;

use parking_lot::Mutex;

/// The names; what is unloaded stays, until another kernel takes its place.
static NAMES: Mutex<Option<HashMap<u64, Box<str>>>> = Mutex::new(None);

/// Notes the name of the kernel whose descriptor is at `object`.
pub(super) fn remember(object: u64, name: &str) {
    NAMES.lock().get_or_insert_default().insert(object, name.into());
}

/// The name of the kernel whose descriptor is at `object`, if it was loaded.
pub(crate) fn kernel_name(object: u64) -> Option<String> {
    Some(NAMES.lock().as_ref()?.get(&object)?.to_string())
}
