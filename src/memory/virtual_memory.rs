//! Virtual memory management: addresses first, physical memory later, and which processors may access what.
//!
//! A reservation is addresses, physical memory is a handle, a mapping shows the one at the other, and no processor may
//! touch it before it is given access. The HSA runtime does each of these; here is what a program may ask of them, and
//! the regions by which copies and fills find mapped memory.

use std::{
    collections::BTreeMap,
    fs::File,
    os::fd::{BorrowedFd, OwnedFd},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

pub use hsa::Access;

pub use super::mapped::{PhysicalId, Properties};
use super::{
    Backing, Origin, Place, Region,
    ledger::Processor,
    mapped::{Mapped, Physical},
    peer,
};
use crate::{
    callback, check,
    device::{Device, System},
    error::{Error, Result},
};

/// Refuses an operand in mapped memory that no device may access as `wanted`.
///
/// # Errors
/// [`Error::InvalidValue`].
pub(super) fn check_access(place: &Place, wanted: Access) -> Result<()> {
    let Place::Region(region) = place else { return Ok(()) };
    match &region.backing {
        Backing::Mapped(mapped) if !mapped.lets_any_device(wanted) => {
            crate::error::explain(
                "no device has been given such access to the mapped memory (hipMemSetAccess)",
            );
            Err(Error::InvalidValue("no device may access the mapped memory"))
        }
        _ => Ok(()),
    }
}

#[derive(Default)]
struct State {
    reservations: BTreeMap<u64, hsa::Reservation>,
    /// With how many holds the program has on each.
    handles: BTreeMap<PhysicalId, (Arc<Physical>, u64)>,
    last: u64,
}

static STATE: Mutex<State> =
    Mutex::new(State { reservations: BTreeMap::new(), handles: BTreeMap::new(), last: 0 });

fn state() -> MutexGuard<'static, State> {
    STATE.lock()
}

fn functions() -> Result<hsa::VirtualMemory> {
    System::get()?.runtime().vmem().ok_or_else(|| {
        crate::error::explain("this version of the HSA runtime has no virtual memory functions");
        Error::NotSupported("virtual memory management")
    })
}

/// Whether addresses can be reserved and memory mapped to them.
///
/// # Errors
/// [`Error::NotInitialized`].
pub fn is_supported() -> Result<bool> {
    Ok(System::get()?.runtime().vmem().is_some())
}

/// Bytes of which sizes and addresses of a device's physical memory are multiples: the least, or what wastes least.
pub fn granularity(device: &Device, recommended: bool) -> u64 {
    let pool = device.0.local.properties();
    if recommended { pool.recommended_granule } else { pool.granule }
}

/// The granule of every device's memory.
fn granule() -> Result<u64> {
    let largest = Device::all()?.iter().map(|device| granularity(device, false)).max();
    Ok(largest.unwrap_or(1).max(1))
}

fn whole(bytes: u64) -> Result<()> {
    if bytes == 0 || !bytes.is_multiple_of(granule()?) {
        return Err(Error::InvalidValue("the size is no multiple of the allocation granularity"));
    }
    Ok(())
}

/// Reserves `bytes` of address space at a multiple of `alignment` (0: any): at `wish`, if that is one, a multiple of the
/// granularity and free.
///
/// # Errors
/// [`Error::InvalidValue`] for an alignment that is no power of two; [`Error::OutOfMemory`], also for a size that is no
/// multiple of the granularity, which no addresses can have; [`Error::NotSupported`].
pub fn reserve(bytes: u64, alignment: u64, wish: u64) -> Result<u64> {
    let memory = functions()?;
    if alignment != 0 && !alignment.is_power_of_two() {
        return Err(Error::InvalidValue("the alignment is no power of two"));
    }
    // CAST: a 64-bit process.
    let short = Error::OutOfMemory { bytes: bytes as usize };
    if whole(bytes).is_err() {
        return Err(short);
    }
    let granted = wish.is_multiple_of(granule()?.max(alignment));
    let reservation = memory.reserve(bytes as usize, alignment, if granted { wish } else { 0 });
    let reservation = reservation.map_err(|_| short)?;
    let address = reservation.address();
    state().reservations.insert(address, reservation);
    Ok(address)
}

