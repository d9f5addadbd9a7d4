//! An executable graph's hold on memory: what its launches allocate, leave allocated and free.
//!
//! Allocations that the graph frees take turns with chunks of an [arena](super::arena); what a launch leaves allocated
//! has chunks of its own. Both exist from here on, so that a launch lacks nothing but what a trim took.

#![forbid(unsafe_code)]

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use aqlipse_graph::memory::order::{Order, PlannedOrder};
use parking_lot::Mutex;

use super::{
    arena::{ArenaBinding, with_room},
    graph_memory::{Block, BlockHold, GraphMemory},
    space::{PrivateChunks, Space, place, spaces_of},
};
use crate::{
    device::{Device, Fence, fence::PooledSignal},
    error::{Error, Result, explain},
    memory::{Owner, stream_pool::Ordered},
    memory_report::{HasUsage, Usage},
};
use aqlipse_graph::{Graph, NodeId};

/// The memory of an executable graph.
#[derive(Default)]
pub(crate) struct ExecMemory(Arc<BoundMemory>);

#[derive(Default)]
pub(crate) struct BoundMemory {
    held: Vec<Held>,
    /// Where the rest takes turns: one for each device that has some, in the order of their ordinals.
    bindings: Vec<ArenaBinding>,
    /// Blocks of other graphs that a launch frees.
    frees: Vec<Weak<Block>>,
    latest: Mutex<Latest>,
}

/// The latest launch.
#[derive(Default)]
struct Latest {
    /// Fires when it is over. Not its fence: that keeps what has this memory.
    end: Option<Arc<PooledSignal>>,
    /// One is about to be published.
    opening: bool,
}

impl Latest {
    fn is_in_flight(&self) -> bool {
        self.opening || self.end.as_ref().is_some_and(|end| !end.is_quiet())
    }
}

struct Held {
    hold: BlockHold,
    /// Whether a launch leaves it allocated.
    left: bool,
    /// Whether the launch which is about to be published has allocated it. Written by the call that takes the memory for
    /// a launch, of which there is one at a time.
    taken: AtomicBool,
    chunks: Chunks,
}

/// What lies at a block's addresses.
enum Chunks {
    /// Memory of the block.
    Whole,
    /// Chunks of its own; `None` since a trim.
    Private(Mutex<Option<Arc<PrivateChunks>>>),
    /// Chunks of an arena.
    Shared,
}

impl Held {
    fn block(&self) -> &Arc<Block> {
        self.hold.block()
    }

    /// What the block holds, made again if a trim has taken it.
    fn contents(&self) -> Result<Option<Arc<PrivateChunks>>> {
        let (Chunks::Private(own), Some(space)) = (&self.chunks, self.block().space()) else {
            return Ok(None);
        };
        let mut own = own.lock();
        if own.is_none() {
            let device = self.block().device();
            *own = Some(with_room(device, || space.own(device))?);
        }
        Ok(own.clone())
    }
}

impl BoundMemory {
    /// The blocks whose memory nothing else has.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Arc<Block>> {
        self.held.iter().filter(|held| !matches!(held.chunks, Chunks::Shared)).map(Held::block)
    }

    /// Whether it has memory of a device that nothing else has.
    pub(super) fn is_on(&self, device: &Device) -> bool {
        self.blocks().any(|block| block.device() == device)
    }

    pub(super) fn is_in_flight(&self) -> bool {
        self.latest.lock().is_in_flight()
    }

    /// Gives back what nothing else has, if no launch is in flight, but for blocks that are live or `busy` otherwise.
    pub(super) fn trim(&self, busy: &dyn Fn(&Block) -> bool) {
        self.with_idle(busy, |held| {
            held.block().discount_unless_live();
            if let Chunks::Private(own) = &held.chunks {
                own.lock().take();
            }
        });
    }

    /// Takes the blocks out of the device's footprint that [`BoundMemory::trim`] would give back.
    pub(super) fn discount(&self, busy: &dyn Fn(&Block) -> bool) {
        self.with_idle(busy, |held| held.block().discount_unless_live());
    }

    fn with_idle(&self, busy: &dyn Fn(&Block) -> bool, work: impl Fn(&Held)) {
        // With the lock held no launch begins.
        let latest = self.latest.lock();
        if latest.is_in_flight() {
            return;
        }
        self.held.iter().filter(|held| !busy(held.block()) && !held.block().is_live()).for_each(work);
    }

    /// Notes of what a launch has allocated that is not published that it is free. What was allocated before stays so.
    fn release(&self) {
        for left in self.left().filter(|left| left.taken.swap(false, Ordering::Relaxed)) {
            left.block().release();
        }
    }

    fn left(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(|held| held.left)
    }
}

