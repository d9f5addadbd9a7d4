//! Managed memory: where it comes from, what a program says about it, and where it is to be.
//!
//! Where the HSA runtime has shared virtual memory it is pages of the process's own, which the driver moves as advice and
//! prefetches say. Elsewhere it is pinned memory of the host: what is said is remembered for queries, and nothing moves.

use std::sync::Arc;

pub(crate) use super::pages::agent as agent_of;
use super::{
    Backing, Origin, Region,
    ledger::{Advice, Ledger, Processor},
    marks::Marks,
    pages::{self, Pages},
};
use crate::{
    device::{Device, System},
    error::{Error, Result},
};

/// Memory that host and device share.
pub(crate) struct Managed {
    memory: Memory,
    advice: Ledger,
    /// Whether it is a variable, which only its module frees.
    pub(super) is_variable: bool,
}

enum Memory {
    /// Where devices and host meet.
    Pinned(#[allow(dead_code, reason = "held for its Drop")] hsa::Allocation),
    /// It goes where it is used.
    Paged(Pages),
}

impl Managed {
    /// The pages, if the driver moves them.
    pub(crate) fn pages(&self) -> Option<&Pages> {
        match &self.memory {
            Memory::Paged(pages) => Some(pages),
            Memory::Pinned(_) => None,
        }
    }
}

/// Allocates memory that host and devices share; the caller's `flags` are remembered.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn allocate_managed(device: &Device, bytes: usize, flags: u32) -> Result<Arc<Region>> {
    insert(device, bytes, flags, false)
}

/// Allocates a variable that host and device share; its module owns it.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn allocate_managed_variable(device: &Device, bytes: u64) -> Result<Arc<Region>> {
    // CAST: a 64-bit process.
    insert(device, bytes as usize, 0, true)
}

fn insert(device: &Device, bytes: usize, flags: u32, is_variable: bool) -> Result<Arc<Region>> {
    let system = System::get()?;
    let (address, memory) = match system.shared_memory() {
        Some(shared) => {
            let pages = Pages::new(system, shared, bytes)?;
            (pages.address(), Memory::Paged(pages))
        }
        None => {
            let memory = super::pinned(&device.0.host, bytes)?;
            (memory.address(), Memory::Pinned(memory))
        }
    };
    Ok(system.memory().insert(Region {
        address,
        bytes: bytes as u64,
        origin: Origin::Managed,
        device: device.ordinal(),
        flags,
        device_address: address,
        marks: Marks::default(),
        backing: Backing::Managed(Managed { memory, advice: Ledger::new(), is_variable }),
    }))
}

/// Undoes [`allocate_managed_variable`].
pub(crate) fn forget_managed_variable(address: u64) {
    if let Ok(system) = System::get() {
        system.memory().remove(address, Region::is_managed_variable);
    }
}

/// A range of managed memory.
pub(crate) struct Range {
    region: Arc<Region>,
    /// Offsets in it.
    start: u64,
    end: u64,
}

impl Range {
    /// The managed memory that holds the `bytes` bytes at `address`.
    fn find(address: u64, bytes: u64) -> Result<Self> {
        const OTHER: Error = Error::InvalidValue("not managed memory");
        let region = System::get()?.memory().find(address);
        let region = region.filter(|region| region.managed().is_some()).ok_or(OTHER)?;
        let start = address - region.address;
        match start.checked_add(bytes) {
            Some(end) if bytes > 0 && end <= region.bytes => Ok(Self { region, start, end }),
            _ => Err(Error::InvalidValue("the range is empty or leaves its allocation")),
        }
    }

    fn managed(&self) -> &Managed {
        // PANIC: `find` accepts no other region.
        self.region.managed().unwrap_or_else(|| unreachable!())
    }

    /// The pages, if the driver moves them.
    pub(crate) fn pages(&self) -> Option<&Pages> {
        self.managed().pages()
    }

    /// First byte, and how many there are.
    pub(crate) fn span(&self) -> (u64, usize) {
        // CAST: a 64-bit process.
        (self.region.address + self.start, (self.end - self.start) as usize)
    }

    /// What keeps it.
    pub(crate) fn region(&self) -> Arc<Region> {
        self.region.clone()
    }

    /// Loses what the range holds, as far as that gives memory back.
    pub(crate) fn discard(&self) {
        if let Some(pages) = self.pages() {
            // SAFETY: only callers have the region's bytes, by address, and this one wants them lost.
            unsafe { pages.discard(self.start, self.end) };
        }
    }
}

/// Something that a program says about managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saying {
    /// Whether it is mostly read.
    ReadMostly(bool),
    /// Where it should lie.
    Preferred(Option<Processor>),
    /// Whether a processor accesses it, and should do so without faults.
    AccessedBy(Processor, bool),
    /// Whether writes need to be visible only between kernels.
    CoarseGrained(bool),
}

impl Saying {
    fn note(self, advice: &mut Advice) {
        match self {
            Self::ReadMostly(on) => advice.read_mostly = on,
            Self::Preferred(place) => advice.preferred = place,
            Self::AccessedBy(processor, accesses) => advice.set_accessed_by(processor, accesses),
            Self::CoarseGrained(on) => advice.coarse_grained = on,
        }
    }

    /// Tells the driver.
    fn tell(self, system: &System, pages: &Pages, start: u64, bytes: u64) -> Result<()> {
        use hsa::Attribute;
        let say = |what| pages.say(start, bytes, what);
        match self {
            Self::ReadMostly(on) => say(Attribute::ReadMostly(on)),
            Self::Preferred(None) => say(Attribute::PreferredLocation(None)),
            Self::Preferred(Some(place)) => {
                say(Attribute::PreferredLocation(Some(&pages::agent(system, place)?)))
            }
            // The host reaches all of it anyway.
            Self::AccessedBy(Processor::Host, _) => Ok(()),
            Self::AccessedBy(device, true) => {
                say(Attribute::AccessibleInPlace(&pages::agent(system, device)?))
            }
            Self::AccessedBy(device, false) => say(Attribute::Accessible(&pages::agent(system, device)?)),
            Self::CoarseGrained(on) => say(Attribute::FineGrained(!on)),
        }
    }
}

/// Says something about a range of managed memory; the driver hears of whole pages.
///
/// # Errors
/// [`Error::InvalidValue`] if the range is empty or not within one managed allocation; [`Error::Hsa`] if the driver refuses.
pub fn advise(address: u64, bytes: u64, saying: Saying) -> Result<()> {
    let range = Range::find(address, bytes)?;
    if let Some(pages) = range.pages() {
        saying.tell(System::get()?, pages, range.start, bytes)?;
    }
    range.managed().advice.change(range.start, range.end, |advice| saying.note(advice));
    Ok(())
}

/// What has been said about a range of managed memory: at least one entry, in order of address.
///
/// # Errors
/// [`Error::InvalidValue`] if the range is empty or not within one managed allocation.
pub fn advice(address: u64, bytes: u64) -> Result<Vec<Advice>> {
    let range = Range::find(address, bytes)?;
    Ok(range.managed().advice.read(range.start, range.end))
}

/// The ranges of managed memory that hold these bytes.
///
/// # Errors
/// As [`advice`], for any of them.
pub(crate) fn ranges(spans: &[(u64, u64)]) -> Result<Vec<Range>> {
    spans.iter().map(|&(address, bytes)| Range::find(address, bytes)).collect()
}

/// Notes where a range was prefetched to.
pub(crate) fn note_prefetch(range: &Range, to: Processor) {
    range.managed().advice.change(range.start, range.end, |advice| advice.prefetched = Some(to));
}