/// Gives reserved addresses back.
///
/// # Errors
/// [`Error::InvalidValue`] unless they are exactly a reservation, with nothing mapped there.
pub fn unreserve(address: u64, bytes: u64) -> Result<()> {
    functions()?;
    let mut state = state();
    let reservation = state.reservations.get(&address).filter(|r| r.len() as u64 == bytes);
    reservation.ok_or(Error::InvalidValue("not a reservation of this size"))?;
    let table = System::get()?.memory();
    if table.overlaps(address, bytes) {
        return Err(Error::InvalidValue("memory is mapped to the addresses"));
    }
    let reservation = state.reservations.remove(&address);
    drop(state);
    drop(reservation);
    Ok(())
}

/// Makes physical memory of a device.
///
/// # Errors
/// [`Error::InvalidValue`] for a size that is no multiple of the granularity; [`Error::OutOfMemory`];
/// [`Error::NotSupported`].
pub fn create(device: &Device, bytes: u64, shareable: bool) -> Result<PhysicalId> {
    let memory = functions()?;
    whole(bytes)?;
    if shareable && !memory.can_share() {
        return Err(Error::NotSupported("memory that other processes import"));
    }
    // CAST: a 64-bit process.
    let memory = memory.create_pinned(&device.0.local, bytes as usize);
    let memory =
        memory.map_err(|_| crate::memory_report::short(bytes as usize))?.held_by(crate::memory_report::USER);
    Ok(state().add(memory, Properties { device: device.ordinal(), shareable, bytes }))
}

impl State {
    fn add(&mut self, memory: hsa::PhysicalMemory, properties: Properties) -> PhysicalId {
        self.last += 1;
        let id = PhysicalId(self.last);
        self.handles.insert(id, (Arc::new(Physical { id, memory, properties }), 1));
        id
    }

    fn physical(&self, id: PhysicalId) -> Result<&Arc<Physical>> {
        let held = self.handles.get(&id);
        held.map(|(physical, _)| physical).ok_or(Error::InvalidValue("not a handle of physical memory"))
    }
}

/// Ends one hold of the program's on physical memory; what is mapped keeps it.
///
/// # Errors
/// [`Error::InvalidValue`] if it has none.
pub fn release(id: PhysicalId) -> Result<()> {
    let mut state = state();
    let held = state.handles.get_mut(&id).ok_or(Error::InvalidValue("not a handle of physical memory"))?;
    held.1 -= 1;
    let last = if held.1 == 0 { state.handles.remove(&id) } else { None };
    drop(state);
    drop(last);
    Ok(())
}

/// What physical memory is.
///
/// # Errors
/// [`Error::InvalidValue`] if the handle names none.
pub fn properties(id: PhysicalId) -> Result<Properties> {
    Ok(state().physical(id)?.properties)
}

/// Maps the first `bytes` bytes of `id` at `address`, where no processor may access them yet.
///
/// # Errors
/// [`Error::InvalidValue`] unless `id` has as many bytes, `bytes` and `address` are multiples of the granularity, and the
/// range is in a reservation with nothing mapped there.
pub fn map(address: u64, bytes: u64, id: PhysicalId) -> Result<()> {
    functions()?;
    whole(bytes)?;
    if !address.is_multiple_of(granule()?) {
        return Err(Error::InvalidValue("the address is no multiple of the allocation granularity"));
    }
    let state = state();
    let physical = state.physical(id)?.clone();
    if bytes > physical.properties.bytes {
        return Err(Error::InvalidValue("the physical memory has fewer bytes"));
    }
    let (start, reservation) = state.reservation_at(address, bytes)?;
    let table = System::get()?.memory();
    if table.overlaps(address, bytes) {
        return Err(Error::InvalidValue("memory is mapped to the addresses already"));
    }
    // CAST: inside the reservation.
    reservation.map((address - start) as usize, &physical.memory, bytes as usize)?;
    let device = physical.properties.device;
    table.insert(Region {
        address,
        bytes,
        origin: Origin::Mapped,
        device,
        flags: 0,
        device_address: address,
        marks: Default::default(),
        backing: Backing::Mapped(Mapped::new(physical)),
    });
    Ok(())
}

impl State {
    fn reservation_at(&self, address: u64, bytes: u64) -> Result<(u64, &hsa::Reservation)> {
        const OUTSIDE: Error = Error::InvalidValue("the range is not reserved");
        let (&start, reservation) = self.reservations.range(..=address).next_back().ok_or(OUTSIDE)?;
        let end = address.checked_add(bytes).ok_or(OUTSIDE)?;
        if end > start + reservation.len() as u64 { Err(OUTSIDE) } else { Ok((start, reservation)) }
    }
}

