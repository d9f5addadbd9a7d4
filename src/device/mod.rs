//! Devices: a GPU's agent, its memory pools, its lanes, and what all its streams share.

pub(crate) mod above;
pub mod activity;
mod advice;
mod arguments;
mod backend;
pub(crate) mod checked;
pub(crate) mod clocks;
mod costs;
pub(crate) mod fault;
pub(crate) mod fence;
pub(crate) mod heap;
pub(crate) mod holders;
mod hosts;
pub(crate) mod lane;
mod lane_kind;
pub(crate) mod once;
pub(crate) mod own_lanes;
pub(crate) mod pause;
mod properties;
mod queues;
mod rings;
pub(crate) mod slabs;
mod system;
pub(crate) mod timeline;
mod units;
pub(crate) mod wait;
mod watchdog;

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

pub use arguments::ARGUMENTS_VARIABLE;
pub use backend::Backend;
pub use checked::{CHECK_VARIABLE, Tool};
pub use costs::named_costs;
pub use fence::Fence;
pub use properties::{Properties, Sharing};
pub use queues::QueueCount;
pub use rings::{RING_VARIABLE, Rings};
pub use system::System;
pub use wait::WaitPolicy;
pub use watchdog::WATCHDOG_VARIABLE;

use self::{
    above::{Above, Services, Streams},
    fault::Faults,
    fence::{Keep, PooledSignal, SignalPool},
    lane::Lane,
    lane_kind::BODIES,
    own_lanes::OwnLanes,
    rings::Placement,
    slabs::Slabs,
    wait::PolicyCell,
};
pub(crate) use self::{
    lane_kind::{LANES, LaneKind},
    units::Units,
};
use crate::{error::Result, schedule::CostTable};

const KERNARG_SLAB: usize = 256 * 1024;
/// A graph of 100,000 kernels that is instantiated again and again has its arguments where those before it were: fresh pages
/// cost more than all else of it.
const KERNARGS_RETAINED: u64 = 16 << 20;
const STAGING_SLAB: usize = 4 * 1024 * 1024;
/// Device memory of resident graphs comes in pieces of at least this many bytes.
const PACKETS_SLAB: usize = 256 * 1024;

/// A GPU.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<DeviceInner>);

pub(crate) struct DeviceInner {
    pub(crate) ordinal: usize,
    pub(crate) system: &'static System,
    pub(crate) agent: hsa::Agent,
    /// Memory of the host that is near.
    pub(crate) host: hsa::Pool,
    /// Memory of the same socket that host and device see alike at fences only.
    pub(crate) coarse_host: hsa::Pool,
    pub(crate) local: hsa::Pool,
    /// Device memory that is coherent while kernels run, on devices that have it.
    pub(crate) fine_grained: Option<hsa::Pool>,
    pub(crate) properties: Properties,
    pub(crate) target: loader::TargetId,
    pub(crate) faults: Arc<Faults>,
    pub(crate) signals: Arc<SignalPool>,
    /// Signals that raise no interrupts: of packets that wait for each other.
    pub(crate) edges: Arc<SignalPool>,
    pub(crate) kernargs: Arc<Slabs>,
    /// Kernel arguments of what is launched again and again: in the device's memory, where it reads them without crossing
    /// the bus, or [`kernargs`](Self::kernargs).
    pub(crate) arguments: Arc<Slabs>,
    pub(crate) staging: Arc<Slabs>,
    /// Device memory for the packets of resident graphs; the host cannot write it.
    pub(crate) packets: Arc<Slabs>,
    /// By [number](LaneKind::number).
    lanes: Mutex<Vec<Option<Arc<Lane>>>>,
    /// The sets of units that streams were restricted to.
    restrictions: Mutex<Vec<Units>>,
    /// Lanes of one stream or launch each.
    own_lanes: OwnLanes,
    next_lane: AtomicUsize,
    /// Where lanes that are created get their rings.
    placement: Placement,
    wait: PolicyCell,
    /// Launches on streams of other devices in which the device takes part, oldest first.
    participations: Mutex<VecDeque<Fence>>,
    /// What its packets and copies cost, looked up once.
    costs: OnceLock<Result<CostTable>>,
    pub(crate) services: Above<dyn Services>,
    pub(crate) streams: Above<dyn Streams>,
}

impl Device {
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

    /// Sets where queues of the device that are created from now on have their rings. Until then [`RING_VARIABLE`] says
    /// it. Queues are created when streams first need them, up to four for each priority, and stay.
    /// [`Stream::rings`](crate::Stream::rings) says where the ring of a stream's queue is.
    pub fn set_rings(&self, rings: Rings) {
        self.0.placement.set(rings);
    }

