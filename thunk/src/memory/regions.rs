//! Allocations and registrations, by address.

use std::{collections::BTreeMap, ffi::c_void, sync::Arc};

use emulator::{
    Agent, MAX_DEVICES,
    driver::{Access, Bytes, Home},
    os::PAGE,
};

use super::{
    Backing, Charge, Reach,
    shown::{Owner, Range, Shown},
    windows::Reservation,
};
use crate::{
    abi::{
        HSA_POINTER_ALLOCATED, HSA_POINTER_REGISTERED_USER, HSA_POINTER_TYPE, HSAKMT_STATUS_ERROR,
        HSAKMT_STATUS_MEMORY_NOT_REGISTERED, HsaPointerInfo, MAP_READ_ONLY, MEM_EXECUTE_ACCESS,
        MEM_READ_ONLY, Zero,
        newer::{HSA_POINTER_RESERVED_ADDR, MEM_NO_ADDRESS, MEM_ONLY_ADDRESS},
    },
    entry::Result,
    topology::{HOST_NODE, Nodes},
};

/// What a call wants mapped.
pub struct Wanted<'a> {
    /// An address in it.
    pub address: u64,
    /// Bytes; counts where a part can be mapped: private memory.
    pub size: u64,
    /// `HsaMemMapFlags`.
    pub flags: u32,
    /// To which nodes; `None` is all devices, beside those that have it already.
    pub nodes: Option<&'a [u32]>,
}

/// The devices that something is mapped to.
///
/// The client gets the address of the list of nodes and keeps it, so that the list stays where it is.
struct Mapped {
    owner: Owner,
    start: u64,
    end: u64,
    nodes: Box<[u32; MAX_DEVICES]>,
    count: usize,
}

impl Mapped {
    fn new(owner: Owner, start: u64, end: u64) -> Self {
        Self { owner, start, end, nodes: Box::new([0; MAX_DEVICES]), count: 0 }
    }

    fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count]
    }

    /// Maps to the devices of `wanted`, and to no others unless it `keeps` those.
    fn set(
        &mut self,
        to: &mut To<'_, impl Reach>,
        wanted: &[u32],
        keeps: bool,
        access: Access,
        backing: Option<&Backing>,
    ) {
        if !keeps {
            let gone: Vec<_> = self.nodes().iter().copied().filter(|node| !wanted.contains(node)).collect();
            self.leave(to, &gone);
        }
        let range = Range { start: self.start, end: self.end, access, backing };
        let reach = to.reach;
        for node in wanted {
            let Some(shown) = to.of(*node) else {
                // Host memory is mapped to the host as it is.
                continue;
            };
            shown.add(reach, self.owner, &range);
            if !self.nodes().contains(node) {
                self.nodes[self.count] = *node;
                self.count += 1;
            }
        }
    }

    fn leave(&mut self, to: &mut To<'_, impl Reach>, nodes: &[u32]) {
        let reach = to.reach;
        for node in nodes {
            if let Some(shown) = to.of(*node) {
                shown.remove(reach, self.owner, self.start, self.end);
            }
        }
        let rest: Vec<_> = self.nodes().iter().copied().filter(|node| !nodes.contains(node)).collect();
        self.nodes[..rest.len()].copy_from_slice(&rest);
        self.count = rest.len();
    }

    fn clear(&mut self, to: &mut To<'_, impl Reach>) {
        let nodes = self.nodes().to_vec();
        self.leave(to, &nodes);
    }
}

/// Where mappings show.
struct To<'a, R> {
    reach: &'a R,
    nodes: Nodes,
    shown: &'a mut [Shown],
}

impl<R> To<'_, R> {
    /// What the device of a node reaches.
    fn of(&mut self, node: u32) -> Option<&mut Shown> {
        self.shown.get_mut(self.nodes.device(node)? as usize)
    }
}

/// What is behind the addresses of an allocation.
#[derive(Clone, Default)]
pub(crate) enum Content {
    /// Memory of this process alone.
    #[default]
    Private,
    /// A file that other processes can have, too.
    File(Arc<Bytes>),
    /// What another process, or this one, exported.
    Import(Arc<Bytes>, HSA_POINTER_TYPE),
    /// Nothing: addresses that memory can show at.
    Addresses(Arc<Reservation>),
}

impl Content {
    fn bytes(&self) -> Option<&Arc<Bytes>> {
        match self {
            Self::File(bytes) | Self::Import(bytes, _) => Some(bytes),
            Self::Private | Self::Addresses(_) => None,
        }
    }
}

