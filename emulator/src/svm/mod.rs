//! Shared virtual memory: pages of the program's own that devices reach, by attributes of ranges.
//!
//! A page has a *home*: the host's memory or a device's. On the emulated device that is bookkeeping, for all memory is the
//! host's: what it decides is which devices reach the page as it lies, and what is counted. Without retries (XNACK) a device
//! has every page mapped that it may access, wherever it lies. With them it faults where it has not, and the page comes to
//! it, unless the attributes say otherwise. The rules are those of the kernel driver (`kfd_ioctl.h`, SVM) for cards behind
//! PCIe: no two of them are in one hive, so that a page lies on a device only while no other has to reach it in place.
//!
//! What the host touches is not seen: pages stay on a device until another one faults, or they are prefetched.

mod range;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

use crate::{
    device::Device,
    memory::{Allocation, Grain, Pager},
    os::{self, PAGE, Piece},
};
use range::Range;
pub use range::{Attributes, Change, Place, Reach, flag};

/// A page, in bytes of address.
const BYTES: u64 = PAGE as u64;

/// Why attributes are not given or pages not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvmError {
    /// A page is not mapped in the process.
    NotMapped,
    /// The memory was allocated from the driver, which does not move it.
    OfTheDriver,
}

/// Whether memory at an address was allocated from the driver.
pub type IsDrivers = Box<dyn Fn(u64) -> bool + Send + Sync>;

/// The ranges of a process.
pub struct Svm {
    devices: Arc<[Arc<Device>]>,
    /// Whether devices retry accesses that fault.
    retries: AtomicBool,
    ranges: Mutex<BTreeMap<u64, Range>>,
    is_drivers: IsDrivers,
}

/// Whole pages of a range of bytes; `None` if it is empty or wraps.
pub fn pages(start: u64, size: u64) -> Option<(u64, u64)> {
    let end = start.checked_add(size)?.checked_next_multiple_of(BYTES)?;
    (start > 0 && size > 0).then_some((start / BYTES * BYTES, end))
}

impl Svm {
    /// No ranges; with `retries` every device reaches the program's memory on demand.
    pub fn new(devices: Arc<[Arc<Device>]>, retries: bool, is_drivers: IsDrivers) -> Arc<Self> {
        let svm = Arc::new(Self {
            devices,
            retries: AtomicBool::new(retries),
            ranges: Mutex::default(),
            is_drivers,
        });
        for device in svm.devices.iter() {
            let pager: Weak<dyn Pager> = Arc::downgrade(&(Arc::clone(&svm) as Arc<dyn Pager>));
            device.map.page_by(pager, device.index);
        }
        svm
    }

    /// Whether devices retry accesses that fault.
    pub fn retries(&self) -> bool {
        self.retries.load(Ordering::Relaxed)
    }