/// Buffers that can take turns, of one device.
#[derive(Default)]
struct Turns {
    spaces: Vec<Arc<Space>>,
    /// Their places among those of all devices.
    places: Vec<usize>,
}

impl Turns {
    /// Without those for which `take` holds, and these.
    fn split(self, take: impl Fn(&Arc<Space>) -> bool) -> Self {
        let rest = self.spaces.into_iter().zip(self.places).filter(|(space, _)| !take(space));
        let (spaces, places) = rest.unzip();
        Self { spaces, places }
    }

    /// Plans for them, and has the memory made.
    fn settle(self, device: &Device, order: &Order) -> Result<ArenaBinding> {
        let arenas = device.context().graph_memory.arenas();
        let (_, sizes) = arenas.memory(device)?;
        // What an executable of the graph that is gone has in flight stays where it is; what has come since joins it.
        let latest = self.spaces.iter().map(|space| space.binding()).max().unwrap_or(0);
        let predecessor = arenas.predecessor(latest);
        let placement = match &predecessor {
            None => place(self.spaces, sizes, &order.among(&self.places))?,
            Some(before) => {
                let there = spaces_of(&before.placement);
                let fresh = self.split(|space| there.contains(&Arc::as_ptr(space)));
                let others = place(fresh.spaces, sizes, &order.among(&fresh.places))?;
                before.placement.and(others)
            }
        };
        ArenaBinding::new(device, placement, predecessor.as_ref())
    }
}

