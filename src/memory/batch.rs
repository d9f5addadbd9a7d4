//! Several runs of bytes copied as one.

use super::{Ends, check_memcpy, device_addresses};
use crate::{device::Device, error::Result};
use aqlipse_graph::{Memcpy, RunCopy};

/// The runs with the addresses by which `device` knows their ends, without those of no bytes; `None` if it does not
/// reach all of them.
///
/// # Errors
/// As [`check_memcpy`], for any of them.
pub(crate) fn reached(device: &Device, copies: &[RunCopy]) -> Result<Option<Vec<RunCopy>>> {
    let mut all = true;
    let mut reached = Vec::with_capacity(copies.len());
    for run in copies {
        let copy = run.copy();
        all &= matches!(check_memcpy(device, &copy)?, Ends::Reachable | Ends::Pinned) || run.bytes == 0;
        if let Memcpy::Linear { dst, src, bytes: bytes @ 1.., .. } = device_addresses(&copy) {
            reached.push(RunCopy { dst, src, bytes });
        }
    }
    Ok(all.then_some(reached))
}
