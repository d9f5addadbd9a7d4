//! Memory: allocation on the device and the host, and what the operands of copies and fills are.

mod array;
pub(crate) mod batch;
mod engine;
mod exporter;
pub mod external;
pub mod ipc;
mod ledger;
pub(crate) mod managed;
mod mapped;
mod marks;
pub mod meter;
mod pages;
pub(crate) mod peer;
pub(crate) mod quarantine;
mod relay;
mod rows;
pub(crate) mod stream_pool;
mod table;
pub mod virtual_memory;

use std::sync::{Arc, LazyLock};

use hsa_sys::{HSA_AMD_MEMORY_POOL_STANDARD_FLAG, HSA_AMD_MEMORY_POOL_UNCACHED_FLAG};

pub use array::{Array, ArrayShape, ChannelKind, ElementFormat, MipmappedArray};
pub(crate) use engine::EngineCopy;
pub use ledger::{Advice, Processor};
pub use managed::{Saying, advice, advise, allocate_managed};
pub(crate) use managed::{allocate_managed_variable, forget_managed_variable};
pub use marks::Marks;
pub use peer::{Right, can_access_peer, disable_peer_access, enable_peer_access, link};
pub(crate) use relay::{Relay, Stage};
pub(crate) use rows::rows;
pub use stream_pool::{PoolLimit, PoolOptions, PoolPointer, Reuse, StreamPool, export_pointer};
pub(crate) use table::{Backing, Owner};
pub use table::{Origin, Place, Region, Table};

use parking_lot::Mutex;

use self::quarantine::Quarantine;
use crate::{
    callback, check,
    device::{Device, System},
    error::{Error, Result, explain},
    memory_report,
};
use aqlipse_graph::{CopyKind, Memcpy, Memset, RunCopy, Word};

/// Which ends of a copy lie in host memory that no device reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Reachable,
    /// Both ends lie in pinned host memory.
    Pinned,
    FromHost,
    ToHost,
    HostOnly,
    /// At least one end lies on a device whose memory the copying one may not access.
    Foreign,
}

/// Allocates device memory, at least one byte.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn allocate(device: &Device, bytes: usize) -> Result<Arc<Region>> {
    allocate_from(
        device,
        &device.0.local,
        bytes,
        Kind { caching: HSA_AMD_MEMORY_POOL_STANDARD_FLAG.0, flags: 0 },
        Backing::Allocation,
    )
}

/// As [`allocate`], for an array: [`free`] does not know it by its address.
fn allocate_array(device: &Device, bytes: usize) -> Result<Arc<Region>> {
    let kind = Kind { caching: HSA_AMD_MEMORY_POOL_STANDARD_FLAG.0, flags: 0 };
    allocate_from(device, &device.0.local, bytes, kind, Backing::Array)
}

/// Allocates device memory that host and kernels see alike while kernels run; the caller's `flags` are remembered.
///
/// # Errors
/// [`Error::NotSupported`] if the device has no such memory, [`Error::OutOfMemory`].
pub fn allocate_fine_grained(device: &Device, bytes: usize, flags: u32) -> Result<Arc<Region>> {
    let pool = device.0.fine_grained.as_ref();
    let pool = pool.ok_or(Error::NotSupported("fine-grained memory of this device"))?;
    let kind = Kind { caching: HSA_AMD_MEMORY_POOL_STANDARD_FLAG.0, flags };
    allocate_from(device, pool, bytes, kind, Backing::Allocation)
}

/// Allocates device memory that no cache keeps; the caller's `flags` are remembered.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn allocate_uncached(device: &Device, bytes: usize, flags: u32) -> Result<Arc<Region>> {
    let kind = Kind { caching: HSA_AMD_MEMORY_POOL_UNCACHED_FLAG.0, flags };
    allocate_from(device, &device.0.local, bytes, kind, Backing::Allocation)
}

/// What is special about device memory.
struct Kind {
    /// `HSA_AMD_MEMORY_POOL_*_FLAG`.
    caching: u32,
    /// The flags that the caller asked with.
    flags: u32,
}

