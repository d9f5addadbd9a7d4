//! Stream-ordered memory pools: memory that is taken at one point of a stream and comes back at another.
//!
//! A pool reserves arenas from its device and hands out ranges of them. What a stream freed, the same stream may use
//! again at once, for its work is in order; others when they are known to be behind the free, or when it is over
//! ([`Reuse`]). While a thread asks the HSA runtime for memory, the others have the pool; and threads that allocate and
//! free the same sizes on streams of their own lock nothing that they share.
//!
//! | module | what it holds |
//! |---|---|
//! | [`shared`] | pools that several processes have a part in |
//! | [`free`] | frees, behind a stream's work or at once |
//! | [`free_lists`] | what a stream has freed and has again without asking the pool |
//! | [`order`] | which frees of others a stream is behind |
//! | [`stage`] | whether an allocation is one |
//! | [`space`] | arenas and their free ranges |
//! | [`access`] | which devices may access a pool |
//! | [`current`] | the pools of a device: the default one, the current one, what a synchronisation gives back |
//! | this one | pools, their attributes, allocation and free |

#![forbid(unsafe_code)]

mod access;
pub(crate) mod current;
mod free;
pub(crate) mod free_lists;
mod order;
mod shared;
mod space;
mod stage;

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

pub(crate) use self::free::{free_behind, free_known};
pub(super) use self::free::{free_now, take_back_idle};
pub(crate) use self::free_lists::FreeLists;
pub(crate) use self::order::{Mark, Order, PassedFrees};
pub use self::shared::{PoolPointer, export_pointer};
use self::{
    access::Access,
    current::Pools,
    free_lists::{Streams, Wanted},
    shared::Sharing,
    space::{Pending, Space},
    stage::Stage,
};
use super::{
    Backing, Origin, Region,
    meter::{Meter, SharedMeter},
    quarantine::Quarantine,
    table::Owner,
};
use crate::{
    check,
    device::{Device, Fence, System, fence::Keep},
    error::{Error, Result, explain},
};

/// Ranges start at multiples of this many bytes, and are as long: what `hipMalloc` promises for textures.
const GRANULE: u64 = 256;

/// Arenas are multiples of this many bytes: the large pages of the GPU.
const ARENA: u64 = 2 << 20;

/// Bytes of a pool's space that an allocation of `bytes` bytes takes.
fn size_of(bytes: u64) -> Option<u64> {
    bytes.max(1).saturating_add(check::padding()).checked_next_multiple_of(GRANULE)
}

/// A stream, as far as its order decides when memory may be used again.
pub(crate) trait Ordered: Send + Sync + 'static {
    /// Unique over the process.
    fn id(&self) -> u64;

    /// The device that the stream works on.
    fn device(&self) -> &Device;

    /// The pools of that device.
    fn pools(&self) -> &'static Pools;

    /// What was freed on the stream last.
    fn freed(&self) -> &FreeLists;

    /// Where on the stream pooled memory is that is freed now: behind so much activity. With `mark`, other streams may
    /// want it.
    fn free_point(&self, mark: bool) -> u64;

    /// The frees that a wait for a point comes behind which is yet to be marked on the stream; the stream is behind them
    /// itself.
    fn passed_frees(&self) -> PassedFrees;

    /// Puts the stream behind the default stream, or that behind the others, where it must be: it learns whose frees it
    /// is behind.
    ///
    /// # Errors
    /// A fault of earlier work.
    fn catch_up(&self) -> Result<()>;

    /// What lies behind each of these [points](Ordered::free_point): a fence and its lane, or nothing where all is over.
    /// Whatever captures or faults there are. `None` if another thread has the stream, unless the caller is `patient`.
    ///
    /// # Errors
    /// The fault that has taken the device for good; no memory for a signal.
    fn behind(
        &self,
        points: &mut dyn Iterator<Item = u64>,
        patient: bool,
    ) -> Result<Option<Vec<Option<Mark>>>>;

    /// Holds what follows back until `fence`, which lies on `lane`, has fired.
    ///
    /// # Errors
    /// A fault of earlier work.
    fn wait_for(&self, fence: &Fence, lane: u64) -> Result<()>;
}