/// The mappings that make up a range without a gap, whole ones only.
fn mappings(address: u64, bytes: u64) -> Result<Vec<Arc<Region>>> {
    const PARTIAL: Error = Error::InvalidValue("the range is not made up of whole mappings");
    let end = address.checked_add(bytes).filter(|_| bytes > 0).ok_or(PARTIAL)?;
    let table = System::get()?.memory();
    let mut found = Vec::new();
    let mut at = address;
    while at < end {
        let region = table.at(at).filter(|region| region.origin == Origin::Mapped).ok_or(PARTIAL)?;
        at += region.bytes;
        found.push(region);
    }
    if at == end { Ok(found) } else { Err(PARTIAL) }
}

/// Unmaps a range that whole mappings make up, after all work of the devices that may access it.
///
/// # Errors
/// [`Error::InvalidValue`] otherwise; [`Error::IllegalState`] inside a host function.
pub fn unmap(address: u64, bytes: u64) -> Result<()> {
    callback::refuse_inside()?;
    functions()?;
    for region in mappings(address, bytes)? {
        let Backing::Mapped(mapped) = &region.backing else { continue };
        let may = |device: &&Device| mapped.access(device.ordinal()) != Access::None;
        Device::all()?.iter().filter(may).try_for_each(Device::drain)?;
    }
    // Again, and from here on alone: another thread may have been faster.
    let state = state();
    let (start, reservation) = state.reservation_at(address, bytes)?;
    let table = System::get()?.memory();
    for region in mappings(address, bytes)? {
        // SAFETY: the devices that may access the range have nothing more to do; what the program submits from now on
        // faults.
        // CAST: inside the reservation.
        unsafe { reservation.unmap((region.address - start) as usize) }?;
        table.remove(region.address, |region| region.origin == Origin::Mapped);
    }
    Ok(())
}

/// Sets what processors may do with a range that whole mappings make up; one that is not named keeps what it may.
///
/// # Errors
/// [`Error::InvalidValue`] otherwise; [`Error::InvalidDevice`]; [`Error::Hsa`].
pub fn set_access(address: u64, bytes: u64, wishes: &[(Processor, Access)]) -> Result<()> {
    functions()?;
    let system = System::get()?;
    let mut agents = Vec::new();
    for (processor, access) in wishes {
        let agent = match processor {
            Processor::Host => system.host_agent().clone(),
            Processor::Device(ordinal) => Device::get(*ordinal)?.0.agent.clone(),
        };
        agents.push((agent, *processor, *access));
    }
    let state = state();
    let (start, reservation) = state.reservation_at(address, bytes)?;
    for region in mappings(address, bytes)? {
        let Backing::Mapped(mapped) = &region.backing else { continue };
        // CAST: inside the reservation.
        let (offset, len) = ((region.address - start) as usize, region.bytes as usize);
        for (agent, processor, access) in &agents {
            reservation.set_access(offset, len, std::slice::from_ref(agent), *access)?;
            mapped.rights().set(*processor, *access);
        }
    }
    Ok(())
}

fn mapped_at(address: u64) -> Result<Arc<Region>> {
    let region = System::get()?.memory().find(address).filter(|region| region.origin == Origin::Mapped);
    region.ok_or(Error::InvalidValue("no memory is mapped there"))
}

/// What a processor may do at an address.
///
/// # Errors
/// [`Error::InvalidValue`] if nothing is mapped there; [`Error::InvalidDevice`].
pub fn access(address: u64, processor: Processor) -> Result<Access> {
    if let Processor::Device(ordinal) = processor {
        Device::get(ordinal)?;
    }
    match &mapped_at(address)?.backing {
        Backing::Mapped(mapped) => Ok(mapped.rights().of(processor)),
        _ => Ok(Access::None),
    }
}

/// What kernels on `device` may do with a region of any origin.
pub fn access_of(device: &Device, region: &Region) -> Access {
    match &region.backing {
        Backing::Mapped(mapped) => mapped.access(device.ordinal()),
        _ if peer::reaches(device, region) => Access::ReadWrite,
        _ => Access::None,
    }
}

/// Whether the memory of a region may leave the process as a file descriptor.
pub fn is_shareable(region: &Region) -> bool {
    match &region.backing {
        Backing::Mapped(mapped) => mapped.physical.properties.shareable,
        Backing::Owned(owner) => owner.is_shareable(),
        _ => false,
    }
}