fn allocate_from(
    device: &Device,
    pool: &hsa::Pool,
    bytes: usize,
    kind: Kind,
    backing: fn(hsa::Allocation) -> Backing,
) -> Result<Arc<Region>> {
    let peers = device.context().peers.lock();
    let allocate = || pool.allocate_with(padded(bytes), kind.caching);
    let memory = allocate().or_else(|_| {
        // What pools retain is unused.
        device.context().pools.trim();
        drop(FREED.lock().empty());
        allocate()
    });
    let memory = memory.map_err(|_| memory_report::short(bytes))?.held_by(memory_report::USER);
    hand_out(&memory);
    if !peers.is_empty() {
        peer::grant(device, &peers, &memory)?;
    }
    Ok(System::get()?.memory().insert(Region {
        address: memory.address(),
        bytes: bytes as u64,
        origin: Origin::Device,
        device: device.ordinal(),
        flags: kind.flags,
        device_address: memory.address(),
        marks: Default::default(),
        backing: backing(memory),
    }))
}

/// What the program does not get of this memory is in no allocation.
fn hand_out(memory: &hsa::Allocation) {
    check::handed_out(memory.address()..memory.address() + memory.len() as u64, true);
}

/// Bytes to allocate for so many.
// CAST: a page at most.
fn padded(bytes: usize) -> usize {
    bytes.max(1).saturating_add(check::padding() as usize)
}

/// Allocates host memory that every device reaches, near to `device`.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn allocate_host(device: &Device, bytes: usize, origin: Origin, flags: u32) -> Result<Arc<Region>> {
    insert_host(device, &device.0.host, bytes, origin, flags)
}

/// As [`allocate_host`], for memory that host and devices see alike at the ends of launches and not while kernels run.
///
/// # Errors
/// As there.
pub fn allocate_host_coarse_grained(device: &Device, bytes: usize, flags: u32) -> Result<Arc<Region>> {
    insert_host(device, &device.0.coarse_host, bytes, Origin::Host, flags)
}

/// As [`allocate_host`], from the socket that the calling thread's memory policy names (`set_mempolicy(2)`): pages of the
/// process that are pinned. `coarse_grained` as in [`allocate_host_coarse_grained`].
///
/// # Errors
/// [`Error::OutOfMemory`], also where pages cannot be pinned.
pub fn allocate_host_by_policy(
    device: &Device,
    bytes: usize,
    flags: u32,
    coarse_grained: bool,
) -> Result<Arc<Region>> {
    let system = System::get()?;
    let mut pages = memmap2::MmapMut::map_anon(bytes.max(1)).map_err(|_| memory_report::short(bytes))?;
    let pool = coarse_grained.then_some(&device.0.coarse_host);
    let start = pages.as_mut_ptr();
    // SAFETY: the region keeps the pages, and drops them behind the lock.
    let pinned = unsafe { system.runtime().lock(start, pages.len(), &system.gpu_agents(), pool) };
    let pinned = pinned.map_err(|_| memory_report::short(bytes))?;
    Ok(system.memory().insert(Region {
        address: start as u64,
        bytes: bytes as u64,
        origin: Origin::Host,
        device: device.ordinal(),
        flags,
        device_address: pinned.agent_address(),
        marks: Default::default(),
        backing: Backing::Held(Box::new((pinned, pages))),
    }))
}

fn insert_host(
    device: &Device,
    pool: &hsa::Pool,
    bytes: usize,
    origin: Origin,
    flags: u32,
) -> Result<Arc<Region>> {
    let memory = pinned(pool, bytes)?;
    let address = memory.address();
    Ok(System::get()?.memory().insert(Region {
        address,
        bytes: bytes as u64,
        origin,
        device: device.ordinal(),
        flags,
        device_address: address,
        marks: Default::default(),
        backing: Backing::Allocation(memory),
    }))
}

/// Memory of the host that all devices reach.
fn pinned(pool: &hsa::Pool, bytes: usize) -> Result<hsa::Allocation> {
    let memory = pool.allocate(padded(bytes)).map_err(|_| memory_report::short(bytes))?;
    let memory = memory.held_by(memory_report::USER);
    hand_out(&memory);
    memory.allow_access(&System::get()?.gpu_agents())?;
    Ok(memory)
}