/// Memory of ours.
pub(crate) struct Allocation {
    base: u64,
    size: u64,
    node: u32,
    flags: u32,
    scratch: bool,
    mapping: Backing,
    content: Content,
    _charge: Option<Charge>,
    /// One for the whole, or one per mapped part of private memory.
    mapped: Vec<Mapped>,
    /// Registrations at its base, whose mappings are the allocation's own.
    pins: u32,
    user_data: u64,
}

impl Allocation {
    pub(crate) fn new(
        base: u64,
        size: u64,
        node: u32,
        flags: u32,
        scratch: bool,
        mapping: Backing,
        charge: Option<Charge>,
    ) -> Self {
        let (content, mapped, pins, user_data) = (Content::Private, Vec::new(), 0, 0);
        Self { base, size, node, flags, scratch, mapping, content, _charge: charge, mapped, pins, user_data }
    }

    /// The same with another content.
    pub(crate) fn of(self, content: Content) -> Self {
        Self { content, ..self }
    }

    fn end(&self) -> u64 {
        self.base + self.size
    }
}

/// Host memory that the client registered; all registrations with one start are one.
struct Registration {
    start: u64,
    size: u64,
    flags: u32,
    count: u32,
    mapped: Mapped,
    user_data: u64,
    _charge: Option<Charge>,
}

/// Everything, and what each device reaches of it.
pub(crate) struct Regions {
    allocations: BTreeMap<u64, Allocation>,
    registrations: BTreeMap<u64, Registration>,
    /// Longest registration ever: how far below an address one that holds it can begin.
    longest: u64,
    nodes: Nodes,
    shown: Vec<Shown>,
    owners: Owner,
}

impl Regions {
    pub(crate) fn new(nodes: Nodes) -> Self {
        Self {
            allocations: BTreeMap::new(),
            registrations: BTreeMap::new(),
            longest: 0,
            nodes,
            shown: (0..nodes.devices()).map(Shown::new).collect(),
            owners: 0,
        }
    }

    fn owner(&mut self) -> Owner {
        self.owners += 1;
        self.owners
    }

    pub(crate) fn insert(&mut self, allocation: Allocation) {
        self.allocations.insert(allocation.base, allocation);
    }

    /// Takes out what was allocated at `address`; the kernel driver refuses to free what is mapped.
    pub(crate) fn free(&mut self, address: u64) -> Result<Allocation> {
        let allocation = self.allocations.get(&address).ok_or(HSAKMT_STATUS_ERROR)?;
        if allocation.mapped.iter().any(|mapped| mapped.count > 0) {
            tracing::warn!("memory at {address:#x} is freed while a device has it mapped: refused");
            return Err(HSAKMT_STATUS_ERROR);
        }
        self.allocations.remove(&address).ok_or(HSAKMT_STATUS_ERROR)
    }

    /// Takes in host memory, with what it is charged.
    pub(crate) fn register(&mut self, address: u64, size: u64, flags: u32, charge: Option<Charge>) {
        if let Some(allocation) = self.allocations.get_mut(&address) {
            allocation.pins += 1;
            return;
        }
        if let Some(registration) = self.registrations.get_mut(&address) {
            registration.count += 1;
            registration.size = registration.size.max(size);
        } else {
            let owner = self.owner();
            let mapped = Mapped::new(owner, 0, 0);
            let registration =
                Registration { start: address, size, flags, count: 1, mapped, user_data: 0, _charge: charge };
            self.registrations.insert(address, registration);
        }
        self.longest = self.longest.max(size);
    }

    pub(crate) fn deregister(&mut self, reach: &impl Reach, address: u64) -> Result {
        let import = self.allocations.get(&address).filter(|a| matches!(a.content, Content::Import(..)));
        if import.is_some_and(|import| import.pins == 0) {
            // An import is a registration, and ends as one.
            return self.free(address).map(drop);
        }
        if let Some(allocation) = self.allocations.get_mut(&address) {
            allocation.pins = allocation.pins.checked_sub(1).ok_or(HSAKMT_STATUS_MEMORY_NOT_REGISTERED)?;
            return Ok(());
        }
        let registration = self.registrations.get_mut(&address).ok_or(HSAKMT_STATUS_MEMORY_NOT_REGISTERED)?;
        registration.count -= 1;
        if registration.count == 0 {
            // Host memory that is no longer registered must not stay reachable.
            registration.mapped.clear(&mut To { reach, nodes: self.nodes, shown: &mut self.shown });
            self.registrations.remove(&address);
        }
        Ok(())
    }