/// Takes one more hold on the physical memory that is mapped at an address: the handle it was mapped with, even if
/// that had been released.
///
/// # Errors
/// [`Error::InvalidValue`] if nothing is mapped there.
pub fn retain(address: u64) -> Result<PhysicalId> {
    let region = mapped_at(address)?;
    let Backing::Mapped(mapped) = &region.backing else {
        return Err(Error::InvalidValue("no memory is mapped there"));
    };
    let physical = mapped.physical.clone();
    let id = physical.id;
    state().handles.entry(id).or_insert((physical, 0)).1 += 1;
    Ok(id)
}

/// A file descriptor by which another process, or another API, imports physical memory.
///
/// # Errors
/// [`Error::InvalidValue`] if the handle names none that was made to be shared; [`Error::OutOfMemory`];
/// [`Error::OperatingSystem`].
pub fn export(id: PhysicalId) -> Result<OwnedFd> {
    let physical = state().physical(id)?.clone();
    if !physical.properties.shareable {
        return Err(Error::InvalidValue("the memory was not made to be shared"));
    }
    let failed = |error: hsa::Error| Error::OperatingSystem(error.to_string());
    physical.memory.export().map_err(|error| Error::of_call(error, failed))
}

/// A handle for the physical memory behind a descriptor, which stays the caller's.
///
/// # Errors
/// [`Error::InvalidValue`] if there is none; [`Error::OutOfMemory`]; [`Error::NotSupported`].
pub fn import(device: &Device, descriptor: BorrowedFd<'_>) -> Result<PhysicalId> {
    let memory = import_memory(descriptor)?;
    let bytes = memory.len() as u64;
    // Memory of no device here counts as that of the one that imports it.
    let owner = Device::all()?.iter().find(|device| memory.pool() == Some(device.0.local.raw()));
    let device = owner.map_or(device.ordinal(), Device::ordinal);
    Ok(state().add(memory, Properties { device, shareable: true, bytes }))
}

/// The memory behind a descriptor.
///
/// # Errors
/// As [`import`].
pub(crate) fn import_memory(descriptor: BorrowedFd<'_>) -> Result<hsa::PhysicalMemory> {
    let functions = functions()?;
    let bytes = size_of_file(descriptor).ok_or(Error::InvalidValue("not a descriptor of memory"))?;
    // CAST: a 64-bit process.
    let memory = functions.import(descriptor, bytes as usize);
    memory.map_err(|error| {
        Error::of_call(error, |error| match error {
            hsa::Error::Unsupported { .. } => Error::NotSupported("importing memory"),
            _ => Error::InvalidValue("the descriptor is no memory that can be imported"),
        })
    })
}

/// Bytes of the file behind a descriptor.
fn size_of_file(descriptor: BorrowedFd<'_>) -> Option<u64> {
    let file = File::from(descriptor.try_clone_to_owned().ok()?);
    // A dma-buf has its size at the end of a seek only; the seek changes a position that nothing uses.
    let mut file = &file;
    let size = std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).ok()?;
    (size > 0).then_some(size)
}

/// The functions of the HSA runtime, for a mapping that is not the program's own.
pub(crate) fn reserve_for(memory: &hsa::PhysicalMemory) -> Result<hsa::Reservation> {
    functions()?.reserve(memory.len(), 0, 0).map_err(|_| Error::OutOfMemory { bytes: memory.len() })
}

/// A dma-buf descriptor of a range of device memory.
///
/// # Errors
/// [`Error::InvalidValue`] for a range that is not within one allocation; [`Error::OutOfMemory`];
/// [`Error::NotSupported`] where memory cannot be exported so, or the range is not the beginning of what a descriptor would give away.
pub fn export_range(address: u64, bytes: u64) -> Result<OwnedFd> {
    let system = System::get()?;
    match system.memory().place(address, bytes)? {
        Place::Region(region) if region.origin.is_device() && bytes > 0 => {}
        _ => return Err(Error::InvalidValue("not a range of device memory")),
    }
    // CAST: a 64-bit process.
    let none = |error| {
        crate::error::explain(format!("no dma-buf of this memory can be had: {error}"));
        Error::NotSupported("a dma-buf of this memory")
    };
    let exported = system.runtime().export_range(address, bytes as usize);
    let (descriptor, offset) = exported.map_err(|error| Error::of_call(error, none))?;
    if offset != 0 {
        crate::error::explain(
            "a dma-buf handle says nothing of an offset: the range must begin its allocation",
        );
        return Err(Error::NotSupported("a dma-buf of a range inside an allocation"));
    }
    check::shared(address..address + bytes);
    Ok(descriptor)
}
