//! Managed memory: variables of modules, and what a program has said about ranges.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{
    Backing, Origin, Region, insert_host,
    ledger::{Advice, Ledger},
};
use crate::{
    device::{Device, System},
    error::{Error, Result},
};

/// Allocates a variable that host and device share; its module owns it.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn allocate_managed_variable(device: &Device, bytes: u64) -> Result<Arc<Region>> {
    // CAST: a 64-bit process.
    insert_host(device, &device.0.host, bytes as usize, Origin::Managed, 0, true)
}

/// Undoes [`allocate_managed_variable`].
pub(crate) fn forget_managed_variable(address: u64) {
    if let Ok(system) = System::get() {
        system.memory().remove(address, Region::is_managed_variable);
    }
}

/// Works on the ledger of the managed region that holds the `bytes` bytes at `address`, with their offsets in it.
fn with_ledger<T>(address: u64, bytes: u64, work: impl FnOnce(&Ledger, u64, u64) -> T) -> Result<T> {
    let region = System::get()?.memory().find(address).filter(|region| region.origin == Origin::Managed);
    let Some(region) = region else { return Err(Error::InvalidValue("not managed memory")) };
    let Region { backing: Backing::Managed { advice, .. }, .. } = &*region else {
        return Err(Error::InvalidValue("not managed memory"));
    };
    let start = address - region.address;
    match start.checked_add(bytes) {
        Some(end) if bytes > 0 && end <= region.bytes => Ok(work(advice, start, end)),
        _ => Err(Error::InvalidValue("the range is empty or leaves its allocation")),
    }
}

/// Changes what is said about a range of managed memory.
///
/// # Errors
/// [`Error::InvalidValue`] if the range is empty or not within one managed allocation.
pub fn advise(address: u64, bytes: u64, change: impl FnMut(&mut Advice)) -> Result<()> {
    with_ledger(address, bytes, |ledger, start, end| ledger.change(start, end, change))
}

/// What has been said about a range of managed memory: at least one entry, in order of address.
///
/// # Errors
/// As [`advise`].
pub fn advice(address: u64, bytes: u64) -> Result<Vec<Advice>> {
    with_ledger(address, bytes, Ledger::read)
}
