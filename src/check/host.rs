//! What the host itself touches: memory of devices, and pinned memory that a copy or a fill in flight touches as well.
//!
//! From when a copy is submitted until the host has waited for it, the pages that it writes are closed to the host, and those
//! that it reads are closed to its stores ([`hidden`]). An access is a signal then, which is told of, and opens the pages. Those of
//! which the copy touches a part stay open, unless the rest is in no allocation: what else is there may be touched.

#![forbid(unsafe_code)]

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use emulator::{
    How, Page,
    os::hidden::{self, HostAccess},
};

use super::{allocations, command::Command};

/// Pages of the host's that a command in flight touches.
pub(super) struct InFlight {
    pub(super) command: Arc<Command>,
    pages: Range<u64>,
    pub(super) how: How,
}

impl InFlight {
    /// What the host may do with the pages.
    fn access(&self) -> HostAccess {
        if self.how == How::Read { HostAccess::Read } else { HostAccess::None }
    }

    /// Whether the host must not do this there.
    pub(super) fn forbids(&self, address: u64, how: How) -> bool {
        self.pages.contains(&address) && (how == How::Write || self.how == How::Write)
    }
}

/// The pages that are closed to the host.
#[derive(Default)]
pub(super) struct Closed(Vec<InFlight>);

/// Whether any are.
static IS_ANY: AtomicBool = AtomicBool::new(false);

/// Whether pages may be closed to the host.
// ORDER: Relaxed. Who has submitted what closes them, and waits for that, sees what it has written itself.
pub(super) fn is_any_closed() -> bool {
    IS_ANY.load(Ordering::Relaxed)
}

impl Closed {
    /// Closes the pages of pinned memory that a command touches, which is about to be submitted.
    pub(super) fn close(&mut self, command: &Arc<Command>, touches: Vec<(How, Range<u64>)>) {
        let pinned = touches.into_iter().filter(|(_, bytes)| hidden::is_hidden(bytes.start));
        for (how, bytes) in pinned {
            let Some(pages) = whole_pages(&bytes) else { continue };
            self.0.push(InFlight { command: command.clone(), pages: pages.clone(), how });
            self.protect(&pages);
            IS_ANY.store(true, Ordering::Relaxed);
        }
    }

    /// Opens what is closed for some commands; returns those.
    pub(super) fn open(&mut self, is_over: impl Fn(&InFlight) -> bool) -> Vec<InFlight> {
        let over: Vec<InFlight> = self.0.extract_if(.., |one| is_over(one)).collect();
        for one in &over {
            self.protect(&one.pages);
        }
        IS_ANY.store(!self.0.is_empty(), Ordering::Relaxed);
        over
    }

    /// Closes of these pages what the commands ask for that are left, and opens the rest; whether that was possible.
    pub(super) fn protect(&self, pages: &Range<u64>) -> bool {
        let is_open = open(pages.clone(), HostAccess::ReadWrite);
        for access in [HostAccess::Read, HostAccess::None] {
            for one in self.0.iter().filter(|one| one.access() == access) {
                open(one.pages.start.max(pages.start)..one.pages.end.min(pages.end), access);
            }
        }
        is_open
    }
}

/// Lets the host do this with pages; whether that was possible.
pub(super) fn open(pages: Range<u64>, access: HostAccess) -> bool {
    pages.is_empty() || hidden::open(pages.start, pages.end - pages.start, access).is_ok()
}

/// The page of an address.
pub(super) fn page_of(address: u64) -> Range<u64> {
    let start = address & !(Page::BYTES - 1);
    start..start + Page::BYTES
}

/// Whether an address is of memory of the host's that the program knows.
pub(super) fn is_hosts(address: u64) -> bool {
    allocations::table().is_some_and(|table| table.extent(address).is_some() && !table.is_of_device(address))
}

/// The pages of memory of the host's in which is nothing of the program's but these bytes.
fn whole_pages(bytes: &Range<u64>) -> Option<Range<u64>> {
    let table = allocations::table().filter(|_| is_hosts(bytes.start))?;
    let (allocation, _) = table.extent(bytes.start)?;
    Some(inside(bytes, &allocation)).filter(|pages| pages.start < pages.end)
}

/// The pages in which is nothing of an allocation but these bytes. It has its pages for itself.
fn inside(bytes: &Range<u64>, allocation: &Range<u64>) -> Range<u64> {
    let start = match bytes.start <= allocation.start {
        true => allocation.start & !(Page::BYTES - 1),
        false => bytes.start.next_multiple_of(Page::BYTES),
    };
    let end = match bytes.end >= allocation.end {
        true => allocation.end.next_multiple_of(Page::BYTES),
        false => bytes.end & !(Page::BYTES - 1),
    };
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_other_bytes_of_the_allocation_stay_open() {
        let small = 0x1000..0x1004;
        assert_eq!(inside(&small, &small), 0x1000..0x2000);
        let large = 0x1000..0x5800;
        assert_eq!(inside(&large, &large), 0x1000..0x6000);
        assert_eq!(inside(&(0x1800..0x4800), &large), 0x2000..0x4000);
        assert_eq!(inside(&(0x4800..0x5800), &large), 0x5000..0x6000);
        assert!(inside(&(0x1800..0x1900), &large).is_empty());
    }
}
