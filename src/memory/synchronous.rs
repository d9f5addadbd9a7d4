//! Memory whose synchronous copies and fills shall wait for what they do. All of ours do, whatever their operands: what
//! was asked for is remembered only for those who ask.

use std::{
    ptr,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::Region;
use crate::{
    device::System,
    error::{Error, Result},
};

/// The marked regions; few ever are.
static MARKED: Mutex<Vec<Weak<Region>>> = Mutex::new(Vec::new());

/// Marks the allocation that contains `address`, or removes its mark.
///
/// # Errors
/// [`Error::InvalidValue`] if there is none.
pub fn set_synchronous(address: u64, marked: bool) -> Result<()> {
    let region = System::get()?.memory().find(address);
    let region = region.ok_or(Error::InvalidValue("not memory that a device reaches"))?;
    let mut all = MARKED.lock().unwrap_or_else(PoisonError::into_inner);
    // Allocations that are gone are forgotten on the way.
    all.retain(|one| one.strong_count() > 0 && !ptr::eq(one.as_ptr(), &*region));
    if marked {
        all.push(Arc::downgrade(&region));
    }
    Ok(())
}

/// Whether an allocation is marked.
pub fn is_synchronous(region: &Region) -> bool {
    let all = MARKED.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().any(|one| ptr::eq(one.as_ptr(), region))
}
