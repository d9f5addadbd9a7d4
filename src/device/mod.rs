//! Devices: a GPU's agent, its memory pools, its lanes, and what all its streams share.

mod advice;
pub(crate) mod cooperative;
pub(crate) mod fault;
pub(crate) mod fence;
pub(crate) mod lane;
pub(crate) mod once;
pub(crate) mod pause;
mod properties;
pub(crate) mod resident;
mod rings;
pub(crate) mod roll;
pub(crate) mod slabs;
mod system;
mod units;
pub(crate) mod wait;

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

pub use fence::Fence;
pub use properties::Properties;
pub use rings::{RING_VARIABLE, Rings};
pub use system::{Backend, System};
pub use wait::WaitPolicy;

pub(crate) use self::units::Units;
use self::{
    cooperative::Cooperative,
    fault::Faults,
    fence::{PooledSignal, SignalPool},
    lane::Lane,
    once::Once,
    rings::Placement,
    roll::Roll,
    slabs::Slabs,
    wait::PolicyCell,
};
use crate::{
    blit::Blit,
    callback,
    error::{Error, Result},
    hostcall::Hostcall,
    memory::{peer::Visitors, stream_pool::current::Pools},
    pool::footprint::Footprint,
    stream::{Held, Orphan, OrphanWork, Stream, StreamInner, news::News},
    user_object::due::Call,
};

/// Lanes of a device for streams of ordinary priority. AMD's command processor gains nothing from more
/// than a few queues that are busy at once, and each costs memory (`GPU_MAX_HW_QUEUES` is 4 there).
pub(crate) const LANES: usize = 4;

/// Queues have one priority each, so streams that are more or less urgent than the others have lanes of their own,
/// created when the first such stream is used.
const PRIORITIES: [hsa::Priority; 3] = [hsa::Priority::Normal, hsa::Priority::High, hsa::Priority::Low];

/// The number of the lane for cooperative kernels, behind those of streams.
pub(crate) const COOPERATIVE: usize = PRIORITIES.len() * LANES;

/// The number of the first of three lanes for bodies of conditional nodes that the host drives.
const BODIES: usize = COOPERATIVE + 1;

/// The number of the queue to which kernels publish what launches resident graphs.
const RESIDENT_LAUNCHES: usize = COOPERATIVE + LANES;

/// The number of the first of [`LANES`] queues that resident graphs run on.
const RESIDENT: usize = RESIDENT_LAUNCHES + LANES;

/// The number of the first lane for streams that are restricted to some units; a set of units has [`LANES`] of them.
pub(crate) const RESTRICTED: usize = RESIDENT + LANES;

const KERNARG_SLAB: usize = 256 * 1024;
/// A graph of 100,000 kernels that is instantiated again and again has its arguments where those before it were: fresh pages
/// cost more than all else of it.
const KERNARGS_RETAINED: u64 = 16 << 20;
const STAGING_SLAB: usize = 4 * 1024 * 1024;

/// The place in [`PRIORITIES`] of what a caller calls a priority: smaller is more urgent.
fn class_of(priority: i32) -> usize {
    match priority {
        0 => 0,
        ..0 => 1,
        1.. => 2,
    }
}

/// A GPU.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<DeviceInner>);

