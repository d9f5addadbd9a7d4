//! Every allocation the runtime knows, by address: what a pointer is, and which processors can reach it.

use std::{any::Any, collections::BTreeMap, ops::Range, sync::Arc};

use parking_lot::RwLock;

use super::{TABLE, mapped::Mapped, marks::Marks, pages::Managed};
use crate::{
    check::{self, Allocations, Left, Site},
    device::{Device, fence::Keep},
    error::{Error, Result},
    memory::exporter::Exporter,
};

/// How memory came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Device memory of `hipMalloc`.
    Device,
    /// Device memory of `hipMallocAsync`.
    Pooled,
    /// Device memory that a graph's allocation node owns.
    Graph,
    /// A variable of a loaded module.
    Variable,
    /// Pinned host memory of `hipHostMalloc`.
    Host,
    /// The caller's own host memory, pinned by `hipHostRegister`.
    Registered,
    /// Memory that host and device share (`hipMallocManaged`).
    Managed,
    /// Device memory that is mapped to reserved addresses (`hipMemMap`).
    Mapped,
    /// Device memory of another process (`hipIpcOpenMemHandle`).
    Imported,
    /// A range of memory of another API (`hipExternalMemoryGetMappedBuffer`).
    External,
}

impl Origin {
    /// Whether the memory lies on the device.
    pub fn is_device(self) -> bool {
        matches!(
            self,
            Self::Device
                | Self::Pooled
                | Self::Graph
                | Self::Variable
                | Self::Mapped
                | Self::Imported
                | Self::External
        )
    }
}

/// A range of memory that devices can reach.
pub struct Region {
    /// First byte, as the host and as the device see it.
    pub address: u64,
    /// Bytes the caller asked for.
    pub bytes: u64,
    /// How the memory came to be.
    pub origin: Origin,
    /// Ordinal of the device it belongs to; for host memory, the one that was current.
    pub device: usize,
    /// Flags the caller gave.
    pub flags: u32,
    /// The device's address, where it differs from the host's.
    pub device_address: u64,
    /// What is noted of it beside.
    pub marks: Marks,
    /// What gives the memory back when the last user lets go.
    pub(crate) backing: Backing,
}