/// Frees what [`allocate`], an asynchronous allocation or a graph gave, after all work of its device.
///
/// # Errors
/// [`Error::InvalidValue`] if no such allocation starts at `address`; [`Error::IllegalState`] inside a host function;
/// the fault of earlier work, after the memory is freed.
pub fn free(address: u64) -> Result<()> {
    callback::refuse_inside()?;
    give_back(address)?.check()
}

/// As [`free`], but leaves a fault to be reported to a later call.
pub(crate) fn give_back(address: u64) -> Result<Device> {
    // HIP 7: memory of pools is freed without waiting, as no work may use it any more.
    if let Some(region) = System::get()?.memory().at(address).filter(|r| r.origin == Origin::Pooled) {
        stream_pool::free_now(address)?;
        return Device::get(region.device);
    }
    let freeable = |r: &Region| {
        // Mappings, imports and arrays have calls of their own.
        let others = matches!(r.origin, Origin::Variable | Origin::Mapped | Origin::Imported)
            || matches!(r.backing, Backing::Array(_));
        r.origin.is_device() && !others || r.origin == Origin::Managed && !r.is_managed_variable()
    };
    let (region, device) = idle(address, freeable, "not the start of a device allocation")?;
    if region.origin == Origin::Graph {
        free_graph_memory(&region)?;
        check::ended(None, address, true);
        return Ok(device);
    }
    forget(&region).map(|()| device)
}

/// What was freed last, where programs are checked.
static FREED: Mutex<Quarantine<Arc<Region>>> = Mutex::new(Quarantine::new());

/// Lets go of an idle region. Two threads may free the same address: one of them finds it gone, or another's by now.
fn forget(region: &Region) -> Result<()> {
    let removed = System::get()?.memory().remove_exactly(region).ok_or(Error::InvalidValue("freed twice"))?;
    check::ended(None, region.address, true);
    if check::padding() > 0 {
        drop(FREED.lock().keep(region.bytes, removed));
    }
    Ok(())
}

/// The region at `address` and its device, when the device has nothing more to do with it.
fn idle(
    address: u64,
    accept: impl Fn(&Region) -> bool,
    refused: &'static str,
) -> Result<(Arc<Region>, Device)> {
    let region = System::get()?.memory().at(address).filter(|r| accept(r));
    let region = region.ok_or_else(|| {
        check::freed_nothing(address);
        Error::InvalidValue(refused)
    })?;
    let device = Device::get(region.device)?;
    // A host function cannot wait for what waits for it. What it lets go of last, nothing else uses.
    if !callback::is_inside() {
        device.drain()?;
    }
    Ok((region, device))
}

/// Frees everything that was allocated or registered while `device` was current, after all of its work; variables and
/// the memory of graphs have other owners, and mapped memory stays until it is unmapped.
///
/// # Errors
/// [`Error::IllegalState`] inside a host function.
pub fn free_all(device: &Device) -> Result<()> {
    callback::refuse_inside()?;
    device.drain()?;
    let owned = |r: &Region| {
        !matches!(r.origin, Origin::Variable | Origin::Graph | Origin::Mapped) && !r.is_managed_variable()
    };
    let removed = System::get()?.memory().remove_all(|r| r.device == device.ordinal() && owned(r) && r.end());
    removed.iter().for_each(|region| check::ended(None, region.address, true));
    removed.into_iter().for_each(stream_pool::take_back_idle);
    device.context().pools.release();
    Ok(())
}

/// Gives back an allocation that a launched graph left behind.
pub(crate) fn free_graph_memory(region: &Region) -> Result<()> {
    if region.end() {
        return Ok(());
    }
    check::freed_nothing(region.address);
    explain("the graph frees the allocation itself, or no launch has made it, or it is freed already");
    Err(Error::InvalidValue("the graph's allocation is not live"))
}

/// Frees what [`allocate_host`] gave, after all work of its device.
///
/// # Errors
/// As [`free`].
pub fn free_host(address: u64) -> Result<()> {
    callback::refuse_inside()?;
    give_back_host(address)?.check()
}

/// As [`free_host`], but leaves a fault to be reported to a later call.
pub(crate) fn give_back_host(address: u64) -> Result<Device> {
    let is_host = |r: &Region| r.origin == Origin::Host;
    let (region, device) = idle(address, is_host, "not the start of a pinned host allocation")?;
    forget(&region).map(|()| device)
}

