//! An executable graph's hold on memory: what its launches allocate, leave allocated and free.

#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::graph_memory::{Block, GraphMemory, Tenancy};
use crate::{
    device::{
        Device, Fence,
        fence::{Keep, PooledSignal},
    },
    error::{Error, Result, explain},
};

/// The memory of an executable graph.
#[derive(Default)]
pub(crate) struct Lease(Arc<Leased>);

#[derive(Default)]
pub(super) struct Leased {
    /// Blocks, and whether a launch leaves them allocated.
    blocks: Vec<(Tenancy, bool)>,
    /// Blocks of other graphs that a launch frees.
    frees: Vec<Weak<Block>>,
    /// Fires when the latest launch is over. Not its fence: that keeps what has the lease.
    last: Mutex<Option<Arc<PooledSignal>>>,
}

impl Leased {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Arc<Block>> {
        self.blocks.iter().map(|(tenancy, _)| tenancy.block())
    }

    pub(super) fn is_in_flight(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|signal| !signal.is_over())
    }

    fn left(&self) -> impl Iterator<Item = &Arc<Block>> {
        self.blocks.iter().filter(|(_, left)| *left).map(|(tenancy, _)| tenancy.block())
    }
}

impl Lease {
    /// The hold of a new executable of the graph whose memory this is.
    pub(crate) fn new(memory: &GraphMemory) -> Self {
        let blocks: Vec<_> = memory.blocks().map(|(tenancy, left)| (tenancy.for_exec(), left)).collect();
        let leased = Leased { blocks, frees: memory.foreign().cloned().collect(), last: Mutex::default() };
        let leased = Arc::new(leased);
        let mut devices: Vec<&Device> = Vec::new();
        for block in leased.blocks() {
            if !devices.contains(&block.device()) {
                devices.push(block.device());
                block.device().0.graph_memory.register(&leased);
            }
        }
        Self(leased)
    }

    /// Whether launches neither allocate nor free.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.blocks.is_empty() && self.0.frees.is_empty()
    }

    /// Bytes of the blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.blocks().map(|block| block.bytes()).sum()
    }

    /// Notes what a launch allocates that is about to be published; with `auto_free`, what earlier ones left is freed.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if an allocation of an earlier launch is not freed yet, or one that the launch is to
    /// free is not allocated. Nothing has changed then.
    pub(crate) fn take(&self, auto_free: bool) -> Result<()> {
        for block in &self.0.frees {
            if !block.upgrade().is_some_and(|block| block.is_live()) {
                explain(
                    "the graph frees an allocation of another graph that no launch has made, or that is freed",
                );
                return Err(Error::InvalidValue("an allocation that the graph frees is not allocated"));
            }
        }
        for (n, block) in self.0.left().enumerate() {
            if auto_free {
                block.release();
            }
            if let Err(refused) = block.acquire() {
                for taken in self.0.left().take(n) {
                    taken.release();
                }
                return Err(refused);
            }
        }
        self.0.blocks().for_each(|block| block.count());
        Ok(())
    }

    /// Undoes [`Lease::take`]: the launch was not published.
    pub(crate) fn give_back(&self) {
        for block in self.0.left() {
            block.release();
        }
    }

    /// Notes that the launch was published, with `fence` behind it: what it frees of other graphs is free from here on.
    pub(crate) fn launched(&self, fence: &Fence) {
        for block in self.0.frees.iter().filter_map(Weak::upgrade) {
            block.release();
            fence.keep_all(vec![Keep::Other(block)]);
        }
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(fence.signal().clone());
    }
}