    pub(crate) fn map(&mut self, reach: &impl Reach, wanted: &Wanted<'_>) -> Result {
        let numbers = self.nodes;
        let all: Vec<u32>;
        let nodes = match wanted.nodes {
            Some(nodes) => nodes,
            None => {
                all = (0..numbers.devices()).map(|device| numbers.of(device)).collect();
                &all
            }
        };
        let read_only = wanted.flags & MAP_READ_ONLY != 0;
        let access = |flags: u32, home| Access {
            writable: !read_only && flags & MEM_READ_ONLY == 0,
            executable: flags & MEM_EXECUTE_ACCESS != 0,
            home,
        };
        let owner = self.owner();
        if !self.registrations.contains_key(&wanted.address) {
            let allocation = containing(&mut self.allocations, wanted.address, |a| a.end());
            if let Some(allocation) = allocation {
                if allocation.flags & (MEM_NO_ADDRESS | MEM_ONLY_ADDRESS) != 0 {
                    // Memory and its addresses apart: libdrm's functions bring them together.
                    return Err(HSAKMT_STATUS_ERROR);
                }
                let (start, end) = match allocation.scratch {
                    true => (wanted.address, wanted.address.saturating_add(wanted.size)),
                    false => (allocation.base, allocation.end()),
                };
                if end > allocation.end() {
                    return Err(HSAKMT_STATUS_ERROR);
                }
                let known = allocation.mapped.iter().position(|mapped| mapped.start == start);
                let index = known.unwrap_or_else(|| {
                    allocation.mapped.push(Mapped::new(owner, start, end));
                    allocation.mapped.len() - 1
                });
                let mapped = &mut allocation.mapped[index];
                let keeps = wanted.nodes.is_none() || allocation.pins > 0;
                let mut to = To { reach, nodes: self.nodes, shown: &mut self.shown };
                let home = match numbers.agent(allocation.node) {
                    Agent::Host(socket) => Home::Socket(socket),
                    Agent::Gpu(_) => Home::Device,
                };
                let access = access(allocation.flags, home);
                mapped.set(&mut to, nodes, keeps, access, Some(&allocation.mapping));
                return Ok(());
            }
        }
        let start = self.registration(wanted.address).ok_or(HSAKMT_STATUS_ERROR)?;
        let Some(registration) = self.registrations.get_mut(&start) else { return Err(HSAKMT_STATUS_ERROR) };
        // Devices see whole pages.
        let page = PAGE as u64;
        registration.mapped.start = start / page * page;
        registration.mapped.end = (start + registration.size).next_multiple_of(page);
        let keeps = wanted.nodes.is_none() || registration.count > 1;
        // Host memory may hold code as well as the program's own pages may: the client cannot say so.
        let access = access(registration.flags, Home::Program);
        registration.mapped.set(
            &mut To { reach, nodes: self.nodes, shown: &mut self.shown },
            nodes,
            keeps,
            access,
            None,
        );
        Ok(())
    }

    pub(crate) fn unmap(&mut self, reach: &impl Reach, address: u64) -> Result {
        let mut to = To { reach, nodes: self.nodes, shown: &mut self.shown };
        if let Some(registration) = self.registrations.get_mut(&address) {
            // Another thread that registered the same range still uses it.
            if registration.count == 1 {
                registration.mapped.clear(&mut to);
            }
            return Ok(());
        }
        let allocation =
            containing(&mut self.allocations, address, |a| a.end()).ok_or(HSAKMT_STATUS_ERROR)?;
        if allocation.pins > 0 {
            return Ok(());
        }
        let index = allocation.mapped.iter().position(|mapped| mapped.start == address);
        if let Some(index) = index {
            allocation.mapped[index].clear(&mut to);
            if allocation.scratch {
                allocation.mapped.swap_remove(index);
            }
        } else if address != allocation.base {
            return Err(HSAKMT_STATUS_ERROR);
        }
        Ok(())
    }

    /// The start of the registration that contains `address` and begins closest to it.
    fn registration(&self, address: u64) -> Option<u64> {
        let lowest = address.saturating_sub(self.longest);
        let near = self.registrations.range(lowest..=address).map(|(_, registration)| registration);
        let mut holding = near.filter(|registration| address - registration.start < registration.size);
        holding.next_back().map(|registration| registration.start)
    }