/// Pins the caller's own memory, so that every device reaches it. Memory that devices reach already, from the same
/// address on, is registered once more: it stays until it is unregistered as often.
///
/// # Errors
/// [`Error::InvalidValue`] for a range that is not mapped; [`Error::AlreadyRegistered`] if a part of it is known
/// already; [`Error::Hsa`] if the pages cannot be pinned.
///
/// # Safety
/// The range stays mapped until it is unregistered.
pub unsafe fn register(device: &Device, address: u64, bytes: u64, flags: u32) -> Result<()> {
    if address == 0 || bytes == 0 || address.checked_add(bytes).is_none() {
        return Err(Error::InvalidValue("an empty or null range"));
    }
    let system = System::get()?;
    let marks = Marks::default();
    if let Some(known) = system.memory().at(address) {
        // The driver follows the pages: what is mapped at a registered address by now is what devices reach.
        if bytes <= known.bytes {
            known.marks.register_again();
            return Ok(());
        }
        if known.origin != Origin::Registered {
            return Err(Error::AlreadyRegistered);
        }
        // A longer mapping took the place of one that was not unregistered: the HSA runtime knows locks by their
        // addresses, so the shorter one ends first.
        callback::refuse_inside()?;
        Device::get(known.device)?.drain()?;
        drop(system.memory().remove_exactly(&known));
        marks.register_after(&known.marks);
    }
    if system.memory().overlaps(address, bytes) {
        return Err(Error::AlreadyRegistered);
    }
    // SAFETY: the caller's promise.
    let pinned = unsafe {
        system.runtime().lock(address as usize as *mut u8, bytes as usize, &system.gpu_agents(), None)
    };
    let pinned = pinned.map_err(|error| match Error::from(error) {
        Error::OutOfMemory { .. } if !is_mapped(address, bytes) => {
            Error::InvalidValue("a part of the range is not mapped")
        }
        error => error,
    })?;
    system.memory().insert(Region {
        address,
        bytes,
        origin: Origin::Registered,
        device: device.ordinal(),
        flags,
        device_address: pinned.agent_address(),
        marks,
        backing: Backing::Held(Box::new(pinned)),
    });
    Ok(())
}

/// Undoes [`register`].
///
/// # Errors
/// [`Error::NotRegistered`].
pub fn unregister(address: u64) -> Result<()> {
    let table = System::get()?.memory();
    let region = table.at(address).ok_or(Error::NotRegistered)?;
    callback::refuse_inside()?;
    if region.marks.unregister_again() {
        return Ok(());
    }
    if region.origin != Origin::Registered {
        return Err(Error::NotRegistered);
    }
    let device = Device::get(region.device)?;
    device.drain()?;
    table.remove_exactly(&region).ok_or(Error::NotRegistered)?;
    check::ended(None, address, true);
    device.check()
}

/// Whether the program has all pages of a range.
fn is_mapped(address: u64, bytes: u64) -> bool {
    const PAGE: u64 = 4096;
    let start = address & !(PAGE - 1);
    let Some(end) = address.checked_add(bytes) else { return false };
    // SAFETY: MS_ASYNC only looks whether there are pages, and starts no write.
    unsafe { libc::msync(start as usize as *mut libc::c_void, (end - start) as usize, libc::MS_ASYNC) == 0 }
}

/// Pins pages for one device, for the time of one copy.
///
/// # Safety
/// The range stays mapped until the result is dropped.
pub(crate) unsafe fn pin(device: &Device, address: u64, bytes: u64) -> Result<hsa::Pinned> {
    let agent = std::slice::from_ref(&device.0.agent);
    // SAFETY: the caller's promise.
    Ok(unsafe { device.0.system.runtime().lock(address as usize as *mut u8, bytes as usize, agent, None) }?)
}

