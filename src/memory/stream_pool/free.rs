//! Frees: behind a stream's work, or at once.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{Freed, Ordered, Range, shared};
use crate::{
    check,
    device::{System, fence::Keep},
    error::{Error, Result, explain},
    memory::Region,
};

/// Frees the pool's allocation at `address` once `stream` has passed this point, if it is one that the stream knows.
///
/// # Errors
/// A fault of earlier work.
pub(crate) fn free_known(stream: &Arc<impl Ordered>, address: u64) -> Result<bool> {
    stream.device().check()?;
    let freed = stream.freed();
    Ok(freed.forget(address).is_some_and(|range| matches!(freed.put(stream, range), Ok(true))))
}

/// Frees the pool's allocation at `address` once `stream` has passed this point.
///
/// # Errors
/// [`Error::InvalidValue`] if no such allocation starts there; a fault of earlier work; what capture forbids.
pub(crate) fn free_behind(stream: &Arc<impl Ordered>, address: u64) -> Result<()> {
    stream.catch_up()?;
    let range = match stream.freed().put(stream, find(address)?) {
        Ok(true) => return Ok(()),
        Ok(false) => return Err(no_allocation()),
        Err(range) => range,
    };
    let point = stream.free_point(false);
    let pending = stream.behind(&mut [point].into_iter(), true)?;
    let pending = pending.and_then(|mut pending| pending.pop()).flatten();
    end(&range)?;
    check::ended(Some(stream.id()), address, false);
    take_back(&range, pending.map(|(fence, lane)| Freed { stream: stream.id(), point, fence, lane }));
    Ok(())
}

/// Frees the pool's allocation at `address`, which is not used any more, and waits for nothing unless it is another
/// process's.
///
/// # Errors
/// [`Error::InvalidValue`] if no such allocation starts there.
pub(in crate::memory) fn free_now(address: u64) -> Result<()> {
    let range = find(address)?;
    end(&range)?;
    check::ended(None, address, false);
    let settled = shared::settle(&range.grant);
    take_back(&range, None);
    settled
}

/// Gives back an allocation that has [ended](super::Stage::end) and that is not used any more.
pub(in crate::memory) fn take_back_idle(region: Arc<Region>) {
    if let Some(range) = Range::of(region) {
        take_back(&range, None);
    }
}

/// The allocation of a pool that starts at `address`.
fn find(address: u64) -> Result<Range> {
    System::get()?.memory().at(address).and_then(Range::of).ok_or_else(|| {
        check::freed_nothing(address);
        no_allocation()
    })
}

/// Ends an allocation and takes it out of the table.
fn end(range: &Range) -> Result<()> {
    if !range.grant.stage.end() {
        return Err(no_allocation());
    }
    drop_from_table(range);
    Ok(())
}

/// Takes free memory out of the table that was kept there for a stream.
pub(super) fn forget(range: &Range) {
    range.grant.stage.forget();
    drop_from_table(range);
}

fn drop_from_table(range: &Range) {
    if let Ok(system) = System::get() {
        drop(system.memory().remove_exactly(&range.region));
    }
}

/// Gives memory back that was taken out of the table of allocations, for use behind `freed` or, if it is not used any
/// more, at once.
fn take_back(Range { region, grant }: &Range, freed: Option<Freed>) {
    let pool = &grant.pool;
    pool.used.sub(region.bytes);
    if let Some(attached) = &grant.attached {
        // It stays mapped until the stream has passed the free.
        if let Some(freed) = freed {
            freed.fence.keep_all(vec![Keep::Other(attached.clone())]);
        }
        return;
    }
    pool.state().give(region.address, grant.bytes, freed);
    pool.pools.note_free();
}

fn no_allocation() -> Error {
    explain("the address is no allocation of a memory pool, or it is freed already");
    Error::InvalidValue("not the start of a stream-ordered allocation")
}