pub(crate) struct DeviceInner {
    pub(crate) ordinal: usize,
    pub(crate) system: &'static System,
    pub(crate) agent: hsa::Agent,
    pub(crate) local: hsa::Pool,
    /// Device memory that is coherent while kernels run, on devices that have it.
    pub(crate) fine_grained: Option<hsa::Pool>,
    pub(crate) properties: Properties,
    pub(crate) target: loader::TargetId,
    pub(crate) faults: Arc<Faults>,
    pub(crate) signals: Arc<SignalPool>,
    pub(crate) kernargs: Arc<Slabs>,
    pub(crate) staging: Arc<Slabs>,
    /// Device memory for the packets of resident graphs; the host cannot write it.
    pub(crate) packets: Arc<Slabs>,
    residence: Mutex<resident::Residence>,
    /// Pools of stream-ordered memory.
    pub(crate) pools: Pools,
    /// What launches of graphs hold of the memory.
    pub(crate) graph_memory: Footprint,
    /// Who else may access the device's memory.
    pub(crate) visitors: Visitors,
    /// By number: those of each priority, the one for cooperative kernels, those of each set of units.
    lanes: Mutex<Vec<Option<Arc<Lane>>>>,
    /// The sets of units that streams were restricted to.
    restrictions: Mutex<Vec<Units>>,
    pub(crate) cooperative: Cooperative,
    next_lane: AtomicUsize,
    /// Where lanes that are created get their rings.
    placement: Placement,
    wait: PolicyCell,
    pub(crate) legacy: OnceLock<Stream>,
    /// Its streams, and what is left of those that were let go with work in flight.
    roll: Roll<Known, Orphan>,
    /// Launches on streams of other devices in which the device takes part, oldest first.
    visits: Mutex<VecDeque<Fence>>,
    /// Held while a stream is put behind what its kind orders it with; see `stream::legacy`.
    pub(crate) implicit_order: Mutex<()>,
    /// Tells the default stream whether blocking streams have anything new.
    pub(crate) blocking_news: News,
    blit: Once<Blit>,
    /// What kernels ask of the host.
    pub(crate) hostcall: Hostcall,
}

/// A stream of a device.
#[derive(Clone)]
struct Known {
    stream: Arc<StreamInner>,
    /// What all who hold it share.
    held: Weak<Held>,
}