/// Where the ends of a copy by `device` lie. The pointers decide, as under unified addressing; a direction that
/// contradicts them is only the caller's opinion, unless it names a device where no end is any device's.
///
/// # Errors
/// [`Error::InvalidValue`] for a null end, one that leaves its allocation or rows wider than their pitch.
pub(crate) fn check_memcpy(device: &Device, copy: &Memcpy) -> Result<Ends> {
    let ends = places(copy)?;
    let foreign = |place: &Place| matches!(place, Place::Region(region) if !peer::reaches(device, region));
    if foreign(&ends.0) || foreign(&ends.1) {
        return Ok(Ends::Foreign);
    }
    Ok(match ends {
        (Place::Region(dst), Place::Region(src)) if is_pinned(&dst) && is_pinned(&src) => Ends::Pinned,
        (Place::Region(_), Place::Region(_)) => Ends::Reachable,
        (Place::Region(_), Place::Pageable) => Ends::FromHost,
        (Place::Pageable, Place::Region(_)) => Ends::ToHost,
        // HIP: measured on 5.2.3 (tests/conformance/memcpy_kinds.cpp).
        (Place::Pageable, Place::Pageable) if names_a_device(copy.kind()) => {
            return Err(Error::InvalidValue("neither end is memory of a device"));
        }
        (Place::Pageable, Place::Pageable) => Ends::HostOnly,
    })
}

fn is_pinned(region: &Region) -> bool {
    matches!(region.origin, Origin::Host | Origin::Registered)
}

/// Whether a synchronous copy must be waited for: not if both ends lie on devices, unless one of them is
/// [marked](Marks::is_synchronous).
///
/// # Errors
/// As [`check_copy`].
pub fn waits_for_copy(copy: &Memcpy) -> Result<bool> {
    let (dst, src) = places(copy)?;
    Ok([dst, src].iter().any(|place| match place {
        Place::Region(region) => waits_for(region),
        Place::Pageable => true,
    }))
}

/// Whether a synchronous fill of the memory at `address` must be waited for: that of host memory, and of allocations
/// that are [marked](Marks::is_synchronous).
///
/// # Errors
/// [`Error::NotInitialized`].
pub fn waits_for_fill(address: u64) -> Result<bool> {
    Ok(find(address)?.is_none_or(|region| waits_for(&region)))
}

fn waits_for(region: &Region) -> bool {
    !region.origin.is_device() || region.marks.is_synchronous()
}

fn names_a_device(kind: CopyKind) -> bool {
    !matches!(kind, CopyKind::HostToHost | CopyKind::Inferred)
}

/// Whether an end of a copy lies in ordinary host memory.
pub(crate) fn is_pageable(copy: &Memcpy) -> Result<bool> {
    let (dst, src) = places(copy)?;
    Ok(matches!(dst, Place::Pageable) || matches!(src, Place::Pageable))
}

/// Where the destination and the source of a copy lie.
fn places(copy: &Memcpy) -> Result<(Place, Place)> {
    if let Memcpy::Box(b) = copy {
        let [width, height, depth] = b.extent;
        for surface in [&b.dst, &b.src] {
            let row_end = width.checked_add(surface.corner[0]);
            if (height > 1 || depth > 1) && row_end.is_none_or(|end| end > surface.pitch) {
                return Err(Error::InvalidValue("the rows of a copy leave the rows of the memory"));
            }
        }
    }
    const LEAVES: Error = Error::InvalidValue("the copy leaves the address space");
    let table = System::get()?.memory();
    if let Memcpy::Box(b) = copy
        && !copy.is_empty()
    {
        for surface in [&b.dst, &b.src] {
            // A corner behind the allocation would be taken for host memory.
            let corner = surface.corner_address().ok_or(LEAVES)?;
            if table.find(surface.address).is_some_and(|region| corner - region.address >= region.bytes) {
                return Err(Error::InvalidValue("the corner of a box lies outside its allocation"));
            }
        }
    }
    let (dst, dst_bytes) = copy.destination_span().ok_or(LEAVES)?;
    let (src, src_bytes) = copy.source_span().ok_or(LEAVES)?;
    let places = (table.place(dst, dst_bytes)?, table.place(src, src_bytes)?);
    virtual_memory::check_access(&places.0, hsa::Access::ReadWrite)?;
    virtual_memory::check_access(&places.1, hsa::Access::Read)?;
    Ok(places)
}

/// Whether `device` may access what a fill, which has been checked, writes.
pub(crate) fn fill_reaches(device: &Device, set: &Memset) -> bool {
    let region = System::get().ok().and_then(|system| system.memory().find(set.dst));
    region.is_none_or(|region| peer::reaches(device, &region))
}

