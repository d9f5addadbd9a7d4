//! Memory of a graph's allocation nodes: addresses fixed when the node is made, bytes shared by lifetimes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    device::{Device, System},
    error::{Error, Result},
    graph::NodeId,
    memory::{Backing, Origin, Region},
};

/// Blocks are whole pages, as graphs that share nothing else may still share a page of the device.
const GRANULE: u64 = 4096;

/// A run of device memory that allocation nodes of one graph take turns to own.
///
/// The bytes belong to the region in the table of allocations: they outlive the graph while `live`.
pub(crate) struct Block {
    address: u64,
    bytes: u64,
    /// A launch has allocated it and nobody has freed it since.
    live: AtomicBool,
}

impl Block {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes that a launch leaves the block allocated.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if an earlier launch did and nobody has freed it.
    pub(crate) fn acquire(&self) -> Result<()> {
        if self.live.swap(true, Ordering::AcqRel) {
            return Err(Error::InvalidValue(
                "an allocation of an earlier launch of the graph is not freed yet",
            ));
        }
        Ok(())
    }

    /// Notes that the block is free again; whether it was live.
    pub(crate) fn release(&self) -> bool {
        self.live.swap(false, Ordering::AcqRel)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // What a launch left allocated stays valid without the graph, until it is freed.
        if !self.live.load(Ordering::Acquire)
            && let Ok(system) = System::get()
        {
            system.memory().remove(self.address, |r| r.origin == Origin::Graph);
        }
    }
}

/// The memory of one graph.
#[derive(Clone, Default)]
pub(crate) struct GraphMemory {
    owned: Vec<Owned>,
    /// What it had belongs to the graph around a conditional node.
    moved: bool,
}

#[derive(Clone)]
struct Owned {
    block: Arc<Block>,
    /// The node that frees the block's latest owner; `None` while that owner has no free node.
    freed_by: Option<NodeId>,
    /// The node of the latest owner.
    owner: Option<NodeId>,
}

/// A place for an allocation, chosen before its node exists.
pub(crate) struct Reservation {
    slot: usize,
    pub(crate) address: u64,
}

impl GraphMemory {
    /// Finds `bytes` bytes for a node that runs behind everything for which `is_before` holds.
    ///
    /// A block is used again only if the node that freed it runs before the new one: whatever edges are added
    /// later can only order more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn reserve(
        &mut self,
        device: &Device,
        bytes: u64,
        is_before: impl Fn(NodeId) -> bool,
    ) -> Result<Reservation> {
        let out_of_memory = Error::OutOfMemory { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
        let size = bytes.max(1).checked_next_multiple_of(GRANULE).ok_or(out_of_memory.clone())?;
        let fits = |o: &Owned| o.block.bytes >= size && o.freed_by.is_some_and(&is_before);
        let best = self.owned.iter().enumerate().filter(|(_, o)| fits(o)).min_by_key(|(_, o)| o.block.bytes);
        if let Some((slot, owned)) = best {
            return Ok(Reservation { slot, address: owned.block.address });
        }
        let memory = usize::try_from(size).ok().and_then(|size| device.0.local.allocate(size).ok());
        let memory = Arc::new(memory.ok_or(out_of_memory)?);
        let block = Arc::new(Block { address: memory.address(), bytes: size, live: AtomicBool::new(false) });
        System::get()?.memory().insert(Region {
            address: block.address,
            bytes: size,
            origin: Origin::Graph,
            device: device.ordinal(),
            flags: 0,
            device_address: block.address,
            backing: Backing::Graph { block: Arc::downgrade(&block), memory },
        });
        let address = block.address;
        self.owned.push(Owned { block, freed_by: None, owner: None });
        Ok(Reservation { slot: self.owned.len() - 1, address })
    }

    /// Gives a reserved place to its node.
    pub(crate) fn assign(&mut self, reservation: &Reservation, node: NodeId) {
        let owned = &mut self.owned[reservation.slot];
        (owned.owner, owned.freed_by) = (Some(node), None);
    }

    /// Notes that `node` frees the allocation at `address`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if no allocation of the graph that is not freed yet starts there.
    pub(crate) fn free(&mut self, address: u64, node: NodeId) -> Result<()> {
        let mut all = self.owned.iter_mut();
        let owned = all.find(|o| o.block.address == address && o.owner.is_some() && o.freed_by.is_none());
        owned.ok_or(NOT_ALLOCATED)?.freed_by = Some(node);
        Ok(())
    }

    /// Whether an allocation that is not freed yet starts at `address`.
    pub(crate) fn is_allocated(&self, address: u64) -> bool {
        self.owned.iter().any(|o| o.block.address == address && o.owner.is_some() && o.freed_by.is_none())
    }

    /// Takes over the memory of a graph that becomes a body in this one.
    pub(crate) fn adopt(&mut self, body: Self) {
        // Its nodes are none of the graph's own: no allocation of the graph comes behind their frees.
        self.owned.extend(body.owned);
    }

    /// All of it, for a copy that becomes a body.
    pub(crate) fn give_away(&mut self) -> Self {
        let owned = std::mem::take(&mut self.owned);
        self.moved = !owned.is_empty();
        Self { owned, moved: false }
    }

    /// Whether its memory was given away.
    pub(crate) fn has_moved(&self) -> bool {
        self.moved
    }

    /// All blocks, and whether the graph leaves them allocated when it ends.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&Arc<Block>, bool)> {
        self.owned.iter().map(|o| (&o.block, o.owner.is_some() && o.freed_by.is_none()))
    }

    /// Whether the graph allocates or frees at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.owned.is_empty()
    }
}

/// Why a free node is refused.
pub(crate) const NOT_ALLOCATED: Error =
    Error::InvalidValue("not an allocation of this graph that is not freed yet");
