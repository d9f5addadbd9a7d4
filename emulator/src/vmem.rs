//! Virtual memory: reserved addresses, physical memory without an address, and mappings between them.
//!
//! Physical memory is in files, so that one handle can be shown at several addresses. An unmapped range
//! disappears only when the last wave that may still touch it has let its snapshot go, unless it is
//! mapped anew before.

mod share;
pub(crate) mod store;

use std::{collections::BTreeMap, sync::Arc};

use hsa_sys::{
    HSA_STATUS_ERROR, HSA_STATUS_ERROR_INVALID_ALLOCATION, HSA_STATUS_ERROR_INVALID_ARGUMENT,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES, HSA_STATUS_ERROR_RESOURCE_FREE, MEMORY_TYPE_PINNED, hsa_status_t,
};
use parking_lot::Mutex;

use self::store::{Bytes, Store};
use crate::{
    device::Device,
    heap::{Kind, Pool},
    memory::{Allocation, Grain},
    os::{
        Mapping, PAGE,
        hidden::{self, HostAccess},
    },
};

/// What an agent may do with a mapped range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permission {
    None,
    Read,
    ReadWrite,
}

/// Reserved addresses, and which mapping shows where at the moment.
struct Reservation {
    mapping: Mapping,
    /// By offset: end and identity of the range shown there.
    shown: Mutex<BTreeMap<usize, (usize, u64)>>,
}

impl Reservation {
    fn end(&self) -> u64 {
        self.mapping.address() + self.mapping.size() as u64
    }
}

/// A range that shows physical memory; dropped when neither the program nor a wave needs it.
struct Shown {
    reservation: Arc<Reservation>,
    offset: usize,
    size: usize,
    identity: u64,
    /// Keeps the pages.
    _bytes: Arc<Bytes>,
}

impl Drop for Shown {
    fn drop(&mut self) {
        let mut shown = self.reservation.shown.lock();
        if shown.get(&self.offset).is_some_and(|(_, identity)| *identity == self.identity) {
            shown.remove(&self.offset);
            if let Err(error) = self.reservation.mapping.hide(self.offset, self.size) {
                tracing::warn!(%error, "an unmapped range stays visible to the host");
            }
        }
    }
}

/// Physical memory of a pool, as long as the program has it. A wave may keep the pages for longer, but they do not count
/// then: the next wave does not see them.
struct Physical {
    memory: Arc<Bytes>,
    size: usize,
    pool: Pool,
    kind: u32,
    device: Option<Arc<Device>>,
}

impl Drop for Physical {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            device.give_back(self.size as u64);
        }
    }
}

struct MappedRange {
    size: usize,
    /// Where in its handle it begins.
    from: usize,
    shown: Arc<Shown>,
    physical: Arc<Physical>,
    handle: u64,
    gpus: Vec<Permission>,
    host: Permission,
}

impl MappedRange {
    /// Gives the host the access that it has, to memory that is hidden from it otherwise.
    fn open(&self, start: u64) -> Result<(), hsa_status_t> {
        let access = match self.host {
            Permission::None => HostAccess::None,
            Permission::Read => HostAccess::Read,
            Permission::ReadWrite => HostAccess::ReadWrite,
        };
        hidden::open(start, self.size as u64, access).map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    }
}

#[derive(Default)]
struct State {
    reservations: BTreeMap<u64, Arc<Reservation>>,
    /// With how many holds the program has on each.
    handles: BTreeMap<u64, (Arc<Physical>, u32)>,
    mapped: BTreeMap<u64, MappedRange>,
    next: u64,
}

/// What is known about an address of a reservation.
pub(crate) struct Known {
    pub(crate) base: u64,
    pub(crate) size: u64,
    /// The pool behind it, if it is mapped.
    pub(crate) pool: Option<Pool>,
    /// GPUs that may at least read it.
    pub(crate) access: u32,
    /// Whether the host may.
    pub(crate) open: bool,
}