/// The pool that the allocation containing `address` was taken from, if it was from one.
///
/// # Errors
/// [`Error::NotInitialized`].
pub fn pool_of(address: u64) -> Result<Option<StreamPool>> {
    let region = System::get()?.memory().find(address);
    Ok(region.and_then(|region| region.grant()).map(|grant| grant.pool()))
}

/// How the allocation that starts at `address` came to be.
///
/// # Errors
/// [`Error::NotInitialized`].
pub fn origin_at(address: u64) -> Result<Option<Origin>> {
    Ok(System::get()?.memory().at(address).map(|region| region.origin))
}

/// The allocation that contains `address`.
///
/// # Errors
/// [`Error::NotInitialized`].
pub fn find(address: u64) -> Result<Option<Arc<Region>>> {
    Ok(System::get()?.memory().find(address))
}

/// Lets copies find a module's variable, which lies in memory that the HSA runtime placed; until it is forgotten.
///
/// # Errors
/// [`Error::NotInitialized`].
pub(crate) fn know_variable(device: &Device, address: u64, bytes: u64) -> Result<()> {
    let table = System::get()?.memory();
    if table.find(address).is_none() {
        table.insert(Region {
            address,
            bytes,
            origin: Origin::Variable,
            device: device.ordinal(),
            flags: 0,
            device_address: address,
            marks: Default::default(),
            backing: Backing::Elsewhere,
        });
    }
    Ok(())
}

/// Undoes [`know_variable`], before the variable's memory is used for something else.
pub(crate) fn forget_variable(address: u64) {
    if let Ok(system) = System::get() {
        system.memory().remove(address, |region| region.origin == Origin::Variable);
    }
    check::released(address..address + 1);
}

/// Refuses a copy whose operands cannot be copied.
///
/// # Errors
/// [`Error::InvalidValue`] for a null end, one that leaves its allocation or rows wider than their pitch.
pub fn check_copy(copy: &Memcpy) -> Result<()> {
    places(copy).map(drop)
}

/// Refuses a word that no device could write or wait for.
///
/// # Errors
/// [`Error::InvalidValue`] for an address that is not aligned or not in memory that a device reaches.
pub fn check_word(address: u64, word: Word) -> Result<()> {
    if !address.is_multiple_of(word.bytes()) {
        return Err(Error::InvalidValue("the word is not aligned"));
    }
    match System::get()?.memory().place(address, word.bytes())? {
        Place::Region(_) => Ok(()),
        Place::Pageable => Err(Error::InvalidValue("the word lies in memory that no device reaches")),
    }
}

/// Refuses a fill whose operand cannot be filled.
///
/// # Errors
/// [`Error::InvalidValue`] for an element size other than 1, 2, 4 or 8, a pitch below the width, or rows that
/// leave their allocation or lie in memory that no device reaches.
pub fn check_fill(set: Memset) -> Result<()> {
    check_memset(set).map(drop)
}

/// The copy with the addresses by which the device knows its ends.
pub(crate) fn device_addresses(copy: &Memcpy) -> Memcpy {
    let Ok(system) = System::get() else { return copy.clone() };
    let translated = |address: u64| {
        let region = system.memory().find(address)?;
        (region.device_address != region.address).then(|| region.device_address + (address - region.address))
    };
    let mut copy = copy.clone();
    if let Some(address) = copy.source_span().and_then(|(address, _)| translated(address)) {
        copy = copy.with_source(address);
    }
    if let Some(address) = copy.destination_span().and_then(|(address, _)| translated(address)) {
        copy = copy.with_destination(address);
    }
    copy
}