    /// Has devices retry accesses that fault, or not. No queue may exist.
    pub fn set_retries(&self, on: bool) {
        self.retries.store(on, Ordering::Relaxed);
        let mut ranges = self.lock();
        let hull = ranges.first_key_value().zip(ranges.last_key_value());
        if let Some((start, end)) = hull.map(|((start, _), (_, last))| (*start, last.end)) {
            self.change(&mut ranges, start, end, &[], |_, _| {});
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Range>> {
        self.ranges.lock()
    }

    fn default_attributes(&self) -> Attributes {
        // CAST: at most MAX_DEVICES.
        Attributes::initial(if self.retries() { (1 << self.devices.len()) - 1 } else { 0 })
    }

    /// Gives whole pages attributes. A range that is as memory is that was never spoken of is forgotten.
    ///
    /// # Errors
    /// [`SvmError`]; nothing has changed then.
    pub fn set(&self, start: u64, end: u64, changes: &[Change]) -> Result<(), SvmError> {
        let known = self.pieces(start, end)?;
        let initial = self.default_attributes();
        self.change(&mut self.lock(), start, end, &known, |_, range| {
            changes.iter().for_each(|change| range.attributes.apply(*change));
            if range.attributes == initial {
                range.give_up();
            }
        });
        Ok(())
    }

    /// What all of a range's pages have in common.
    pub fn get(&self, start: u64, end: u64) -> Attributes {
        let ranges = self.lock();
        let initial = self.default_attributes();
        let mut common: Option<Attributes> = None;
        let mut add = |one: &Attributes| match &mut common {
            None => common = Some(one.clone()),
            Some(all) => all.intersect(one),
        };
        let mut at = start;
        for (&first, range) in ranges.range(..end).filter(|(_, range)| range.end > start) {
            if first > at {
                add(&initial);
            }
            add(&range.attributes);
            at = range.end;
        }
        if at < end {
            add(&initial);
        }
        common.unwrap_or(initial)
    }

    /// Whether something was said about all of a range of bytes, or devices reach the program's memory anyway.
    pub fn knows(&self, start: u64, size: u64) -> bool {
        let Some((start, end)) = pages(start, size) else { return false };
        let ranges = self.lock();
        let mut at = start;
        for (first, range) in ranges.range(..end).filter(|(_, range)| range.end > start) {
            if *first > at {
                break;
            }
            at = range.end;
        }
        at >= end || self.retries()
    }

    /// Notes where pages are to be prefetched to, before [`Svm::prefetch`] does it.
    ///
    /// # Errors
    /// [`SvmError`].
    pub fn announce(&self, start: u64, end: u64, to: Place) -> Result<(), SvmError> {
        let known = self.pieces(start, end)?;
        self.change(&mut self.lock(), start, end, &known, |_, range| range.attributes.prefetched = Some(to));
        Ok(())
    }

    /// Moves whole pages, as far as all devices that have to reach them in place do so there.
    ///
    /// # Errors
    /// [`SvmError`]; nothing has moved then.
    pub fn prefetch(&self, start: u64, end: u64, to: Place) -> Result<(), SvmError> {
        let known = self.pieces(start, end)?;
        let retries = self.retries();
        self.change(&mut self.lock(), start, end, &known, |start, range| {
            range.attributes.prefetched = Some(to);
            let to = to.device().filter(|device| range.may_lie_on(*device, retries));
            self.migrate(start, range, to);
            range.mapped |= to.map_or(0, |device| 1 << device);
        });
        Ok(())
    }

    /// The mappings that make up a range.
    fn pieces(&self, start: u64, end: u64) -> Result<Vec<Piece>, SvmError> {
        let known = os::pieces(start, end);
        let mut at = start;
        for piece in &known {
            if piece.start > at {
                break;
            }
            at = piece.end;
        }
        if at < end {
            return Err(SvmError::NotMapped);
        }
        if (self.is_drivers)(start) || (self.is_drivers)(end - BYTES) {
            return Err(SvmError::OfTheDriver);
        }
        Ok(known)
    }

    /// Moves a range's pages to a device, or to the host.
    fn migrate(&self, start: u64, range: &mut Range, to: Option<u32>) {
        if range.home == to || !range.moves {
            return;
        }
        let moved = os::resident(start, range.end).unwrap_or(0);
        for device in [range.home, to].into_iter().flatten() {
            self.devices[device as usize].tally.migrated_pages.add_shared(moved);
        }
        // A device's pages have memory, those too that the program has not touched.
        range.filled = to.is_some() && os::populate(start, range.end);
        (range.home, range.mapped) = (to, 0);
    }

    /// Changes the ranges in `start..end`, and what devices reach of them. Where there are none, `known` tells which can be
    /// made.
    fn change(
        &self,
        ranges: &mut BTreeMap<u64, Range>,
        start: u64,
        end: u64,
        known: &[Piece],
        mut change: impl FnMut(u64, &mut Range),
    ) {
        let (retries, initial) = (self.retries(), self.default_attributes());
        // With those that adjoin, which may become one with what is inside.
        let first = ranges.range(..start).next_back().filter(|(_, range)| range.end >= start);
        let first = first.map_or(start, |(first, _)| *first);
        let before: Vec<(u64, Range)> = ranges.extract_if(first..=end, |_, _| true).collect();
        let mut inside = range::cut(&before, start, end);
        range::fill(&mut inside, start, end, known, &initial);
        let mut after: Vec<(u64, Range)> = Vec::with_capacity(inside.len());
        for (first, mut range) in inside {
            if first >= start && range.end <= end {
                change(first, &mut range);
                if range.home.is_some_and(|device| !range.may_lie_on(device, retries)) {
                    self.migrate(first, &mut range, None);
                }
                range.settle(retries);
            }
            if range.is_nothing(&initial) {
                continue;
            }
            match after.last_mut() {
                Some((_, last)) if last.end == first && last.joins(&range) => last.end = range.end,
                _ => after.push((first, range)),
            }
        }
        for device in self.devices.iter() {
            let shown = |all: &[(u64, Range)]| -> Vec<(u64, Range)> {
                all.iter().filter(|(_, range)| range.mapped >> device.index & 1 != 0).cloned().collect()
            };
            let (old, new) = (shown(&before), shown(&after));
            if old != new {
                if !new.is_empty() {
                    device.tally.mappings.add_shared(1);
                }
                let gone: Vec<u64> = old.iter().map(|(start, _)| *start).collect();
                let allocation = |(start, range): &(u64, Range)| allocation(device, *start, range);
                device.map.repage(&gone, new.iter().map(allocation).collect());
            }
        }
        ranges.extend(after);
    }

    /// Serves a fault of one page; says where what the device reaches now ends.
    fn serve(&self, device: u32, page: u64, write: bool) -> Option<u64> {
        let mut ranges = self.lock();
        let bit = 1 << device;
        let found = ranges.range(..=page).next_back().filter(|(_, range)| page < range.end);
        let (start, end, known) = match found {
            Some((start, range)) if range.reaches(bit) && (range.is_writable() || !write) => {
                if range.mapped & bit != 0 {
                    return Some(range.end);
                }
                let (first, last) = range.granule(page);
                (first.max(*start), last.min(range.end), Vec::new())
            }
            Some(_) => return None,
            None if (self.is_drivers)(page) => return None,
            None => {
                let piece = os::pieces(page, page + BYTES).into_iter().next()?;
                let allowed = piece.start <= page && piece.readable && (piece.writable || !write);
                let (first, last) = self.default_attributes().granule(page);
                let before = ranges.range(..page).next_back().map_or(0, |(_, range)| range.end);
                let behind = ranges.range(page..).next().map_or(u64::MAX, |(start, _)| *start);
                let (first, last) = (first.max(piece.start).max(before), last.min(piece.end).min(behind));
                allowed.then_some((first, last, vec![piece]))?
            }
        };
        if !os::is_mapped(page, page + BYTES) {
            return None;
        }
        self.devices[device as usize].tally.page_faults.add_shared(1);
        self.change(&mut ranges, start, end, &known, |start, range| {
            let to = range.destination(device);
            self.migrate(start, range, to);
            range.mapped |= bit;
        });
        Some(end)
    }

    /// Forgets what is known of a page that the process has unmapped.
    fn forget(&self, page: u64) {
        self.change(&mut self.lock(), page, page + BYTES, &[], |_, range| *range = Range::nothing(range.end));
    }

    /// Takes the home away from pages whose memory the program has given up; whether there are such at `page`.
    fn vacate(&self, page: u64) -> bool {
        let mut ranges = self.lock();
        let found = ranges.range(..=page).next_back().filter(|(_, range)| page < range.end);
        let Some((_, range)) = found.filter(|(_, range)| range.home.is_some() && range.filled) else {
            return false;
        };
        let last = range.granule(page).1.min(range.end);
        let mut end = page + BYTES;
        while end < last && os::resident(end, end + BYTES) == Some(0) {
            end += BYTES;
        }
        self.change(&mut ranges, page, end, &[], |_, range| range.give_up());
        true
    }
}

impl Pager for Svm {
    fn fault(&self, device: u32, start: u64, end: u64, write: bool) -> bool {
        if !self.retries() {
            return false;
        }
        let mut at = start / BYTES * BYTES;
        while at < end {
            match self.serve(device, at, write) {
                Some(reached) => at = reached,
                None => return false,
            }
        }
        true
    }

    fn is_there(&self, start: u64, end: u64) -> bool {
        let page = start / BYTES * BYTES;
        match os::resident(start, end) {
            None => self.forget(page),
            Some(0) if self.vacate(page) => {}
            Some(_) => return true,
        }
        false
    }
}

/// A range as a device's map has it.
fn allocation(device: &Device, start: u64, range: &Range) -> Allocation {
    let grain = if range.attributes.flags & flag::COHERENT != 0 { Grain::Fine } else { Grain::Coarse };
    // Pages of the program's own are near, wherever the system has put them.
    let socket = range.home.is_none().then(|| device.hardware.socket_of(device.index));
    Allocation { start, end: range.end, writable: range.is_writable(), grain, socket, backing: None }
}

#[cfg(test)]
mod tests;