/// When memory that another stream freed may be used again; each can be forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// When an event or the default stream has put the allocating stream behind the free.
    FollowEventDependencies,
    /// When the free is over, whatever the streams have to do with each other.
    Opportunistic,
    /// When nothing else is left: the allocating stream is made to wait for the free.
    InternalDependencies,
}

/// How a pool is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    /// At most this many bytes reserved; 0 for as many as the device has.
    pub max_bytes: u64,
    /// The kinds of handle that the pool can be exported by, as its maker encoded them.
    pub handle_types: u32,
    /// Whether other processes may import the pool.
    pub is_shareable: bool,
}

/// What no pool can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolLimit {
    /// One of pinned host memory.
    Host,
    /// One of memory that moves between host and device.
    Managed,
    /// One that other processes have a part in.
    Shared,
}

impl PoolLimit {
    /// Says why it cannot be.
    pub fn refusal(self) -> Error {
        let why = match self {
            Self::Host => "memory pools hold memory of devices: allocate host memory with hipHostMalloc",
            Self::Managed => "there are no pools of managed memory: allocate it with hipMallocManaged",
            Self::Shared => {
                "the pool cannot be shared with other processes: pools are shared by file descriptors, on back ends \
                 that share memory; create it without handle types"
            }
        };
        explain(why);
        Error::NotSupported(why)
    }
}

/// A pool of device memory. Clones are the same pool; it lives until the last of them and the last of its allocations
/// is gone.
pub struct StreamPool(Arc<Inner>);

pub(crate) struct Inner {
    /// Unique over the process, and not 0.
    id: u64,
    /// How many [`StreamPool`]s there are: only through these can the pool be asked for memory.
    holders: AtomicUsize,
    device: Device,
    /// All pools of the device.
    pools: &'static Pools,
    options: PoolOptions,
    access: Access,
    sharing: Sharing,
    /// By [`Reuse`].
    reuse: [AtomicBool; 3],
    release_threshold: AtomicU64,
    /// The streams that may have free memory of the pool.
    streams: Streams,
    /// Bytes that callers have, as they asked for them.
    used: SharedMeter,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    space: Space<Arc<Arena>, Freed>,
    reserved: Meter,
    /// Ranges with what they wait for, which are not in the space yet.
    freed: Quarantine<(u64, u64, Option<Freed>)>,
}

impl State {
    /// Gives a range back to the space, later where programs are checked.
    fn give(&mut self, address: u64, bytes: u64, freed: Option<Freed>) {
        if check::padding() == 0 {
            return self.space.give(address, bytes, freed);
        }
        for (address, bytes, freed) in self.freed.keep(bytes, (address, bytes, freed)) {
            self.space.give(address, bytes, freed);
        }
    }

    fn end_quarantine(&mut self) {
        self.freed.empty().for_each(|(address, bytes, freed)| self.space.give(address, bytes, freed));
    }
}

/// Memory of a device that pools hand out in ranges.
struct Arena {
    memory: hsa::Allocation,
    device: Device,
}

impl Arena {
    fn new(device: &Device, bytes: u64) -> Option<Self> {
        let memory =
            device.0.local.allocate(usize::try_from(bytes).ok()?).ok()?.held_by(crate::memory_report::POOLS);
        device.context().pools.mapped.fetch_add(bytes, Ordering::Relaxed);
        super::hand_out(&memory);
        Some(Self { memory, device: device.clone() })
    }

    fn address(&self) -> u64 {
        self.memory.address()
    }