/// The virtual-memory side of the runtime.
pub(crate) struct VirtualMemory {
    devices: Arc<[Arc<Device>]>,
    store: Store,
    state: Mutex<State>,
}

fn whole_pages(value: u64) -> bool {
    value.is_multiple_of(PAGE as u64)
}

/// Upper half of every handle, so that a small number or an address is none.
const TAG: u64 = 0x766d_656d << 32;

/// Calls of the kernel driver for each address at which a device is let reach a handle.
const CALLS_TO_MAP: u64 = 3;

impl VirtualMemory {
    /// Nothing reserved, nothing mapped.
    pub(crate) fn new(devices: Arc<[Arc<Device>]>) -> Self {
        Self { devices, store: Store::default(), state: Mutex::default() }
    }

    /// Takes `size` bytes of address space: at `wish`, if that is whole pages at a multiple of the alignment and free, for
    /// HSA lets the runtime choose another place.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless size is whole pages and alignment 0 or a power of two;
    /// `OUT_OF_RESOURCES` if the address space is full.
    pub(crate) fn reserve(&self, size: usize, alignment: u64, wish: u64) -> Result<u64, hsa_status_t> {
        let aligned = alignment == 0 || alignment.is_power_of_two();
        if size == 0 || !whole_pages(size as u64) || !aligned {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let granted = wish != 0 && whole_pages(wish) && (alignment == 0 || wish.is_multiple_of(alignment));
        // What is hidden from the host has addresses of its own.
        let there = if granted { Mapping::reserve_for_devices_at(wish, size).ok() } else { None };
        let anywhere = || Mapping::reserve_for_devices(size, usize::try_from(alignment).ok()?).ok();
        let mapping = there.or_else(anywhere).ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        let base = mapping.address();
        let reservation = Arc::new(Reservation { mapping, shown: Mutex::default() });
        self.state.lock().reservations.insert(base, reservation);
        Ok(base)
    }

    /// Gives a reservation back.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if it is none, `INVALID_ARGUMENT` if the size is another,
    /// `RESOURCE_FREE` while something is mapped there.
    pub(crate) fn free(&self, base: u64, size: usize) -> Result<(), hsa_status_t> {
        let mut state = self.state.lock();
        let reservation = state.reservations.get(&base).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        if reservation.mapping.size() != size {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        if state.mapped.range(base..reservation.end()).next().is_some() {
            return Err(HSA_STATUS_ERROR_RESOURCE_FREE);
        }
        state.reservations.remove(&base);
        Ok(())
    }

    /// Makes `size` bytes of physical memory of `pool`. Pinned memory can always leave the process, and large or little
    /// memory; of many small handles that were not asked to be pinned, some cannot.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless size is whole pages, `INVALID_ALLOCATION` for the group pool,
    /// `OUT_OF_RESOURCES` when there is no such memory.
    pub(crate) fn create(&self, pool: Pool, size: usize, kind: u32) -> Result<u64, hsa_status_t> {
        if size == 0 || !whole_pages(size as u64) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        if pool.kind == Kind::Group {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        if size as u64 > pool.size(&self.devices) {
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        let device = pool.gpu().and_then(|gpu| self.devices.get(gpu as usize)).cloned();
        if let Some(device) = &device
            && !device.take(size as u64)
        {
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        device.iter().for_each(|device| device.tally.handle_calls.add_shared(1));
        let pinned = kind == MEMORY_TYPE_PINNED.0;
        let memory = match self.store.take(&share::name(pool, kind), size, pinned) {
            Ok(memory) => memory,
            Err(error) => {
                tracing::warn!(size, %error, "the host has no room for a virtual-memory handle");
                if let Some(device) = device {
                    device.give_back(size as u64);
                }
                return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            }
        };
        Ok(self.add(Physical { memory: Arc::new(memory), size, pool, kind, device }))
    }

    /// A handle for physical memory.
    fn add(&self, physical: Physical) -> u64 {
        let mut state = self.state.lock();
        state.next += 1;
        let handle = TAG | state.next;
        state.handles.insert(handle, (Arc::new(physical), 1));
        handle
    }

    /// Ends one hold of the program's on a handle; mappings keep the memory.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if the handle is none.
    pub(crate) fn release(&self, handle: u64) -> Result<(), hsa_status_t> {
        let mut state = self.state.lock();
        let (_, holds) = state.handles.get_mut(&handle).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        *holds -= 1;
        if *holds == 0 {
            state.handles.remove(&handle);
        }
        Ok(())
    }

    /// Shows `size` bytes of a handle, from `offset`, at `at`. No device may touch it yet.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` for a bad handle or an address outside every reservation,
    /// `INVALID_ARGUMENT` for a range that is no whole pages, too long, or mapped already.
    pub(crate) fn map(&self, at: u64, size: usize, offset: usize, handle: u64) -> Result<(), hsa_status_t> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let (physical, _) = state.handles.get(&handle).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let (base, reservation) =
            state.reservations.range(..=at).next_back().ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let end = at.checked_add(size as u64).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        if at >= reservation.end() {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let inside = offset.checked_add(size).is_some_and(|e| e <= physical.size) && end <= reservation.end();
        let pages = whole_pages(at) && whole_pages(size as u64) && whole_pages(offset as u64) && size > 0;
        let below = state.mapped.range(..at).next_back();
        let free = state.mapped.range(at..end).next().is_none()
            && below.is_none_or(|(start, range)| start + range.size as u64 <= at);
        if !inside || !pages || !free {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let place = (at - base) as usize;
        let mut shown = reservation.shown.lock();
        // Ranges that waves still hold after an unmap lose their claim to these pages.
        let below =
            shown.range(..place).next_back().filter(|(_, (stop, _))| *stop > place).map(|(start, _)| *start);
        let within: Vec<usize> =
            shown.range(place..place + size).map(|(start, _)| *start).chain(below).collect();
        for start in within {
            shown.remove(&start);
        }
        let (file, from) = physical.memory.place();
        if let Err(error) = reservation.mapping.show(place, file, from + offset, size) {
            tracing::warn!(%error, "mapping virtual memory");
            return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        }
        state.next += 1;
        let identity = state.next;
        shown.insert(place, (place + size, identity));
        drop(shown);
        let range = MappedRange {
            size,
            from: offset,
            shown: Arc::new(Shown {
                reservation: Arc::clone(reservation),
                offset: place,
                size,
                identity,
                _bytes: Arc::clone(&physical.memory),
            }),
            physical: Arc::clone(physical),
            handle,
            gpus: vec![Permission::None; self.devices.len()],
            host: Permission::None,
        };
        state.mapped.insert(at, range);
        Ok(())
    }

    /// Undoes one [`VirtualMemory::map`], named by its address and size.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if nothing is mapped there so.
    pub(crate) fn unmap(&self, at: u64, size: usize) -> Result<(), hsa_status_t> {
        let mut state = self.state.lock();
        if state.mapped.get(&at).is_none_or(|range| range.size != size) {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let range = state.mapped.remove(&at);
        for (device, permission) in self.devices.iter().zip(range.iter().flat_map(|r| &r.gpus)) {
            if *permission != Permission::None {
                device.map.remove(at);
            }
        }
        Ok(())
    }

    /// Says what agents may do with `at..at + size`, which whole mappings must make up.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if they do not.
    pub(crate) fn set_access(
        &self,
        at: u64,
        size: usize,
        wishes: &[(Option<u32>, Permission)],
    ) -> Result<(), hsa_status_t> {
        let mut state = self.state.lock();
        let end = at.checked_add(size as u64).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let mut expected = at;
        for (start, range) in state.mapped.range(at..end) {
            if *start != expected {
                return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
            }
            expected = start + range.size as u64;
        }
        if expected != end || size == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        for (start, range) in state.mapped.range_mut(at..end) {
            for (gpu, permission) in wishes {
                let Some(gpu) = *gpu else {
                    range.host = *permission;
                    range.open(*start)?;
                    continue;
                };
                let device = self.devices.get(gpu as usize).ok_or(HSA_STATUS_ERROR)?;
                let before = std::mem::replace(&mut range.gpus[gpu as usize], *permission);
                if before == *permission {
                    continue;
                }
                if before != Permission::None {
                    device.map.remove(*start);
                }
                if *permission != Permission::None {
                    device.tally.handle_calls.add_shared(CALLS_TO_MAP);
                    device.show(Allocation {
                        start: *start,
                        end: start + range.size as u64,
                        writable: *permission == Permission::ReadWrite,
                        // One page may be mapped at several addresses.
                        grain: Grain::Uncached,
                        socket: range.physical.pool.owner.socket(),
                        backing: Some(Arc::clone(&range.shown) as Arc<dyn Send + Sync>),
                    });
                }
            }
        }
        Ok(())
    }

    /// What an agent (`None`: the host) may do at an address.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if nothing is mapped there.
    pub(crate) fn access(&self, at: u64, gpu: Option<u32>) -> Result<Permission, hsa_status_t> {
        let state = self.state.lock();
        let range = Self::range_at(&state, at).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?.1;
        match gpu {
            Some(gpu) => range.gpus.get(gpu as usize).copied().ok_or(HSA_STATUS_ERROR),
            None => Ok(range.host),
        }
    }

    /// Takes one more hold on the handle that is mapped at an address.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if nothing is mapped there.
    pub(crate) fn retain(&self, at: u64) -> Result<u64, hsa_status_t> {
        let mut state = self.state.lock();
        let range = Self::range_at(&state, at).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?.1;
        let (handle, physical) = (range.handle, Arc::clone(&range.physical));
        state.handles.entry(handle).or_insert((physical, 0)).1 += 1;
        Ok(handle)
    }

    /// Pool and kind of the memory behind a handle.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if the handle is none.
    pub(crate) fn properties(&self, handle: u64) -> Result<(Pool, u32), hsa_status_t> {
        let state = self.state.lock();
        let (physical, _) = state.handles.get(&handle).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        Ok((physical.pool, physical.kind))
    }

    fn range_at(state: &State, at: u64) -> Option<(u64, &MappedRange)> {
        let (start, range) = state.mapped.range(..=at).next_back()?;
        (at - start < range.size as u64).then_some((*start, range))
    }

    /// What is known about an address.
    pub(crate) fn find(&self, at: u64) -> Option<Known> {
        let state = self.state.lock();
        if let Some((base, range)) = Self::range_at(&state, at) {
            let bit =
                |(gpu, permission): (usize, &Permission)| u32::from(*permission != Permission::None) << gpu;
            let access = range.gpus.iter().enumerate().map(bit).sum();
            let open = !hidden::is_hidden(base) || range.host != Permission::None;
            return Some(Known {
                base,
                size: range.size as u64,
                pool: Some(range.physical.pool),
                access,
                open,
            });
        }
        let (base, reservation) = state.reservations.range(..=at).next_back()?;
        (at < reservation.end()).then(|| Known {
            base: *base,
            size: reservation.mapping.size() as u64,
            pool: None,
            access: 0,
            open: false,
        })
    }

    /// Whether mappings cover `start..start + size`.
    pub(crate) fn covers(&self, start: u64, size: u64) -> bool {
        let state = self.state.lock();
        let Some(end) = start.checked_add(size) else { return false };
        let mut at = start;
        while at < end {
            match Self::range_at(&state, at) {
                Some((base, range)) => at = base + range.size as u64,
                None => return false,
            }
        }
        true
    }
}
