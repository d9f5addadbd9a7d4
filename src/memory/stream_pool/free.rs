//! Frees: behind a stream's work, or at once.

#![forbid(unsafe_code)]

use super::{Freed, shared};
use crate::{
    device::{System, fence::Keep},
    error::{Error, Result, explain},
    memory::Region,
    stream::Stream,
};

/// Frees the pool's allocation at `address` once `stream` has passed this point, if it is one that the stream knows.
///
/// # Errors
/// A fault of earlier work.
pub(in crate::memory) fn free_known(stream: &Stream, address: u64) -> Result<bool> {
    stream.device().check()?;
    let freed = &stream.0.freed;
    Ok(freed.forget(address).is_some_and(|region| matches!(freed.put(stream, region), Ok(true))))
}

/// Frees the pool's allocation at `address` once `stream` has passed this point.
///
/// # Errors
/// [`Error::InvalidValue`] if no such allocation starts there; a fault of earlier work; what capture forbids.
pub(in crate::memory) fn free_behind(stream: &Stream, address: u64) -> Result<()> {
    drop(stream.submission()?);
    let region = System::get()?.memory().at(address).ok_or_else(no_allocation)?;
    let region = match stream.0.freed.put(stream, region) {
        Ok(true) => return Ok(()),
        Ok(false) => return Err(no_allocation()),
        Err(region) => region,
    };
    let point = stream.0.free_point(false);
    let pending = stream.behind([point].into_iter(), true)?;
    let pending = pending.and_then(|mut pending| pending.pop()).flatten();
    end(&region)?;
    take_back(&region, pending.map(|(fence, lane)| Freed { stream: stream.id(), point, fence, lane }));
    Ok(())
}

/// Frees the pool's allocation at `address`, which nobody uses any more, and waits for nothing unless it is another
/// process's.
///
/// # Errors
/// [`Error::InvalidValue`] if no such allocation starts there.
pub(in crate::memory) fn free_now(address: u64) -> Result<()> {
    let region = System::get()?.memory().at(address).ok_or_else(no_allocation)?;
    end(&region)?;
    let settled = shared::settle(&region);
    take_back(&region, None);
    settled
}

/// Gives back an allocation that has [ended](super::Stage::end) and that nobody uses any more.
pub(in crate::memory) fn take_back_idle(region: &Region) {
    take_back(region, None);
}

/// Ends an allocation and takes it out of the table.
fn end(region: &Region) -> Result<()> {
    if !region.grant().is_some_and(|grant| grant.stage.end()) {
        return Err(no_allocation());
    }
    drop_from_table(region);
    Ok(())
}

/// Takes free memory out of the table that was kept there for a stream.
pub(super) fn forget(region: &Region) {
    if let Some(grant) = region.grant() {
        grant.stage.forget();
    }
    drop_from_table(region);
}

fn drop_from_table(region: &Region) {
    if let Ok(system) = System::get() {
        drop(system.memory().remove_exactly(region));
    }
}

/// Gives memory back that was taken out of the table of allocations, for use behind `freed` or, if nobody uses it any
/// more, at once.
fn take_back(region: &Region, freed: Option<Freed>) {
    let Some(grant) = region.grant() else { return };
    let pool = &grant.pool;
    pool.used.sub(region.bytes);
    if let Some(attached) = &grant.attached {
        // It stays mapped until the stream has passed the free.
        if let Some(freed) = freed {
            freed.fence.keep_all(vec![Keep::Other(attached.clone())]);
        }
        return;
    }
    pool.state().space.give(region.address, grant.bytes, freed);
    pool.pools.note_free();
}

fn no_allocation() -> Error {
    explain("the address is no allocation of a memory pool, or it is freed already");
    Error::InvalidValue("not the start of a stream-ordered allocation")
}