impl ExecMemory {
    /// The hold of a new executable of the graph whose memory this is, with memory for its launches. The nodes that
    /// allocate and free it are those of `graphs`; a plan may order them more than their edges do.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new<K, E, S>(
        memory: &GraphMemory,
        graphs: &[&Graph<K, E, S>],
        planned: Option<&PlannedOrder>,
    ) -> Result<Self> {
        let (mut held, mut lives) = (Vec::new(), Vec::<(NodeId, NodeId)>::new());
        let mut turns: Vec<(Device, Turns)> = Vec::new();
        for ((hold, left), life) in memory.blocks().zip(memory.lives()) {
            let (hold, device) = (hold.for_exec(), hold.block().device());
            let chunks = match (hold.block().space(), life) {
                (None, _) => Chunks::Whole,
                // What is live must not lose what it holds, and what is in flight stays where it is.
                (Some(space), Some(life)) if space.owned().is_none() => {
                    let known = turns.iter().position(|(known, _)| known == device);
                    let known = known.unwrap_or_else(|| {
                        turns.push((device.clone(), Turns::default()));
                        turns.len() - 1
                    });
                    turns[known].1.spaces.push(space.clone());
                    turns[known].1.places.push(lives.len());
                    lives.push(life);
                    Chunks::Shared
                }
                (Some(_), _) => Chunks::Private(Mutex::default()),
            };
            held.push(Held { hold, left, taken: AtomicBool::new(false), chunks });
        }
        for held in &held {
            held.contents()?;
        }
        let order = Order::of(&lives, graphs);
        let order = match planned {
            Some(planned) => order.and(lives.len(), |a, b| planned.is_before(lives[a].0, lives[b].0)),
            None => order,
        };
        turns.sort_by_key(|(device, _)| device.ordinal());
        let bindings = turns.into_iter().map(|(device, turns)| turns.settle(&device, &order));
        let bindings = bindings.collect::<Result<_>>()?;
        let frees = memory.foreign().cloned().collect();
        let leased = Arc::new(BoundMemory { held, bindings, frees, latest: Mutex::default() });
        let mut devices: Vec<&Device> = Vec::new();
        for block in leased.blocks() {
            if !devices.contains(&block.device()) {
                devices.push(block.device());
                block.device().context().graph_memory.register(&leased);
            }
        }
        Ok(Self(leased))
    }

    /// Whether launches neither allocate nor free.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.held.is_empty() && self.0.frees.is_empty()
    }

    /// Bytes of the memory behind its allocations.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.usage().planned
    }

    /// For the memory report, as long as the executable or a launch in flight exists.
    pub(crate) fn leased(&self) -> Weak<dyn HasUsage> {
        Arc::downgrade(&self.0) as _
    }

    /// Notes what a launch allocates that is about to be published to `stream`, which is held back until a launch is over
    /// that has the same memory; with `auto_free`, it has what earlier launches left.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if an allocation of an earlier launch is not freed yet, or one that the launch is to
    /// free is not allocated; [`Error::OutOfMemory`] behind a trim; a fault of earlier work. Nothing has changed then.
    pub(crate) fn take(&self, auto_free: bool, stream: &dyn Ordered) -> Result<()> {
        self.0.latest.lock().opening = true;
        self.try_take(auto_free, stream).inspect_err(|_| self.0.latest.lock().opening = false)
    }

    fn try_take(&self, auto_free: bool, stream: &dyn Ordered) -> Result<()> {
        for block in &self.0.frees {
            if !block.upgrade().is_some_and(|block| block.is_live()) {
                explain(
                    "the graph frees an allocation of another graph that no launch has made, or that is freed",
                );
                return Err(Error::InvalidValue("an allocation that the graph frees is not allocated"));
            }
        }
        for held in &self.0.held {
            held.contents()?;
        }
        for left in self.0.left() {
            let acquired = left.contents().and_then(|contents| left.block().acquire(contents, auto_free));
            match acquired {
                Ok(fresh) => left.taken.store(fresh, Ordering::Relaxed),
                Err(refused) => {
                    self.0.release();
                    return Err(refused);
                }
            }
        }
        for (n, binding) in self.0.bindings.iter().enumerate() {
            let claimed = binding.claim(stream.id()).and_then(|busy| match busy {
                Some(signal) => follow(stream, signal).inspect_err(|_| binding.end_claim(None)),
                None => Ok(()),
            });
            if let Err(refused) = claimed {
                self.0.bindings[..n].iter().for_each(|binding| binding.end_claim(None));
                self.0.release();
                return Err(refused);
            }
        }
        self.0.blocks().for_each(|block| block.count());
        Ok(())
    }

    /// Undoes [`ExecMemory::take`]: the launch was not published.
    pub(crate) fn give_back(&self) {
        self.0.release();
        self.0.bindings.iter().for_each(|binding| binding.end_claim(None));
        self.0.latest.lock().opening = false;
    }

    /// Notes that the launch was published to `stream`, with `fence` behind it: what it frees of other graphs is free from
    /// here on.
    pub(crate) fn launched(&self, stream: u64, fence: &Fence) {
        for block in self.0.frees.iter().filter_map(Weak::upgrade) {
            fence.keep_all(vec![block.clone().held()]);
            block.release();
        }
        self.0.left().for_each(|left| left.taken.store(false, Ordering::Relaxed));
        *self.0.latest.lock() = Latest { end: Some(fence.signal().clone()), opening: false };
        self.0.bindings.iter().for_each(|binding| binding.end_claim(Some((stream, fence.signal()))));
    }
}

impl HasUsage for BoundMemory {
    fn usage(&self) -> Usage {
        let (mut usage, in_flight) = (Usage::default(), self.is_in_flight());
        for held in &self.held {
            let is_mapped = match &held.chunks {
                Chunks::Whole => true,
                Chunks::Private(own) => own.lock().is_some(),
                Chunks::Shared => continue,
            };
            usage.add(held.block().bytes(), is_mapped, in_flight || held.block().is_live());
        }
        self.bindings.iter().for_each(|binding| usage.add(binding.bytes(), binding.is_mapped(), in_flight));
        usage
    }
}

/// Holds what follows on `stream` back until a launch is over that uses the same memory.
fn follow(stream: &dyn Ordered, signal: Arc<PooledSignal>) -> Result<()> {
    /// No queue has this number: the signal is waited for whatever queue it is of.
    const ANY: u64 = u64::MAX;
    stream.wait_for(&Fence::new(signal, Vec::new()), ANY)
}