/// A fill with its operand checked.
///
/// # Errors
/// [`Error::InvalidValue`] for an element size other than 1, 2, 4 or 8, a pitch below the width, or rows that
/// leave their allocation or lie in memory that no device reaches.
pub(crate) fn check_memset(mut set: Memset) -> Result<Memset> {
    if !matches!(set.element_size, 1 | 2 | 4 | 8) {
        return Err(Error::InvalidValue("the element size must be 1, 2, 4 or 8"));
    }
    const LEAVES: Error = Error::InvalidValue("the fill leaves the address space");
    let row = set.width.checked_mul(u64::from(set.element_size)).ok_or(LEAVES)?;
    if set.height > 1 && set.pitch < row {
        return Err(Error::InvalidValue("the pitch is smaller than the width"));
    }
    let before = set.height.saturating_sub(1).checked_mul(set.pitch).ok_or(LEAVES)?;
    let bytes = if set.height == 0 { 0 } else { before.checked_add(row).ok_or(LEAVES)? };
    let place = System::get()?.memory().place(set.dst, bytes)?;
    virtual_memory::check_access(&place, hsa::Access::ReadWrite)?;
    match place {
        Place::Region(region) => {
            set.dst = region.device_address + (set.dst - region.address);
            Ok(set)
        }
        Place::Pageable => Err(Error::InvalidValue("the destination is not device memory")),
    }
}

/// Host memory as bytes.
///
/// # Safety
/// The range is readable, and is not written while the slice lives.
pub(crate) unsafe fn host_bytes<'a>(address: u64, bytes: u64) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(address as usize as *const u8, bytes as usize) }
}

/// Host memory as writable bytes.
///
/// # Safety
/// The range is writable, and nothing else uses it while the slice lives.
pub(crate) unsafe fn host_bytes_mut<'a>(address: u64, bytes: u64) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(address as usize as *mut u8, bytes as usize) }
}

/// Copies between two ranges of host memory, row by row.
///
/// # Safety
/// Both ends are valid for the bytes that the copy describes.
pub(crate) unsafe fn host_copy(copy: &Memcpy) {
    for RunCopy { dst, src, bytes } in rows(copy).into_iter().flatten() {
        // SAFETY: the caller's promise; `copy` allows the ends to overlap.
        unsafe {
            std::ptr::copy(src as usize as *const u8, dst as usize as *mut u8, bytes as usize);
        }
    }
}

impl Device {
    /// Bytes of device memory: free, and in all.
    pub fn memory_info(&self) -> (u64, u64) {
        let all = self.0.properties.total_memory;
        let free = self.0.agent.memory_available().unwrap_or_else(|_| {
            // ROCr 5.2.3 does not tell: what this process has allocated is all that is known.
            let pooled = self.context().pools.mapped_bytes();
            all.saturating_sub(self.0.system.memory().device_bytes(self.0.ordinal) + pooled)
        });
        (free, all)
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    check::know(&table::All);
    Table::default()
});

impl System {
    /// Every allocation of the process.
    pub fn memory(&self) -> &'static Table {
        &TABLE
    }
}

#[cfg(test)]
mod tests {
    use hsa_sys::{
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
        HSA_EXT_POINTER_TYPE_HSA, HSA_EXT_POINTER_TYPE_LOCKED,
    };

    use super::*;

    #[test]
    fn host_memory_is_as_coherent_as_it_is_asked_for_and_pinned_pages_are_the_callers() {
        let device = Device::get(0).unwrap();
        let about = |region: &Region| {
            let runtime = System::get().unwrap().runtime();
            runtime.pointer_info(region.address).unwrap().unwrap()
        };
        let (fine, coarse) = (
            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED.0,
            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED.0,
        );
        for (region, grain) in [
            (allocate_host(&device, 100, Origin::Host, 0).unwrap(), fine),
            (allocate_host_coarse_grained(&device, 100, 0).unwrap(), coarse),
        ] {
            let about = about(&region);
            assert_eq!(about.kind, HSA_EXT_POINTER_TYPE_HSA);
            assert_eq!(about.flags & (fine | coarse), grain);
            free_host(region.address).unwrap();
        }
        for coarse_grained in [false, true] {
            let region = allocate_host_by_policy(&device, 100, 0, coarse_grained).unwrap();
            assert_eq!(about(&region).kind, HSA_EXT_POINTER_TYPE_LOCKED);
            free_host(region.address).unwrap();
            let after = System::get().unwrap().runtime().pointer_info(region.address).unwrap();
            assert!(after.is_some(), "pinned as long as the region lives");
            drop(region);
        }
        assert!(allocate_host_by_policy(&device, usize::MAX / 4, 0, false).is_err());
    }
}