impl Device {
    /// All devices, in the order of their ordinals.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if no HSA runtime could be started.
    pub fn all() -> Result<&'static [Device]> {
        Ok(System::get()?.devices())
    }

    /// The device with this ordinal.
    ///
    /// # Errors
    /// [`Error::InvalidDevice`] if there is none.
    pub fn get(ordinal: usize) -> Result<Device> {
        Self::all()?.get(ordinal).cloned().ok_or(Error::InvalidDevice(ordinal as i64))
    }

    /// Its place in [`Device::all`].
    #[inline]
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// What the device is and can do.
    pub fn properties(&self) -> &Properties {
        &self.0.properties
    }

    /// Whether it is the emulated GPU or hardware behind ROCr.
    pub fn backend(&self) -> Backend {
        self.0.system.backend()
    }

    /// Lets queues of the device that are created from now on have their rings there; [`RING_VARIABLE`] says where until
    /// then. Queues are created when streams first need them, up to four for each priority, and stay. What came of it
    /// says [`Stream::rings`].
    pub fn set_rings(&self, rings: Rings) {
        self.0.placement.set(rings);
    }

    /// The stream that orders itself with all blocking streams (HIP's null stream).
    pub fn default_stream(&self) -> &Stream {
        self.0.legacy.get_or_init(|| Stream::legacy(self))
    }

    /// Waits until everything that was submitted to the device has completed.
    ///
    /// # Errors
    /// The fault of a kernel that ran since the last call that reported one;
    /// [`CaptureError::Unsupported`](crate::CaptureError::Unsupported) while one of its streams captures, whose
    /// capture is invalid then; [`Error::IllegalState`] inside a host function.
    pub fn synchronize(&self) -> Result<()> {
        let _call = Call::begin();
        callback::refuse_inside()?;
        crate::capture::refuse_device_synchronize(self)?;
        let outcome = self.drain();
        self.0.pools.release();
        self.check()?;
        outcome
    }

    /// Waits until everything that was submitted to the device has completed or is lost, and reports no fault that
    /// others should hear of. Captures do not mind.
    pub(crate) fn drain(&self) -> Result<()> {
        let epoch = self.0.faults.epoch();
        let mut fences = Vec::new();
        let (streams, orphans) = self.work();
        for stream in streams {
            match stream.own_fence() {
                Ok(fence) => fences.push(fence),
                // A fault came between, and has taken all there was to wait for.
                Err(_) if self.0.faults.epoch() != epoch => self.0.faults.put_back(),
                Err(error) => return Err(error),
            }
        }
        let orphaned = orphans.iter().map(|orphan| &orphan.fence);
        let visits: Vec<Fence> = lock(&self.0.visits).iter().cloned().collect();
        self.outlast(fences.iter().chain(orphaned).chain(&visits))?;
        // What was waited for may have launched graphs.
        let launched = self.launched_by_kernels();
        self.outlast(&launched)?;
        self.forget_visits();
        Ok(())
    }

    /// Waits until what lies before `fences` has completed or is lost.
    pub(crate) fn outlast<'a>(&self, fences: impl IntoIterator<Item = &'a Fence>) -> Result<()> {
        for fence in fences {
            match fence.wait_as(self.wait_policy().unwrap_or_default()) {
                Err(error) if fence.lost().is_none() => return Err(error),
                _ => {}
            }
        }
        self.bury_orphans();
        Ok(())
    }

    /// Reports a fault that nobody was told of yet, after giving up what it took with it; the fault that has taken
    /// the device for good, to everybody.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.0.faults.is_pending() {
            return if self.0.faults.is_lost() { Err(self.0.faults.error()) } else { Ok(()) };
        }
        // Taking the lanes first: what the fault did not reach runs no longer when it is reported.
        Faults::await_recording();
        let burial = self.bury_lanes();
        self.recall();
        drop(burial);
        match self.0.faults.take() {
            Some(error) => {
                crate::error::explain(&error);
                Err(error)
            }
            None if self.0.faults.is_lost() => Err(self.0.faults.error()),
            None => Ok(()), // Another thread was told.
        }
    }

    /// Ends everything on queues that faults have taken. While the caller has what is returned nobody else does, and no
    /// queue is created: none of a new epoch may exist while one of an older epoch still runs, for what that uses, memory,
    /// signals, rings, is used again.
    fn bury_lanes(&self) -> MutexGuard<'static, ()> {
        static BURIAL: Mutex<()> = Mutex::new(());
        let burial = lock(&BURIAL);
        // Others may have been here in between, so that others already work on fresh lanes: those stay. Devices that the
        // fault took along lose theirs with it: they would wait for signals that this one is about to use again.
        let stale = |slot: &mut Option<Arc<Lane>>| slot.take_if(|lane| !lane.is_current());
        for device in self.0.system.devices() {
            device.withdraw_lost();
            // What publishes to queues from the device stops before they do: by number.
            let dead: Vec<_> = lock(&device.0.lanes).iter_mut().filter_map(stale).collect();
            // Stopped first, as somebody may hold one who is about to find out that it is of no use any more.
            dead.iter().for_each(|lane| lane.stop());
        }
        burial
    }

    /// Takes back what waves that a fault has ended held of the hostcall buffer, if no others run. During a burial, so that
    /// no lane comes between.
    fn recall(&self) {
        let lanes = lock(&self.0.lanes);
        let epoch = self.0.faults.epoch();
        if lanes.iter().all(Option::is_none) && epoch > 0 && self.0.faults.is_settled(epoch - 1) {
            self.0.hostcall.reset();
        }
    }

    /// How threads wait for the device where nothing else is wished of an event or a stream, if that was ever set.
    pub fn wait_policy(&self) -> Option<WaitPolicy> {
        self.0.wait.get()
    }

    /// Sets how threads wait for the device from now on.
    pub fn set_wait_policy(&self, policy: Option<WaitPolicy>) {
        self.0.wait.set(policy);
    }

    /// Waits for `fence` on behalf of a caller, who is told of a fault if nobody was. `wish` is for another way to wait
    /// than the device's.
    pub(crate) fn wait(&self, fence: &Fence, wish: WaitPolicy) -> Result<()> {
        let policy = match wish {
            WaitPolicy::Auto => self.wait_policy().unwrap_or_default(),
            wish => wish,
        };
        let outcome = fence.wait_as(policy);
        self.0.pools.release();
        self.check()?;
        outcome
    }

    /// The lane with this number, created on first use and again after a fault.
    pub(crate) fn lane(&self, number: usize) -> Result<Arc<Lane>> {
        let known = |lanes: &[Option<Arc<Lane>>]| lanes.get(number)?.clone().filter(|lane| lane.is_current());
        if let Some(lane) = known(&lock(&self.0.lanes)) {
            return Ok(lane);
        }
        loop {
            let epoch = self.0.faults.epoch();
            let _burial = self.bury_lanes();
            // Another thread may have been faster.
            if let Some(lane) = known(&lock(&self.0.lanes)) {
                return Ok(lane);
            }
            let lane = self.create_lane(number)?;
            // Otherwise a fault has come in between, and what it took is to be buried first.
            if lane.epoch() == epoch {
                let mut lanes = lock(&self.0.lanes);
                if lanes.len() <= number {
                    lanes.resize(number + 1, None);
                }
                lanes[number] = Some(lane.clone());
                return Ok(lane);
            }
        }
    }

    fn create_lane(&self, number: usize) -> Result<Arc<Lane>> {
        if self.0.faults.is_lost() {
            return Err(self.0.faults.error());
        }
        let (producers, priority) = match PRIORITIES.get(number / LANES) {
            Some(priority) => (hsa::Producers::Multi, *priority),
            None if number == COOPERATIVE => (hsa::Producers::Cooperative, hsa::Priority::Normal),
            None => (hsa::Producers::Multi, hsa::Priority::Normal),
        };
        let faults = &self.0.faults;
        let placement = &self.0.placement;
        let lane = Lane::new(&self.0.agent, faults, producers, priority, placement, system::queue_error)?;
        if let Some(units) = self.restriction(number) {
            lane.restrict(&units)?;
        }
        Ok(Arc::new(lane))
    }

    /// The number of the lane that a new stream of this priority takes.
    pub(crate) fn assign_lane(&self, priority: i32) -> usize {
        let class = class_of(priority);
        // The default stream is on lane 0. Who needs to be independent of it most often has one or two more streams:
        // they come there last.
        class * LANES + (1 + self.0.next_lane.fetch_add(1, Ordering::Relaxed)) % LANES
    }

    /// The number of a lane for a new stream that is restricted to `units`.
    pub(crate) fn assign_lane_on(&self, units: Units) -> usize {
        if units == Units::all(self.properties().compute_units) {
            return self.assign_lane(0);
        }
        // Streams on the same units share their lanes, which stay: work of a stream that is gone may still be on them.
        let mut restrictions = lock(&self.0.restrictions);
        let known = restrictions.iter().position(|known| *known == units);
        let set = known.unwrap_or_else(|| {
            restrictions.push(units);
            restrictions.len() - 1
        });
        RESTRICTED + set * LANES + self.0.next_lane.fetch_add(1, Ordering::Relaxed) % LANES
    }

    /// The units that a lane is restricted to, if it is.
    pub(crate) fn restriction(&self, lane: usize) -> Option<Units> {
        let set = lane.checked_sub(RESTRICTED)? / LANES;
        lock(&self.0.restrictions).get(set).cloned()
    }

    /// A lane for packets of which none waits for anything but packets before it.
    pub(crate) fn body_lane(&self) -> Result<Arc<Lane>> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        self.lane(BODIES + NEXT.fetch_add(1, Ordering::Relaxed) % (RESIDENT_LAUNCHES - BODIES))
    }

    /// The `n`th lane behind lane `number` of the same priority; another one for each `n` below [`LANES`].
    pub(crate) fn lane_beside(&self, number: usize, n: usize) -> Result<Arc<Lane>> {
        self.lane(number / LANES * LANES + (number + n) % LANES)
    }

    /// As [`Device::lane_beside`], but a lane of this priority. Work of a stream that is restricted to some units stays
    /// on those.
    pub(crate) fn lane_beside_of(&self, number: usize, n: usize, priority: i32) -> Result<Arc<Lane>> {
        if number >= RESTRICTED {
            return self.lane_beside(number, n);
        }
        self.lane_beside(class_of(priority) * LANES + number % LANES, n)
    }

    pub(crate) fn register(&self, stream: Arc<StreamInner>, held: &Arc<Held>) {
        self.bury_orphans();
        self.0.roll.enter(Known { stream, held: Arc::downgrade(held) });
    }

    /// The streams of the device that somebody holds.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        let (known, _) = self.0.roll.all(|_| ());
        known.iter().filter_map(|known| known.held.upgrade().map(Stream)).collect()
    }

    /// Whatever there is work of: streams, those included whose last holder is letting go of them just now, and the work
    /// in flight of streams that nobody holds any more.
    pub(crate) fn work(&self) -> (Vec<Arc<StreamInner>>, Vec<OrphanWork>) {
        let (known, orphans) = self.0.roll.all(|orphan| orphan.work.clone());
        (known.into_iter().map(|known| known.stream).collect(), orphans)
    }

    /// Takes over the work in flight of a stream that nobody holds any more, if there is any.
    pub(crate) fn adopt(&self, stream: &Arc<StreamInner>, orphan: Option<Orphan>) {
        self.0.roll.replace(|known| Arc::ptr_eq(&known.stream, stream), orphan);
        self.bury_orphans();
    }

    /// Notes that the device takes part in a launch on a stream of another, which fires `signal` at its end.
    pub(crate) fn takes_part(&self, signal: &Arc<PooledSignal>) {
        self.forget_visits();
        // What the launch keeps is its stream's to let go.
        lock(&self.0.visits).push_back(Fence::new(signal.clone(), Vec::new()));
    }

    /// Lets go of what orphaned work needed, once it is over.
    fn bury_orphans(&self) {
        let over = self.0.roll.take_orphans(|orphan| orphan.work.fence.is_over());
        // What it needed may be the caller's, whose `Drop` may come here again: no lock is held.
        for orphan in over {
            drop(orphan.work.fence.take_keeps());
        }
    }

    /// The copy and fill kernels, loaded on first use.
    pub(crate) fn blit(&self) -> Result<&Blit> {
        self.0.blit.get_or_make(|| Blit::load(self))
    }

    /// Bytes of device memory: free, and in all.
    pub fn memory_info(&self) -> (u64, u64) {
        let all = self.0.properties.total_memory;
        let free = self.0.agent.memory_available().unwrap_or_else(|_| {
            // ROCr 5.2.3 does not tell: what this process has allocated is all that is known.
            let pooled = self.0.pools.mapped_bytes();
            all.saturating_sub(self.0.system.memory().device_bytes(self.0.ordinal) + pooled)
        });
        (free, all)
    }

    /// Bytes that kernels may have allocated at once.
    pub fn heap_limit(&self) -> u64 {
        self.0.hostcall.heap_limit().get()
    }

    /// Sets how many bytes kernels may have allocated at once; what they have, they keep.
    pub fn set_heap_limit(&self, bytes: u64) {
        self.0.hostcall.heap_limit().set(bytes);
    }

    /// Bytes of the buffer that the kernels of a stream, or of a graph, print to which do not call the host.
    pub fn printf_bytes(&self) -> usize {
        self.0.hostcall.printf_bytes()
    }

    /// Sets the size of such buffers, for streams and graphs that have none yet.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for less than a message and more than 32 bits can count.
    pub fn set_printf_bytes(&self, bytes: usize) -> Result<()> {
        self.0.hostcall.set_printf_bytes(bytes)
    }

    /// Bytes of kernel-argument memory: reserved, and in use.
    pub fn kernarg_bytes(&self) -> (u64, u64) {
        self.0.kernargs.footprint()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.0.ordinal == other.0.ordinal
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.0.ordinal).field(&self.0.properties.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::stream::StreamKind;

    #[test]
    fn a_fault_that_is_noticed_late_leaves_fresh_lanes_alone() {
        let device = Device::get(0).unwrap();
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let (open, gate) = channel();
        let gate = Mutex::new(gate);
        stream.call(move || gate.lock().unwrap().recv().unwrap()).unwrap();
        // As for a thread that saw the fault before another one reported it and the stream went on.
        device.0.faults.put_back();
        assert!(device.check().is_err());
        open.send(()).unwrap();
        stream.synchronize().unwrap();
    }
}
