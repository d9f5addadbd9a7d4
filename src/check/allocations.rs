//! What the table of allocations tells.

#![forbid(unsafe_code)]

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use super::made::Site;

/// An allocation that the program has not freed.
pub(crate) struct Left {
    /// What people call such.
    pub(crate) what: &'static str,
    pub(crate) bytes: u64,
    pub(crate) site: Arc<Site>,
}

/// The table of allocations.
pub(crate) trait Allocations: Send + Sync {
    /// The bytes of the allocation that contains an address, be it memory of a pool that is free now, and how many
    /// [commands](crate::device::clocks) there were when it was given out last.
    fn extent(&self, address: u64) -> Option<(Range<u64>, u64)>;

    /// Where the allocation that starts at an address was made.
    fn site(&self, address: u64) -> Option<Arc<Site>>;

    /// Whether an address lies in memory of a device that the program knows.
    fn is_of_device(&self, address: u64) -> bool;

    /// What the program has to free.
    fn left(&self) -> Vec<Left>;
}

static TABLE: OnceLock<&'static dyn Allocations> = OnceLock::new();

/// Says which it is.
pub(crate) fn know(table: &'static dyn Allocations) {
    // There is one.
    let _ = TABLE.set(table);
}

/// The table, if there has been an allocation.
pub(super) fn table() -> Option<&'static dyn Allocations> {
    TABLE.get().copied()
}