    pub(crate) fn pointer_info(&mut self, address: u64) -> Option<HsaPointerInfo> {
        let describe =
            |kind: HSA_POINTER_TYPE, base: u64, size: u64, node, flags, user_data| HsaPointerInfo {
                Type: kind.0,
                Node: node,
                MemFlags: flags,
                CPUAddress: base as *mut c_void,
                GPUAddress: base,
                SizeInBytes: size,
                UserData: user_data as *mut c_void,
                ..HsaPointerInfo::ZERO
            };
        let (info, mapped) = if let Some(a) = containing(&mut self.allocations, address, |a| a.end()) {
            if a.scratch {
                return None;
            }
            let kind = match a.content {
                Content::Addresses(_) => HSA_POINTER_RESERVED_ADDR,
                Content::Import(_, kind) => kind,
                Content::Private | Content::File(_) => HSA_POINTER_ALLOCATED,
            };
            (describe(kind, a.base, a.size, a.node, a.flags, a.user_data), a.mapped.first())
        } else {
            let start = self.registration(address)?;
            let r = self.registrations.get(&start)?;
            let info = describe(HSA_POINTER_REGISTERED_USER, start, r.size, HOST_NODE, r.flags, r.user_data);
            (info, Some(&r.mapped))
        };
        let Some(mapped) = mapped.filter(|mapped| mapped.count > 0) else { return Some(info) };
        // CAST: at most MAX_DEVICES.
        Some(HsaPointerInfo { NMappedNodes: mapped.count as u32, MappedNodes: mapped.nodes.as_ptr(), ..info })
    }

    /// The bytes behind all of `address..address + size`, and where the allocation begins.
    pub(crate) fn bytes(&mut self, address: u64, size: u64) -> Option<(Arc<Bytes>, u64)> {
        let allocation = containing(&mut self.allocations, address, |a| a.end())?;
        let inside = address.checked_add(size).is_some_and(|end| end <= allocation.end());
        allocation.content.bytes().filter(|_| inside).map(|bytes| (Arc::clone(bytes), allocation.base))
    }

    /// Whether an address is in an allocation.
    pub(crate) fn is_allocated(&self, address: u64) -> bool {
        let below = self.allocations.range(..=address).next_back();
        below.is_some_and(|(_, allocation)| address < allocation.end())
    }

    /// Node, size and bytes of the allocation at `base`.
    pub(crate) fn allocated_at(&self, base: u64) -> Option<(u32, u64, Arc<Bytes>)> {
        let allocation = self.allocations.get(&base)?;
        allocation.content.bytes().map(|bytes| (allocation.node, allocation.size, Arc::clone(bytes)))
    }

    /// The reservation that contains an address.
    pub(crate) fn reservation_at(&mut self, address: u64) -> Option<Arc<Reservation>> {
        match &containing(&mut self.allocations, address, |a| a.end())?.content {
            Content::Addresses(reservation) => Some(Arc::clone(reservation)),
            _ => None,
        }
    }

    /// Shows a range that is no allocation's to a device, for an owner of its own.
    pub(crate) fn show(&mut self, reach: &impl Reach, device: u32, range: &Range<'_>) -> Owner {
        let owner = self.owner();
        if let Some(shown) = self.shown.get_mut(device as usize) {
            shown.add(reach, owner, range);
        }
        owner
    }

    /// Undoes [`Regions::show`].
    pub(crate) fn hide(&mut self, reach: &impl Reach, device: u32, owner: Owner, start: u64, end: u64) {
        if let Some(shown) = self.shown.get_mut(device as usize) {
            shown.remove(reach, owner, start, end);
        }
    }

    pub(crate) fn set_user_data(&mut self, address: u64, data: u64) -> Result {
        if let Some(allocation) = containing(&mut self.allocations, address, |a| a.end()) {
            allocation.user_data = data;
            return Ok(());
        }
        let start = self.registration(address).ok_or(HSAKMT_STATUS_ERROR)?;
        let registration = self.registrations.get_mut(&start).ok_or(HSAKMT_STATUS_ERROR)?;
        registration.user_data = data;
        Ok(())
    }
}

/// The entry of a map of disjoint ranges that contains `address`.
fn containing<T>(map: &mut BTreeMap<u64, T>, address: u64, end: impl Fn(&T) -> u64) -> Option<&mut T> {
    let (_, value) = map.range_mut(..=address).next_back()?;
    (address < end(value)).then_some(value)
}
