//! Memory of a graph's allocation nodes: addresses fixed when the node is made, bytes shared by lifetimes.
//!
//! Where memory can be mapped, a node has addresses of its own ([`space`](super::space)), and what lies there is planned
//! when the graph is instantiated ([`exec_memory`](super::exec_memory)). Elsewhere memory comes with the addresses, and a node has
//! those of one that was freed before it.

use std::{
    any::Any,
    collections::{BTreeSet, HashMap},
    sync::{Arc, Weak},
};

use parking_lot::{Mutex, MutexGuard};

use super::space::{PrivateChunks, Space};
use crate::{
    check,
    device::{Device, System, fence::Keep},
    error::{Error, Result, explain},
    memory::{
        Backing, Origin, Owner, Region, StreamPool,
        peer::{self, Right},
    },
};
use aqlipse_graph::NodeId;

/// Blocks are whole pages, as graphs that share nothing else may still share a page of the device.
const GRANULE: u64 = 4096;

/// What an allocation node was given besides its size, to be asked for later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationOptions {
    /// What devices may do with the memory, as it was said; the device whose memory it is always has it.
    pub access: Vec<(Device, Right)>,
    /// The kinds of handle that the memory's pool is exported by, as the caller encoded them; only remembered.
    pub handle_types: u32,
    /// The limit of the memory's pool, in bytes; only remembered.
    pub max_bytes: u64,
}

impl AllocationOptions {
    /// What an allocation node has that takes the place of an allocation from `pool`.
    pub(crate) fn of(pool: &StreamPool) -> Self {
        Self {
            access: pool.peers().into_iter().map(|device| (device, Right::ReadWrite)).collect(),
            // A graph's memory is shared with no other process.
            handle_types: 0,
            max_bytes: pool.options().max_bytes,
        }
    }

    /// The devices besides `owner` that may access the memory.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for read-only access, [`Error::PeerAccessUnsupported`] for a device without a link,
    /// [`Error::InvalidValue`] if `owner` would have none.
    fn peers(&self, owner: &Device) -> Result<BTreeSet<usize>> {
        let mut peers = BTreeSet::new();
        for (device, right) in &self.access {
            peer::check_right(owner, device, *right)?;
            match right {
                Right::None => peers.remove(&device.ordinal()),
                _ => device != owner && peers.insert(device.ordinal()),
            };
        }
        Ok(peers)
    }
}

/// Addresses of allocation nodes of one graph, and memory there.
///
/// It stands in the table of allocations as long as a graph or an executable has it, or a launch has left it allocated.
pub(crate) struct Block {
    device: Device,
    address: u64,
    bytes: u64,
    memory: Memory,
    peers: BTreeSet<usize>,
    state: Mutex<State>,
}

enum Memory {
    /// As long as the addresses.
    Whole(#[allow(dead_code, reason = "held for its Drop")] hsa::Allocation),
    /// Mapped when a launch may need it.
    Mapped(Arc<Space>),
}

#[derive(Default)]
struct State {
    /// A launch has allocated it, and it was not freed since.
    live: bool,
    /// What it holds while it is live.
    contents: Option<Arc<PrivateChunks>>,
    /// It is part of the device's footprint.
    counted: bool,
    /// Graphs and executables that have it.
    bindings: u32,
    /// Executables among them.
    execs: u32,
    freed_by: FreedBy,
}

/// Whose free node is for the block's latest owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FreedBy {
    #[default]
    Nobody,
    /// The graph whose node allocates it, which rules out all others.
    Owner,
    /// Other graphs, which rules out that one.
    Others,
}