    /// Waits until everything that was submitted to the device has completed or is lost. It reports no fault: faults
    /// are for calls that check the device. It is allowed during captures.
    pub(crate) fn drain(&self) -> Result<()> {
        let streams = self.0.streams.get();
        let fences = streams.map_or(Ok(Vec::new()), |streams| streams.fences(&self.0.faults))?;
        let participations: Vec<Fence> = self.0.participations.lock().iter().cloned().collect();
        self.outlast(fences.iter().chain(&participations))?;
        // What was waited for may have launched graphs.
        let launched = self.0.services.get().map_or(Vec::new(), Services::launched_by_kernels);
        self.outlast(&launched)?;
        self.forget_participations();
        clocks::drained();
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
        if let Some(streams) = self.0.streams.get() {
            streams.let_go_of_what_is_over();
        }
        Ok(())
    }

    /// Reports a fault that no call has reported yet, after giving up what it took with it. A fault that has taken the
    /// device for good is reported to every caller.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.0.faults.is_pending() {
            return self.refuse_if_lost();
        }
        // Taking the lanes first: what the fault did not reach runs no longer when it is reported.
        Faults::await_recording();
        let retirement = self.retire_lanes();
        self.recall();
        drop(retirement);
        match self.0.faults.take() {
            Some(error) => {
                crate::error::explain(&error);
                Err(error)
            }
            // Another thread was told.
            None => self.refuse_if_lost(),
        }
    }

    /// Whether the device runs nothing any more, whatever is submitted: it was reset, or its memory is damaged.
    pub fn is_lost(&self) -> bool {
        self.0.faults.is_lost()
    }

    /// Refuses what has device code change words of the host's memory that others change, too, where atomic operations do
    /// not get there: it would wait without end. `what` names it.
    ///
    /// # Errors
    /// [`Error::NotSupported`].
    pub(crate) fn require_host_atomics(&self, what: &'static str) -> Result<()> {
        if self.properties().host_atomics { Ok(()) } else { Err(crate::Error::NotSupported(what)) }
    }

    /// Refuses what the HSA runtime would do by the device itself, and wait for without end.
    ///
    /// # Errors
    /// What took the device, if it is lost.
    pub(crate) fn refuse_if_lost(&self) -> Result<()> {
        if self.0.faults.is_lost() { Err(self.0.faults.error()) } else { Ok(()) }
    }

    /// Brings back a device that runs nothing any more. What was submitted to it is lost.
    ///
    /// # Errors
    /// What took the device, where the driver does not give it back to the process: on ROCr, which reports no second
    /// loss.
    pub fn recover(&self) -> Result<()> {
        if !self.0.faults.is_lost() {
            return Ok(());
        }
        if self.backend() == Backend::Rocr {
            return Err(self.0.faults.error());
        }
        let _retirement = self.retire_lanes();
        self.0.faults.restore();
        self.recall();
        Ok(())
    }

    /// Ends everything on queues that faults have taken. While the caller holds the guard, no other thread does so and
    /// no queue is created. No queue of a new epoch may exist while one of an older epoch still runs: the memory,
    /// signals and rings of the older one are used again.
    fn retire_lanes(&self) -> MutexGuard<'static, ()> {
        static RETIREMENT: Mutex<()> = Mutex::new(());
        let retirement = RETIREMENT.lock();
        // Another thread may have retired the lanes in between, so that streams already work on fresh lanes: those
        // stay. Devices that the fault took along lose theirs with it: they would wait for signals that this one is
        // about to use again.
        let stale = |slot: &mut Option<Arc<Lane>>| slot.take_if(|lane| !lane.is_current());
        for device in self.0.system.devices() {
            if let Some(services) = device.0.services.get() {
                services.before_queues_stop();
            }
            let mut dead: Vec<(LaneKind, _)> = {
                let mut lanes = device.0.lanes.lock();
                let lanes = lanes.iter_mut().enumerate();
                lanes.filter_map(|(number, slot)| Some((number.into(), stale(slot)?))).collect()
            };
            dead.sort_by_key(|(kind, _)| kind.stop_order());
            // Stopped first: a launch may still hold one, so that it is not destroyed here.
            queues::distinct(dead).iter().for_each(|(_, lane)| lane.stop());
        }
        retirement
    }

    /// Takes back what waves that a fault has ended held of the hostcall buffer, if no other waves run. The caller
    /// retires lanes meanwhile, so that none is created.
    fn recall(&self) {
        // What is no lane of the device any more has been stopped, unless the device is lost.
        let none_left = self.0.lanes.lock().iter().all(Option::is_none);
        let is_first = self.0.faults.epoch() == 0;
        if let Some(services) =
            self.0.services.get().filter(|_| none_left && !is_first && !self.0.faults.is_lost())
        {
            services.all_queues_are_gone();
        }
    }

    /// How threads wait for the device where an event or a stream says nothing else, if that was ever set.
    pub fn wait_policy(&self) -> Option<WaitPolicy> {
        self.0.wait.get()
    }

    /// Sets how threads wait for the device from now on.
    pub fn set_wait_policy(&self, policy: Option<WaitPolicy>) {
        self.0.wait.set(policy);
    }

    /// Waits for `fence` on behalf of a caller. A fault that no call has reported yet is reported to this one. `wish`
    /// is for another way to wait than the device's.
    pub(crate) fn wait(&self, fence: &Fence, wish: WaitPolicy) -> Result<()> {
        let policy = match wish {
            WaitPolicy::Auto => self.wait_policy().unwrap_or_default(),
            wish => wish,
        };
        let waiting = timeline::wait(fence);
        let outcome = fence.wait_as(policy);
        drop(waiting);
        timeline::collect();
        self.work_was_waited_for();
        self.check()?;
        outcome
    }

    /// Tells the services that a caller has waited for work.
    pub(crate) fn work_was_waited_for(&self) {
        if let Some(services) = self.0.services.get() {
            services.work_was_waited_for();
        }
    }

    /// The lanes that exist.
    pub(crate) fn lanes(&self) -> Vec<Arc<Lane>> {
        queues::distinct(self.present()).into_iter().map(|(_, lane)| lane).collect()
    }

    /// A lane, created on first use and again after a fault. Where the device has no queue to spare, it is another's.
    pub(crate) fn lane(&self, lane: impl Into<LaneKind>) -> Result<Arc<Lane>> {
        let kind = lane.into();
        let number = kind.number();
        let known = |lanes: &[Option<Arc<Lane>>]| lanes.get(number)?.clone().filter(|lane| lane.is_current());
        if let Some(lane) = known(&self.0.lanes.lock()) {
            return Ok(lane);
        }
        loop {
            let epoch = self.0.faults.epoch();
            let _retirement = self.retire_lanes();
            // Another thread may have been faster.
            if let Some(lane) = known(&self.0.lanes.lock()) {
                return Ok(lane);
            }
            // Before the fault is reported, if a call needs a lane sooner: behind that, waves run again.
            self.recall();
            let lane = match self.lane_to_share(kind)? {
                Some(lane) => lane,
                None => self.create_lane(kind)?,
            };
            // Otherwise a fault has come in between, and what it took is to be retired first.
            if lane.epoch() == epoch {
                let mut lanes = self.0.lanes.lock();
                if lanes.len() <= number {
                    lanes.resize(number + 1, None);
                }
                lanes[number] = Some(lane.clone());
                return Ok(lane);
            }
        }
    }

    fn create_lane(&self, kind: LaneKind) -> Result<Arc<Lane>> {
        self.refuse_if_lost()?;
        let (producers, priority) = match self.place_of(kind) {
            LaneKind::Stream { priority, .. } => (hsa::Producers::Multi, priority),
            LaneKind::WaveSync => (hsa::Producers::Cooperative, hsa::Priority::Normal),
            _ => (hsa::Producers::Multi, hsa::Priority::Normal),
        };
        let faults = &self.0.faults;
        let placement = &self.0.placement;
        let lane = Lane::new(&self.0.agent, faults, producers, priority, placement, system::queue_error)?;
        if let Some(units) = self.restriction(kind) {
            lane.restrict(&units)?;
        }
        Ok(Arc::new(lane))
    }

    /// The lane that a new stream of this priority takes.
    pub(crate) fn assign_lane(&self, priority: i32) -> LaneKind {
        // The default stream is on lane 0. Streams that need to be independent of it are most often one or two: they
        // come to that lane last.
        LaneKind::Stream { priority: LaneKind::priority(priority), index: (1 + self.next_lane()) % LANES }
    }

    /// A lane for a new stream that is restricted to `units`.
    pub(crate) fn assign_lane_on(&self, units: Units) -> LaneKind {
        if units == Units::all(self.properties().compute_units) {
            return self.assign_lane(0);
        }
        // Streams on the same units share their lanes, which stay: work of a stream that is gone may still be on them.
        let mut restrictions = self.0.restrictions.lock();
        let known = restrictions.iter().position(|known| *known == units);
        let set = known.unwrap_or_else(|| {
            restrictions.push(units);
            restrictions.len() - 1
        });
        LaneKind::Restricted { set, index: self.next_lane() % LANES }
    }

    /// Counts the streams that lanes were assigned to.
    fn next_lane(&self) -> usize {
        self.0.next_lane.fetch_add(1, Ordering::Relaxed)
    }

    /// The units that a lane is restricted to, if it is.
    pub(crate) fn restriction(&self, lane: impl Into<LaneKind>) -> Option<Units> {
        match self.place_of(lane.into()) {
            LaneKind::Restricted { set, .. } => self.0.restrictions.lock().get(set).cloned(),
            _ => None,
        }
    }

    /// A lane for packets of which none waits for anything but packets before it.
    pub(crate) fn body_lane(&self) -> Result<Arc<Lane>> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        self.lane(LaneKind::Body { index: NEXT.fetch_add(1, Ordering::Relaxed) % BODIES })
    }

    /// The `n`th lane behind `lane` of the same priority; another one for each `n` below [`LANES`], though two may share a
    /// queue. Beside a lane of one stream are those that other streams of its priority share.
    #[cfg(test)]
    pub(crate) fn lane_beside(&self, lane: impl Into<LaneKind>, n: usize) -> Result<Arc<Lane>> {
        self.lane(self.place_of(lane.into()).beside(n))
    }

    /// The `n`th lane behind `lane`, but of this priority. Work of a stream that is restricted to some units stays on those.
    /// Beside a lane of one stream are those that other streams share.
    pub(crate) fn lane_beside_of(
        &self,
        lane: impl Into<LaneKind>,
        n: usize,
        priority: i32,
    ) -> Result<Arc<Lane>> {
        self.lane(self.place_of(lane.into()).of_priority(priority).beside(n))
    }

    /// Notes that the device takes part in a launch on a stream of another, which fires `signal` at its end.
    pub(crate) fn takes_part(&self, signal: &Arc<PooledSignal>) {
        self.forget_participations();
        // The launch's stream lets go of what the launch keeps.
        self.0.participations.lock().push_back(Fence::new(signal.clone(), Vec::new()));
    }

    /// Keeps something until `signal` has fired, even if no caller waits for it.
    pub(crate) fn keep_behind(&self, signal: &Arc<PooledSignal>, keep: Keep) {
        self.forget_participations();
        self.0.participations.lock().push_back(Fence::new(signal.clone(), vec![keep]));
    }

    /// Lets go of what launches needed that have ended.
    pub(super) fn forget_participations(&self) {
        // What a fault has taken may run on until its queues are destroyed.
        let over = |oldest: &mut Fence| {
            let settled = || oldest.is_on(self) && self.0.faults.is_settled(oldest.signal().epoch());
            oldest.has_fired() || oldest.is_over() && (!oldest.keeps_any() || settled())
        };
        // A launch may keep a value of the caller's, whose `Drop` may call this function again: it is dropped without
        // the lock.
        let forgotten: Vec<Fence> = {
            let mut participations = self.0.participations.lock();
            std::iter::from_fn(|| participations.pop_front_if(over)).collect()
        };
        drop(forgotten);
    }

    /// Whether kernel arguments of executables on this device alone lie in its own memory, not in the host's.
    pub fn has_own_arguments(&self) -> bool {
        !Arc::ptr_eq(&self.0.kernargs, &self.0.arguments)
    }

    /// Whether copies may go to the device's copy engines. Behind a fault none may: an engine still has what waits for lost
    /// packets, and whatever followed would wait behind it.
    pub(crate) fn engines_serve(&self) -> bool {
        self.0.properties.copy_engines && self.0.faults.epoch() == 0
    }

    /// Bytes of kernel-argument memory, the host's and the device's own: reserved, and in use.
    pub fn kernarg_bytes(&self) -> (u64, u64) {
        let (host, device) = (self.0.kernargs.footprint(), self.0.arguments.footprint());
        match self.has_own_arguments() {
            false => host,
            true => (host.0 + device.0, host.1 + device.1),
        }
    }
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
    use crate::stream::{Stream, StreamKind};

    #[test]
    fn a_fault_that_is_noticed_late_leaves_fresh_lanes_alone() {
        let device = Device::get(0).unwrap();
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let (open, gate) = channel();
        let gate = Mutex::new(gate);
        stream.call(move || gate.lock().recv().unwrap()).unwrap();
        // As for a thread that saw the fault before another one reported it and the stream went on.
        device.0.faults.put_back();
        assert!(device.check().is_err());
        open.send(()).unwrap();
        stream.synchronize().unwrap();
    }
}