    fn bytes(&self) -> u64 {
        self.memory.len() as u64
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        check::released(self.address()..self.address() + self.bytes());
        self.device.context().pools.mapped.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

/// A free that memory waits for.
#[derive(Clone)]
struct Freed {
    stream: u64,
    /// Where on the stream the free is.
    point: u64,
    fence: Fence,
    /// The lane that the fence lies on.
    lane: u64,
}

impl Pending for Freed {
    fn later(&self, other: &Self) -> Option<Self> {
        // Points and fences of one stream grow together.
        (self.stream == other.stream)
            .then(|| if self.point > other.point { self.clone() } else { other.clone() })
    }

    fn is_over(&self) -> bool {
        self.fence.is_over()
    }
}

/// The owner of a range, in the table of allocations.
pub(crate) struct Grant {
    /// Not a holder: what is only free keeps no pool.
    pool: Arc<Inner>,
    stage: Stage,
    /// Bytes taken from the pool's space.
    bytes: u64,
    /// What holds the range in place of the pool's space, if another process has allocated it.
    attached: Option<Arc<hsa::Attachment>>,
}

impl Grant {
    pub(super) fn pool(&self) -> StreamPool {
        StreamPool::hold(self.pool.clone())
    }
}

impl Owner for Grant {
    fn is_open_to(&self, device: &Device) -> bool {
        *device == self.pool.device || self.pool.access.lets_in(device)
    }

    fn is_shareable(&self) -> bool {
        self.pool.options.is_shareable
    }

    fn is_found(&self) -> bool {
        self.stage.is_live()
    }

    fn end(&self) -> bool {
        self.stage.end()
    }

    fn held(self: Arc<Self>) -> Keep {
        Keep::Other(self)
    }
}

impl Region {
    /// What the memory is of a pool, if it is of one.
    pub(super) fn grant(&self) -> Option<Arc<Grant>> {
        let Backing::Owned(owner) = &self.backing else { return None };
        let owner: Arc<dyn Any + Send + Sync> = owner.clone();
        owner.downcast().ok()
    }
}

/// A range of a pool and its owner.
struct Range {
    region: Arc<Region>,
    grant: Arc<Grant>,
}

impl Range {
    /// The region as one of a pool, if it is that.
    fn of(region: Arc<Region>) -> Option<Self> {
        region.grant().map(|grant| Self { region, grant })
    }
}

impl Inner {
    /// Whether the pool can still be asked for memory.
    fn is_held(&self) -> bool {
        self.holders.load(Ordering::Acquire) > 0
    }

    /// Has the streams give back what they have freed; `false` if some have kept it: as [`free_lists::give_back`].
    fn gather(&self, wanted: &Wanted) -> bool {
        self.streams
            .living()
            .iter()
            .fold(true, |all, stream| free_lists::give_back(&**stream, self, wanted) & all)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl StreamPool {
    /// A new pool of memory on `device`, which only that device may access.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if it is to be shared with other processes in a way that it cannot be;
    /// [`Error::OperatingSystem`].
    pub fn new(device: &Device, options: PoolOptions) -> Result<Self> {
        match options {
            PoolOptions { is_shareable: true, .. } => Self::shareable(device, options),
            // Handles of other kinds.
            PoolOptions { handle_types: 1.., .. } => Err(PoolLimit::Shared.refusal()),
            _ => Ok(Self::make(device, options, Sharing::None)),
        }
    }

    fn make(device: &Device, options: PoolOptions, sharing: Sharing) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let pool = Self::hold(Arc::new(Inner {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            holders: AtomicUsize::new(0),
            device: device.clone(),
            pools: &device.context().pools,
            options,
            access: Access::default(),
            sharing,
            reuse: [true, true, true].map(AtomicBool::new),
            release_threshold: AtomicU64::new(0),
            streams: Streams::default(),
            used: SharedMeter::default(),
            state: Mutex::default(),
        }));
        device.context().pools.register(&pool);
        pool
    }

    /// Whether the pool can be asked for memory through another holder, too.
    fn has_other_holders(&self) -> bool {
        self.0.holders.load(Ordering::Acquire) > 1
    }

    fn hold(inner: Arc<Inner>) -> Self {
        inner.holders.fetch_add(1, Ordering::Relaxed);
        Self(inner)
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// How it was made.
    pub fn options(&self) -> &PoolOptions {
        &self.0.options
    }

    /// Whether memory is used again in this way.
    pub fn reuses(&self, reuse: Reuse) -> bool {
        self.0.reuse[reuse as usize].load(Ordering::Relaxed)
    }

    /// Allows or forbids a way to use memory again.
    pub fn set_reuse(&self, reuse: Reuse, allowed: bool) {
        self.0.reuse[reuse as usize].store(allowed, Ordering::Relaxed);
    }

    /// Bytes that may stay reserved when a stream, an event or the device is synchronised.
    pub fn release_threshold(&self) -> u64 {
        self.0.release_threshold.load(Ordering::Relaxed)
    }

    /// Sets how many bytes may stay reserved.
    pub fn set_release_threshold(&self, bytes: u64) {
        self.0.release_threshold.store(bytes, Ordering::Relaxed);
    }

    /// Bytes that callers have, as they asked for them.
    pub fn used(&self) -> Meter {
        self.0.used.read()
    }

    /// Bytes that the pool has of the device.
    pub fn reserved(&self) -> Meter {
        self.state().reserved
    }

    /// Starts the high mark of [`StreamPool::used`] anew.
    pub fn reset_used_high(&self) {
        self.0.used.reset_high();
    }

    /// Starts the high mark of [`StreamPool::reserved`] anew.
    pub fn reset_reserved_high(&self) {
        self.state().reserved.reset_high();
    }

    /// The address of at least `bytes` bytes for work that follows on `stream`, which may be one of another device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; a fault of earlier work on the stream; what capture forbids.
    pub(crate) fn allocate(&self, stream: &Arc<impl Ordered>, bytes: usize) -> Result<u64> {
        stream.device().check()?;
        if let Some(address) = stream.freed().take(self.0.id, bytes as u64) {
            return Ok(address);
        }
        let out_of_memory = Error::OutOfMemory { bytes };
        let size = size_of(bytes as u64).ok_or(out_of_memory.clone())?;
        // The default stream and those that it orders catch up with each other, and learn whose frees they are behind.
        stream.catch_up()?;
        stream.freed().join(stream, &self.0);
        let passed = stream.passed_frees();
        let stream: &dyn Ordered = &**stream;
        let address = match self.reuse(stream, &passed, size) {
            Some(address) => address,
            None => match self.reserve(size) {
                Some(address) => address,
                None => self.scrape_together(stream, &passed, size)?.ok_or(out_of_memory)?,
            },
        };
        self.0.used.add(bytes as u64);
        let pool = self.0.clone();
        let grant = Arc::new(Grant { pool, stage: Stage::live(), bytes: size, attached: None });
        let region = System::get()?.memory().insert(Region {
            address,
            bytes: bytes as u64,
            origin: Origin::Pooled,
            device: self.0.device.ordinal(),
            flags: 0,
            device_address: address,
            marks: Default::default(),
            backing: Backing::Owned(grant.clone()),
        });
        region.begin(Some(stream.id()));
        stream.freed().remember(Range { region, grant });
        Ok(address)
    }

    /// Takes free memory that `stream` may use without waiting.
    fn reuse(&self, stream: &dyn Ordered, passed: &PassedFrees, size: u64) -> Option<u64> {
        let follow = self.reuses(Reuse::FollowEventDependencies);
        let opportunistic = self.reuses(Reuse::Opportunistic);
        let may_use = |pending: Option<&Freed>| {
            pending.is_none_or(|free| {
                free.stream == stream.id()
                    || follow && passed.include(free.stream, free.point)
                    || opportunistic && free.is_over()
            })
        };
        let take = || Some(self.state().space.take(size, may_use)?.address);
        // What does not fit well the streams keep for themselves as long as there is other memory.
        self.0.gather(&Wanted::fitting(size));
        take()
            .or_else(|| {
                free_lists::give_back(stream, &self.0, &Wanted::ALL);
                take()
            })
            .or_else(|| {
                self.0.gather(&Wanted::ALL);
                take()
            })
            .or_else(|| {
                // What is free may lie in pieces that came back at different times.
                if opportunistic {
                    self.state().space.settle();
                    take()
                } else {
                    None
                }
            })
    }

    /// Takes memory of a new arena.
    fn reserve(&self, size: u64) -> Option<u64> {
        let large = size.checked_next_multiple_of(ARENA)?;
        [large, size].into_iter().find_map(|wanted| self.reserve_arena(wanted, size))
    }

    /// Takes `size` bytes of a new arena of at most `wanted` bytes.
    fn reserve_arena(&self, wanted: u64, size: u64) -> Option<u64> {
        let bytes = {
            let mut state = self.state();
            let room = match self.0.options.max_bytes {
                0 => wanted,
                most => most.saturating_sub(state.reserved.current) / GRANULE * GRANULE,
            };
            let bytes = wanted.min(room);
            if bytes < size {
                return None;
            }
            // Counted before it is there, so that two threads cannot reach the limit together.
            state.reserved.current += bytes;
            bytes
        };
        let mut placed = None;
        let opened = Arena::new(&self.0.device, bytes).and_then(|arena| {
            self.0.access.open(arena, |arena| {
                let mut state = self.state();
                state.reserved.current -= bytes;
                state.reserved.add(bytes);
                state.space.add(arena.address(), bytes, arena);
                placed = state.space.take(size, |pending| pending.is_none());
            })
        });
        if opened.is_none() {
            self.state().reserved.current -= bytes;
        }
        placed.map(|taken| taken.address)
    }

    /// Takes memory when the device has no more: what all pools of the device retain goes back to it first, then
    /// `stream` is made to wait for another stream's free, then the caller.
    ///
    /// # Errors
    /// A fault of earlier work.
    fn scrape_together(&self, stream: &dyn Ordered, passed: &PassedFrees, size: u64) -> Result<Option<u64>> {
        let device = &self.0.device;
        self.state().end_quarantine();
        self.0.gather(&Wanted::REALLY_ALL);
        device.context().pools.trim();
        if let Some(address) = self.reuse(stream, passed, size).or_else(|| self.reserve(size)) {
            return Ok(Some(address));
        }
        if self.reuses(Reuse::InternalDependencies) {
            let taken = self.state().space.take(size, |_| true);
            if let Some(taken) = taken {
                if let Some(free) = &taken.pending
                    && let Err(error) = stream.wait_for(&free.fence, free.lane)
                {
                    self.state().space.give(taken.address, size, taken.pending);
                    return Err(error);
                }
                return Ok(Some(taken.address));
            }
        }
        // Inside a host function a thread cannot wait: the device may be waiting for it.
        for fence in device.context().pools.pending() {
            if fence.wait().is_err() && fence.lost().is_none() {
                return Ok(None);
            }
        }
        device.context().pools.trim();
        Ok(self.reuse(stream, passed, size).or_else(|| self.reserve(size)))
    }

    /// Gives free memory back to the device while `keep` bytes or more stay reserved, as far as the frees are over and
    /// no other thread has a stream that made one.
    pub fn trim(&self, keep: u64) {
        self.trim_some(keep);
    }

    /// As [`StreamPool::trim`]; whether all was looked at.
    fn trim_some(&self, keep: u64) -> bool {
        if self.state().reserved.current <= keep {
            return true;
        }
        let all = self.0.gather(&Wanted::ALL);
        let mut state = self.state();
        let idle = state.space.drop_idle(keep);
        let bytes = idle.iter().map(|arena| arena.bytes()).sum();
        state.reserved.sub(bytes);
        drop(state);
        drop(idle);
        all
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }
}

/// Allocates what `stream` has freed last of as many bytes of its current pool, if there is such memory and nothing
/// stands in the way.
pub(crate) fn allocate_again(stream: &impl Ordered, bytes: usize) -> Result<Option<u64>> {
    let Some(pool) = stream.pools().current_id() else { return Ok(None) };
    stream.device().check()?;
    Ok(stream.freed().take(pool, bytes as u64))
}

impl Clone for StreamPool {
    fn clone(&self) -> Self {
        Self::hold(self.0.clone())
    }
}

impl Drop for StreamPool {
    fn drop(&mut self) {
        // ORDER: acquire and release. What others did with the pool comes before what it keeps is given back.
        if self.0.holders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.gather(&Wanted::ALL);
        }
    }
}

impl Drop for Inner {
    /// The last allocation was freed, but the stream may not be there yet: its fence keeps the memory until then.
    fn drop(&mut self) {
        let state = self.state.get_mut();
        for (free, arena) in state.space.pending().filter(|(free, _)| !free.is_over()) {
            free.fence.keep_all(vec![Keep::Other(arena.clone())]);
        }
    }
}

impl PartialEq for StreamPool {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for StreamPool {}

impl fmt::Debug for StreamPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamPool").field("device", &self.0.device).finish_non_exhaustive()
    }
}