impl Block {
    /// Makes a block for a graph.
    fn allocate(device: &Device, bytes: u64, peers: BTreeSet<usize>) -> Result<BlockHold> {
        let out_of_memory = Error::OutOfMemory { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
        let (address, memory) = match device.context().graph_memory.arenas().mapping(device) {
            Some((memory, sizes)) => {
                let front = check::padding();
                let bytes = bytes.saturating_add(front).checked_next_multiple_of(sizes.page());
                let bytes = bytes.filter(|&bytes| bytes <= device.properties().total_memory);
                let bytes = bytes.ok_or(out_of_memory)?;
                let space = Space::reserve(device, memory, sizes, bytes, &peers)?;
                check::handed_out(space.address()..space.address() + bytes, false);
                (space.address() + front, Memory::Mapped(Arc::new(space)))
            }
            None => {
                let allocate =
                    || usize::try_from(bytes).ok().and_then(|bytes| device.0.local.allocate(bytes).ok());
                let memory = allocate().or_else(|| {
                    // What pools retain is unused.
                    device.context().pools.trim();
                    allocate()
                });
                let memory = memory.ok_or(out_of_memory)?.held_by(crate::memory_report::GRAPHS);
                if !peers.is_empty() {
                    peer::grant(device, &peers, &memory)?;
                }
                check::handed_out(memory.address()..memory.address() + memory.len() as u64, true);
                (memory.address(), Memory::Whole(memory))
            }
        };
        let state = Mutex::default();
        let block = Arc::new(Self { device: device.clone(), address, bytes, memory, peers, state });
        let hold = BlockHold::new(&block, false);
        System::get()?.memory().insert(Region {
            address,
            bytes,
            origin: Origin::Graph,
            device: device.ordinal(),
            flags: 0,
            device_address: address,
            marks: Default::default(),
            backing: Backing::Owned(block),
        });
        Ok(hold)
    }

    /// The block that has a region, if one has.
    fn of(region: &Region) -> Option<Arc<Self>> {
        let Backing::Owned(owner) = &region.backing else { return None };
        let owner: Arc<dyn Any + Send + Sync> = owner.clone();
        owner.downcast().ok()
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The addresses, if memory is mapped there.
    pub(super) fn space(&self) -> Option<&Arc<Space>> {
        match &self.memory {
            Memory::Mapped(space) => Some(space),
            Memory::Whole(_) => None,
        }
    }

    /// The device whose memory it is.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Whether a launch has left it allocated.
    pub(crate) fn is_live(&self) -> bool {
        self.state().live
    }

    /// Notes that a launch leaves the block allocated, with `contents` where memory is mapped; whether it was not before.
    /// With `again` it may have been: the launch has what an earlier one has left.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if an earlier launch did, it is not freed, and not `again`.
    pub(super) fn acquire(&self, contents: Option<Arc<PrivateChunks>>, again: bool) -> Result<bool> {
        let mut state = self.state();
        if state.live && !again {
            drop(state);
            explain(
                "an allocation of an earlier launch of the graph is not freed yet: free it before the next launch, or \
                 instantiate with automatic free on launch",
            );
            return Err(Error::InvalidValue("an allocation of an earlier launch is not freed yet"));
        }
        let was_live = std::mem::replace(&mut state.live, true);
        let before = std::mem::replace(&mut state.contents, contents);
        drop(state);
        drop(before);
        Ok(!was_live)
    }

    /// Notes that the block is free again; whether it was live. What still uses it must [hold](Block::held) it.
    pub(crate) fn release(&self) -> bool {
        let mut state = self.state();
        let was_live = std::mem::take(&mut state.live);
        let contents = state.contents.take();
        let deserted = state.bindings == 0;
        if state.execs == 0 {
            self.discount(&mut state);
        }
        drop(state);
        drop(contents);
        if was_live && deserted {
            self.forget();
        }
        was_live
    }

    /// Makes the block part of the device's footprint: a launch uses it.
    pub(super) fn count(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.counted, true) {
            self.device.context().graph_memory.change((0, 0), (self.bytes, self.bytes));
        }
    }

    /// Takes the block out of the device's footprint, unless a launch has left it allocated.
    pub(super) fn discount_unless_live(&self) {
        let mut state = self.state();
        if !state.live {
            self.discount(&mut state);
        }
    }

    fn discount(&self, state: &mut State) {
        if std::mem::take(&mut state.counted) {
            self.device.context().graph_memory.change((self.bytes, self.bytes), (0, 0));
        }
    }

    /// Lets a free node of the owner's graph, or of another one, have the latest owner.
    fn claim(&self, by: FreedBy) -> Result<FreedBy> {
        let mut state = self.state();
        match (state.freed_by, by) {
            (FreedBy::Nobody, _) | (FreedBy::Others, FreedBy::Others) => {
                Ok(std::mem::replace(&mut state.freed_by, by))
            }
            (FreedBy::Others, _) => {
                explain("another graph has a free node for the allocation");
                Err(Error::InvalidValue("another graph frees the allocation"))
            }
            (FreedBy::Owner, _) => {
                explain(
                    "the graph that allocates the memory has a free node for it, so nobody else may free it",
                );
                Err(NOT_ALLOCATED)
            }
        }
    }

    fn set_freed_by(&self, by: FreedBy) {
        self.state().freed_by = by;
    }

    /// Takes the block out of the table of allocations.
    fn forget(&self) {
        if let Ok(system) = System::get() {
            let this = |region: &Region| Self::of(region).is_some_and(|block| std::ptr::eq(&*block, self));
            drop(system.memory().remove(self.address(), this));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Owner for Block {
    fn is_open_to(&self, device: &Device) -> bool {
        *device == self.device || self.peers.contains(&device.ordinal())
    }

    fn is_allocated(&self) -> bool {
        self.is_live()
    }

    fn end(&self) -> bool {
        self.release()
    }

    /// The block and what it holds.
    fn held(self: Arc<Self>) -> Keep {
        let contents = self.state().contents.clone();
        Keep::Other(Arc::new((contents, self)))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        check::released(self.address..self.address + self.bytes);
    }
}

/// A graph's or an executable's hold on a block.
pub(crate) struct BlockHold {
    block: Arc<Block>,
    is_exec: bool,
}

impl BlockHold {
    fn new(block: &Arc<Block>, is_exec: bool) -> Self {
        let mut state = block.state();
        state.bindings += 1;
        state.execs += u32::from(is_exec);
        drop(state);
        Self { block: block.clone(), is_exec }
    }

    /// A hold of an executable on the same block.
    pub(super) fn for_exec(&self) -> Self {
        Self::new(&self.block, true)
    }

    pub(crate) fn block(&self) -> &Arc<Block> {
        &self.block
    }
}

impl Drop for BlockHold {
    fn drop(&mut self) {
        let mut state = self.block.state();
        state.bindings -= 1;
        state.execs -= u32::from(self.is_exec);
        if state.execs == 0 && !state.live {
            self.block.discount(&mut state);
        }
        // What a launch left allocated stays valid without the graph, until it is freed.
        let deserted = state.bindings == 0 && !state.live;
        drop(state);
        if deserted {
            self.block.forget();
        }
    }
}

/// The memory of one graph.
#[derive(Default)]
pub(crate) struct GraphMemory {
    owned: Vec<Owned>,
    /// Allocations of other graphs that this one frees, with the nodes that do.
    foreign: Vec<(Weak<Block>, NodeId)>,
    options: HashMap<NodeId, Arc<AllocationOptions>>,
    /// What it had belongs to the graph around a conditional node.
    moved: bool,
}

struct Owned {
    hold: BlockHold,
    /// The node that frees the block's latest owner; `None` while that owner has no free node.
    freed_by: Option<NodeId>,
    /// The node of the latest owner.
    owner: Option<NodeId>,
}

impl Owned {
    fn block(&self) -> &Arc<Block> {
        self.hold.block()
    }

    /// Whether its latest owner is not freed by a node of the graph.
    fn is_left(&self) -> bool {
        self.owner.is_some() && self.freed_by.is_none()
    }
}

/// A place for an allocation, chosen before its node exists.
pub(crate) struct Reservation {
    slot: usize,
    pub(crate) address: u64,
}

/// The right to free an allocation by a node that is yet to be made.
pub(crate) struct Freeing {
    block: Arc<Block>,
    /// The place in the graph's own memory.
    slot: Option<usize>,
    before: FreedBy,
}

impl GraphMemory {
    /// Finds `bytes` bytes for a node that runs behind everything for which `is_before` holds.
    ///
    /// A block that is not mapped is used again, if the node that freed it runs before the new one: whatever edges are
    /// added later can only order more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; what the access asked for is refused for.
    pub(crate) fn reserve(
        &mut self,
        device: &Device,
        bytes: u64,
        options: &AllocationOptions,
        is_before: impl Fn(NodeId) -> bool,
    ) -> Result<Reservation> {
        let out_of_memory = Error::OutOfMemory { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
        let padded = bytes.max(1).saturating_add(check::padding());
        let size = padded.checked_next_multiple_of(GRANULE).ok_or(out_of_memory)?;
        let peers = options.peers(device)?;
        let fits = |o: &Owned| {
            let block = o.block();
            let same = block.device == *device && block.peers == peers && block.space().is_none();
            same && block.bytes() >= size && o.freed_by.is_some_and(&is_before)
        };
        let best =
            self.owned.iter().enumerate().filter(|(_, o)| fits(o)).min_by_key(|(_, o)| o.block().bytes());
        if let Some((slot, owned)) = best {
            return Ok(Reservation { slot, address: owned.block().address() });
        }
        let hold = Block::allocate(device, size, peers)?;
        let address = hold.block().address();
        self.owned.push(Owned { hold, freed_by: None, owner: None });
        Ok(Reservation { slot: self.owned.len() - 1, address })
    }

    /// Gives a reserved place to its node.
    pub(crate) fn assign(&mut self, reservation: &Reservation, node: NodeId, options: AllocationOptions) {
        let owned = &mut self.owned[reservation.slot];
        (owned.owner, owned.freed_by) = (Some(node), None);
        owned.block().set_freed_by(FreedBy::Nobody);
        self.options.insert(node, Arc::new(options));
    }

    /// What an allocation node was given besides its size.
    pub(crate) fn options(&self, node: NodeId) -> Option<&Arc<AllocationOptions>> {
        self.options.get(&node)
    }

    /// Asks for the right to free the allocation at `address`: one of this graph, or one that another graph leaves
    /// allocated.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if no allocation of a graph starts there, or one that a node frees already.
    pub(crate) fn freeing(&self, address: u64) -> Result<Freeing> {
        if let Some(slot) =
            self.owned.iter().position(|o| o.block().address() == address && o.owner.is_some())
        {
            let owned = &self.owned[slot];
            if !owned.is_left() {
                explain("a node of the graph frees the allocation already");
                return Err(NOT_ALLOCATED);
            }
            let block = owned.block().clone();
            let before = block.claim(FreedBy::Owner)?;
            return Ok(Freeing { block, slot: Some(slot), before });
        }
        let region = System::get()?.memory().at(address);
        let Some(block) = region.as_deref().and_then(Block::of) else {
            explain("a free node takes the address of a graph's allocation, and nothing else");
            return Err(NOT_ALLOCATED);
        };
        if self.foreign.iter().any(|(freed, _)| std::ptr::eq(freed.as_ptr(), &*block)) {
            explain("a node of the graph frees the allocation already");
            return Err(NOT_ALLOCATED);
        }
        let before = block.claim(FreedBy::Others)?;
        Ok(Freeing { block, slot: None, before })
    }

    /// Notes that `node` frees an allocation.
    pub(crate) fn free(&mut self, freeing: Freeing, node: NodeId) {
        match freeing.slot {
            Some(slot) => self.owned[slot].freed_by = Some(node),
            None => self.foreign.push((Arc::downgrade(&freeing.block), node)),
        }
    }

    /// Takes over the memory of a graph that becomes a body in this one.
    pub(crate) fn adopt(&mut self, body: Self) {
        // Its nodes are none of the graph's own: no allocation of the graph comes behind their frees.
        self.owned.extend(body.owned);
        self.foreign.extend(body.foreign);
        self.options.extend(body.options);
    }

    /// All of it, for a copy that becomes a body, in which nodes have `counterparts`.
    pub(crate) fn give_away(&mut self, counterparts: impl Fn(NodeId) -> NodeId) -> Self {
        let mut owned = std::mem::take(&mut self.owned);
        for each in &mut owned {
            each.owner = each.owner.map(&counterparts);
            each.freed_by = each.freed_by.map(&counterparts);
        }
        let foreign = std::mem::take(&mut self.foreign);
        self.moved |= !owned.is_empty() || !foreign.is_empty();
        let foreign = foreign.into_iter().map(|(block, node)| (block, counterparts(node))).collect();
        // The graph keeps its nodes, which can still be asked.
        let options = self.options.iter().map(|(&node, given)| (counterparts(node), given.clone())).collect();
        Self { owned, foreign, options, moved: false }
    }

    /// Whether its memory was given away.
    pub(crate) fn has_moved(&self) -> bool {
        self.moved
    }

    /// Its own blocks, and whether the graph leaves them allocated when it ends.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&BlockHold, bool)> {
        self.owned.iter().map(|o| (&o.hold, o.is_left()))
    }

    /// The nodes that allocate and free a block's latest owner, where the graph has both.
    pub(super) fn lives(&self) -> impl Iterator<Item = Option<(NodeId, NodeId)>> {
        self.owned.iter().map(|o| o.owner.zip(o.freed_by))
    }

    /// The blocks of other graphs that it frees.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Weak<Block>> {
        self.foreign.iter().map(|(block, _)| block)
    }

    /// Whether the graph neither allocates nor frees.
    pub(crate) fn is_empty(&self) -> bool {
        self.owned.is_empty() && self.foreign.is_empty()
    }
}

impl Freeing {
    /// Gives the right back: there is no such node.
    pub(crate) fn withdraw(self) {
        self.block.set_freed_by(self.before);
    }
}

/// Why a free node is refused.
const NOT_ALLOCATED: Error = Error::InvalidValue("not an allocation of a graph that is not freed yet");