/// Owner of a region's memory.
pub(crate) enum Backing {
    Allocation(#[allow(dead_code, reason = "held for its Drop")] hsa::Allocation),
    /// Memory of an array, whose address is not the program's to free.
    Array(#[allow(dead_code, reason = "held for its Drop")] hsa::Allocation),
    /// Memory that host and device share, and what has been said about it.
    Managed(Managed),
    /// A range that a stream-ordered pool or a graph hands out.
    Owned(Arc<dyn Owner>),
    /// The HSA runtime placed it with a module's code.
    Elsewhere,
    /// Physical memory, mapped to reserved addresses.
    Mapped(Mapped),
    /// Memory of another process.
    Imported(#[allow(dead_code, reason = "held for its Drop")] hsa::Attachment, Option<Arc<Exporter>>),
    /// Pinned pages, or memory of another API.
    Held(#[allow(dead_code, reason = "held for its Drop")] Box<dyn Any + Send + Sync>),
}

/// What hands out a range of memory, and knows whether it is allocated.
pub(crate) trait Owner: Any + Send + Sync {
    /// Whether kernels on `device` may access the range.
    fn is_open_to(&self, device: &Device) -> bool;

    /// Whether the memory may leave the process as a file descriptor.
    fn is_shareable(&self) -> bool {
        false
    }

    /// Whether lookups find the range: one that is free may stay in the table for its owner.
    fn is_found(&self) -> bool {
        true
    }

    /// Whether the range is allocated: a graph has its memory when no launch has allocated it, too.
    fn is_allocated(&self) -> bool {
        self.is_found()
    }

    /// Frees the range; `false` if it is free already.
    fn end(&self) -> bool;

    /// What work in flight needs of the range when it is freed.
    fn held(self: Arc<Self>) -> Keep;
}

impl Region {
    /// Whether it is a managed variable of a module.
    pub(crate) fn is_managed_variable(&self) -> bool {
        self.managed().is_some_and(|managed| managed.is_variable)
    }

    /// What there is beside of memory that host and device share.
    pub(crate) fn managed(&self) -> Option<&Managed> {
        match &self.backing {
            Backing::Managed(managed) => Some(managed),
            _ => None,
        }
    }

    /// The address of a word that becomes 1 when the process has ended whose memory it is; 0 if it is this one's, or that
    /// is not known.
    pub(crate) fn gone(&self) -> u64 {
        match &self.backing {
            Backing::Imported(_, Some(exporter)) => exporter.gone(),
            _ => 0,
        }
    }

    /// Whether it is an allocation: memory of a pool stays here while it is free for a stream to have again.
    fn is_there(&self) -> bool {
        match &self.backing {
            Backing::Owned(owner) => owner.is_found(),
            _ => true,
        }
    }

    /// Says that it is an allocation from now on, or from the next command of a stream on.
    #[inline]
    pub(super) fn begin(&self, stream: Option<u64>) {
        let is_fresh = matches!(self.origin, Origin::Device | Origin::Pooled);
        check::begun(stream, self.address..self.address + self.bytes, is_fresh, || self.marks.site());
    }

    /// What the program has to free, if this is it.
    fn left(&self) -> Option<Left> {
        let (what, is_left) = match self.origin {
            Origin::Device => ("device memory", true),
            Origin::Pooled => ("memory of a pool", true),
            Origin::Graph => ("memory of a graph", self.is_allocated()),
            Origin::Variable => ("variable", false),
            Origin::Host => ("host memory", true),
            Origin::Registered => ("registered host memory", true),
            Origin::Managed => ("managed memory", !self.is_managed_variable()),
            Origin::Mapped => ("mapped memory", true),
            Origin::Imported => ("memory of another process", true),
            Origin::External => ("memory of another API", true),
        };
        self.marks.site().filter(|_| is_left).map(|site| Left { what, bytes: self.bytes, site })
    }

    fn is_allocated(&self) -> bool {
        match &self.backing {
            Backing::Owned(owner) => owner.is_allocated(),
            _ => true,
        }
    }

    /// Frees memory that has an owner; `false` if it is free already. Other memory is freed when it leaves the table.
    pub(super) fn end(&self) -> bool {
        match &self.backing {
            Backing::Owned(owner) => owner.end(),
            _ => true,
        }
    }

    fn contains(&self, address: u64) -> bool {
        // A range of no bytes still has an address that can be looked up and freed.
        address == self.address || (self.address..self.address + self.bytes).contains(&address)
    }
}

impl Drop for Region {
    /// Memory that a graph or a pool has goes back to the device with those, and a variable with its module.
    fn drop(&mut self) {
        if !matches!(self.origin, Origin::Graph | Origin::Variable | Origin::Pooled | Origin::Mapped) {
            check::released(self.address..self.address + self.bytes.max(1));
        }
    }
}

/// Where a range of bytes lies.
pub enum Place {
    /// Inside one region.
    Region(Arc<Region>),
    /// Ordinary host memory that no device can reach.
    Pageable,
}

/// The live regions.
#[derive(Default)]
pub struct Table {
    regions: RwLock<BTreeMap<u64, Arc<Region>>>,
}

impl Table {
    /// The region that contains `address`.
    pub fn find(&self, address: u64) -> Option<Arc<Region>> {
        self.containing(address).filter(|region| region.is_there())
    }

    /// The same, be it memory of a pool that is free now.
    fn containing(&self, address: u64) -> Option<Arc<Region>> {
        let regions = self.regions.read();
        let (_, region) = regions.range(..=address).next_back()?;
        region.contains(address).then(|| region.clone())
    }

    /// The region that starts at `address`.
    pub fn at(&self, address: u64) -> Option<Arc<Region>> {
        self.regions.read().get(&address).filter(|region| region.is_there()).cloned()
    }

    /// Where the `bytes` bytes at `address` lie.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a null pointer, or a range that begins in a region and leaves it.
    pub fn place(&self, address: u64, bytes: u64) -> Result<Place> {
        if address == 0 {
            return Err(Error::InvalidValue("null pointer"));
        }
        let Some(region) = self.find(address) else {
            return Ok(Place::Pageable);
        };
        if bytes > region.address + region.bytes - address {
            let joined = address.checked_add(bytes).and_then(|end| self.join(&region, end));
            let joined = joined.ok_or(Error::InvalidValue("the range leaves its allocation"))?;
            return Ok(Place::Region(Arc::new(joined)));
        }
        Ok(Place::Region(region))
    }

    /// The mapped memory from `first` to `end` as one region, if mappings without a gap make it up.
    fn join(&self, first: &Region, end: u64) -> Option<Region> {
        let Backing::Mapped(mapped) = &first.backing else { return None };
        let mut mapped = mapped.clone();
        let mut reached = first.address + first.bytes;
        let regions = self.regions.read();
        while reached < end {
            let next = regions.get(&reached)?;
            let Backing::Mapped(other) = &next.backing else { return None };
            mapped = mapped.joined(other);
            reached = next.address + next.bytes;
        }
        Some(Region {
            address: first.address,
            bytes: reached - first.address,
            origin: first.origin,
            device: first.device,
            flags: first.flags,
            device_address: first.device_address,
            marks: Marks::default(),
            backing: Backing::Mapped(mapped),
        })
    }

    pub(crate) fn insert(&self, region: Region) -> Arc<Region> {
        let region = Arc::new(region);
        // Memory of a graph is there when a launch says so, and that of a pool when its stream is there.
        if !matches!(region.origin, Origin::Graph | Origin::Variable | Origin::Pooled) {
            region.begin(None);
        }
        let replaced = self.regions.write().insert(region.address, region.clone());
        drop(replaced); // With the table open: what ends with it may look into the table.
        region
    }

    /// Forgets the region that starts at `address`, if `accept` agrees.
    pub(crate) fn remove(&self, address: u64, accept: impl FnOnce(&Region) -> bool) -> Option<Arc<Region>> {
        let mut regions = self.regions.write();
        let region = regions.get(&address)?;
        if region.is_there() && accept(region) { regions.remove(&address) } else { None }
    }

    /// Forgets a region.
    pub(crate) fn remove_exactly(&self, region: &Region) -> Option<Arc<Region>> {
        let mut regions = self.regions.write();
        let is_it = regions.get(&region.address).is_some_and(|found| std::ptr::eq(&**found, region));
        if is_it { regions.remove(&region.address) } else { None }
    }

    /// Forgets all regions that `accept` agrees to.
    pub(crate) fn remove_all(&self, accept: impl Fn(&Region) -> bool) -> Vec<Arc<Region>> {
        let mut regions = self.regions.write();
        regions
            .extract_if(.., |_, region| region.is_there() && accept(region))
            .map(|(_, region)| region)
            .collect()
    }

    /// All regions that `accept` agrees to.
    pub(crate) fn regions(&self, accept: impl Fn(&Region) -> bool) -> Vec<Arc<Region>> {
        let regions = self.regions.read();
        regions.values().filter(|region| region.is_there() && accept(region)).cloned().collect()
    }

    /// Bytes of all regions that lie on a device, those of stream-ordered pools not counted.
    pub(crate) fn device_bytes(&self, device: usize) -> u64 {
        let regions = self.regions.read();
        let counts = |r: &Region| r.origin.is_device() && r.origin != Origin::Pooled && r.device == device;
        regions.values().filter(|r| counts(r)).map(|r| r.bytes).sum()
    }

    /// Whether any region overlaps the range.
    pub(crate) fn overlaps(&self, address: u64, bytes: u64) -> bool {
        let regions = self.regions.read();
        regions.range(..address + bytes).next_back().is_some_and(|(_, r)| r.address + r.bytes > address)
    }
}

/// All allocations of the process.
pub(super) struct All;

impl Allocations for All {
    fn extent(&self, address: u64) -> Option<(Range<u64>, u64)> {
        let region = TABLE.containing(address)?;
        Some((region.address..region.address + region.bytes, region.marks.born()))
    }

    fn site(&self, address: u64) -> Option<Arc<Site>> {
        TABLE.at(address).and_then(|region| region.marks.site())
    }

    fn is_of_device(&self, address: u64) -> bool {
        TABLE.containing(address).is_some_and(|region| region.origin.is_device())
    }

    fn left(&self) -> Vec<Left> {
        TABLE.regions(|_| true).iter().filter_map(|region| region.left()).collect()
    }
}
