//! Streams: work in order. Everything that can be put on a stream can also be captured from it.

pub(crate) mod activity_counter;
mod attributes;
mod context;
pub(crate) mod cooperative;
mod copy;
mod detached;
mod device;
mod event;
mod external;
pub(crate) mod host;
pub(crate) mod legacy;
mod managed;
mod memory;
#[cfg(test)]
mod model;
mod node;
mod order;
mod recording;
mod roll;
pub(crate) mod rules;
pub(crate) mod submit;
mod tail;
pub(crate) mod value;
pub(crate) mod watchdog;

use std::{
    any::Any,
    cell::RefCell,
    collections::HashMap,
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread::ThreadId,
};

use parking_lot::{Mutex, MutexGuard};

pub(crate) use self::detached::{DetachedEnd, DetachedWork};
pub use self::value::{Condition, Word};
pub use self::{
    attributes::{Attributes, SyncDomain},
    context::ExecutionContext,
    event::Event,
    node::{Conditional, Graph, Node},
};
use self::{
    device::Streams,
    host::{Job, Worker},
    rules::{Mode, Reason, check_default_launch, check_wait, refuse_uncapturable},
    submit::{State, Submission},
};
use crate::{
    callback,
    check::CaptureLog,
    device::{
        Device, Fence, LaneKind, Rings, Units, clocks,
        fence::{Alive, Keep},
        timeline,
    },
    error::Result,
    hostcall::fifo::{Drain, Fifo},
    memory::{
        Relay, StreamPool,
        stream_pool::{FreeLists, Order, Ordered, current::Pools},
    },
    module::Dispatch,
    module::Function,
    user_object::due::Call,
};
use aqlipse_graph::{HostFn, Kernel, Memset, NodeId};

#[cfg(doc)]
use crate::error::{CaptureError, Error};

/// How a stream orders itself with the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// The default stream itself: it waits for all blocking streams, and they for it.
    Legacy,
    /// A stream that the default stream waits for.
    Blocking,
    /// A stream that knows nothing of the default stream.
    NonBlocking,
}

/// A stream capture, for the streams that take part in it and the events that stand for places in it.
pub(crate) trait Recorder: Any + Send + Sync {
    /// How far its prohibitions reach.
    fn mode(&self) -> Mode;

    /// The thread that began it.
    fn thread(&self) -> ThreadId;

    /// Whether it has ended, or went with the stream that it was begun on.
    fn is_over(&self) -> bool;

    /// Whether an illegal call has spoilt it.
    fn is_broken(&self) -> bool;

    /// Spoils it; the first reason counts.
    fn break_by(&self, reason: &Reason);

    /// The only thread that could end it is gone.
    fn lose_thread(&self);

    /// Takes in a stream that has waited for an event of the capture; `false` if the capture is over.
    ///
    /// # Errors
    /// [`CaptureError::Invalidated`].
    fn join(&self, stream: &Stream) -> Result<bool>;

    /// The stream with this number goes away. It had captured `dependencies` last.
    fn leave(&self, stream: u64, dependencies: Vec<NodeId>);

    /// Adds a node of `device` behind others.
    ///
    /// # Errors
    /// What the graph refuses.
    fn add(&self, device: &Device, node: Node, after: &[NodeId]) -> Result<NodeId>;

    /// Adds a node that allocates memory as `pool` does; returns it with the address.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; what the graph refuses.
    fn allocate(&self, pool: &StreamPool, bytes: u64, after: &[NodeId]) -> Result<(NodeId, u64)>;

    /// Adds a node that frees the allocation at `address`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it is no allocation of a graph; what the graph refuses.
    fn free(&self, address: u64, after: &[NodeId]) -> Result<NodeId>;

    /// Where its calls are noted, if they are checked.
    fn log(&self) -> Option<&CaptureLog>;

    /// Lets the graph keep `objects` alive.
    fn keep(&self, objects: &[Alive]);
}

/// A stream's part in a capture.
pub(crate) struct Membership {
    pub(crate) session: Arc<dyn Recorder>,
    /// What the next captured node depends on.
    pub(crate) dependencies: Vec<NodeId>,
}

/// A point of a capture that an event stands for.
#[derive(Clone)]
struct Captured {
    /// Its streams hold it until it is over. An event must not: the graph of the capture may hold the event.
    session: Weak<dyn Recorder>,
    dependencies: Vec<NodeId>,
}

impl Captured {
    /// Whether the capture has ended: the point is one of a graph then, which the event does not stand for.
    fn is_over(&self) -> bool {
        self.session.upgrade().is_none_or(|session| session.is_over())
    }
}

/// An in-order queue of work.
#[derive(Clone)]
pub struct Stream(pub(crate) Arc<Held>);

/// What all copies of a [`Stream`] share. With the last of them its work becomes [`DetachedWork`]; until that is known, the
/// device still finds the work with the stream itself. Its count is written by threads that use the stream: see below.
#[repr(align(128))]
pub(crate) struct Held(Arc<StreamInner>);

impl std::ops::Deref for Held {
    type Target = StreamInner;

    fn deref(&self) -> &StreamInner {
        &self.0
    }
}

/// In pairs of cache lines of its own, as processors fetch them: threads that launch on other streams write others.
#[repr(align(128))]
pub(crate) struct StreamInner {
    pub(crate) device: Device,
    /// What the streams of the device share.
    shared: &'static Streams,
    /// The device's pools of stream-ordered memory.
    pub(crate) pools: &'static Pools,
    pub(crate) id: u64,
    kind: StreamKind,
    priority: AtomicI32,
    /// Changes only while the state is locked.
    lane: AtomicUsize,
    attributes: Mutex<Attributes>,
    /// Number of the execution context that it was created in, 0 for none.
    context: u64,
    /// The context is gone.
    detached: AtomicBool,
    state: Mutex<State>,
    worker: Worker,
    /// What kernels print to that do not call the host, if there were any.
    fifo: OnceLock<Arc<Fifo>>,
    /// Grows with every submission, while the state is locked.
    activity: AtomicU64,
    /// What the stream is behind: activity of the default stream, or, if it is that, its latest look at blocking ones.
    seen: AtomicU64,
    /// Activity of this stream that the default stream is behind.
    seen_by_legacy: AtomicU64,
    /// Frees of pooled memory that the stream is behind.
    order: Order,
    /// Pooled memory that was freed on the stream last.
    pub(crate) freed: FreeLists,
    capturing: AtomicBool,
    capture: Mutex<Option<Membership>>,
}

thread_local! {
    static PER_THREAD: RefCell<HashMap<usize, Stream>> = RefCell::default();
}

impl Stream {
    /// A new stream on `device`. `priority`: smaller is more urgent.
    pub fn new(device: &Device, kind: StreamKind, priority: i32) -> Self {
        Self::make(device, kind, priority, device.assign_lane(priority))
    }

    /// A new blocking stream whose kernels run on some of the compute units only: those of `mask`, a bit each, that
    /// the device has, or all if it has none of them.
    pub fn on_units(device: &Device, mask: &[u32]) -> Self {
        let units = Units::of(mask, device.properties());
        Self::make(device, StreamKind::Blocking, 0, device.assign_lane_on(units))
    }

    pub(crate) fn legacy(device: &Device) -> Self {
        Self::make(device, StreamKind::Legacy, 0, LaneKind::DEFAULT)
    }

    /// The calling thread's own default stream on `device`.
    pub fn per_thread(device: &Device) -> Self {
        PER_THREAD.with(|streams| {
            let mut streams = streams.borrow_mut();
            let make = || Self::new(device, StreamKind::Blocking, 0);
            streams.entry(device.ordinal()).or_insert_with(make).clone()
        })
    }

    fn make(device: &Device, kind: StreamKind, priority: i32, lane: LaneKind) -> Self {
        Self::make_in(device, kind, priority, lane, 0)
    }

    fn make_in(device: &Device, kind: StreamKind, priority: i32, lane: LaneKind, context: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let inner = Arc::new(StreamInner {
            device: device.clone(),
            shared: device.shared_by_streams(),
            pools: &device.context().pools,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            kind,
            priority: AtomicI32::new(priority),
            lane: AtomicUsize::new(lane.number()),
            attributes: Mutex::default(),
            context,
            detached: AtomicBool::new(false),
            state: Mutex::default(),
            worker: Worker::default(),
            fifo: OnceLock::new(),
            activity: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            seen_by_legacy: AtomicU64::new(0),
            order: Order::default(),
            freed: FreeLists::default(),
            capturing: AtomicBool::new(false),
            capture: Mutex::default(),
        });
        if kind != StreamKind::NonBlocking {
            clocks::order_implicitly(inner.id, device.ordinal(), kind == StreamKind::Legacy);
        }
        let held = Arc::new(Held(inner.clone()));
        device.shared_by_streams().register(inner, &held);
        Self(held)
    }

    /// The device it works on.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// How it orders itself with the default stream.
    pub fn kind(&self) -> StreamKind {
        self.0.kind
    }

    /// Its priority; smaller is more urgent.
    pub fn priority(&self) -> i32 {
        self.0.priority.load(Ordering::Relaxed)
    }

    /// The compute units that its kernels may run on, a bit each, as few words as the device's units need.
    pub fn units(&self) -> Vec<u32> {
        let device = self.device();
        let all = || Units::all(device.properties().compute_units);
        device.restriction(self.lane_number()).unwrap_or_else(all).words().to_vec()
    }

    /// Unique over the process.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Launches a kernel.
    ///
    /// # Errors
    /// [`Error::InvalidConfiguration`] for a grid, block or shared memory that the kernel or the device cannot
    /// take; a fault of earlier work; what capture forbids.
    pub fn launch(&self, kernel: Kernel<Function>) -> Result<()> {
        self.launch_with(kernel, None)
    }

    /// As [`Stream::launch`], with a priority of the kernel's own in the place of the stream's; smaller is more urgent. It
    /// still follows what is on the stream. A kernel that is cooperative or prints without calling the host, and one of a
    /// stream that is restricted to some units, keeps the stream's.
    ///
    /// # Errors
    /// As [`Stream::launch`].
    pub fn launch_at(&self, kernel: Kernel<Function>, priority: i32) -> Result<()> {
        self.launch_with(kernel, Some(priority))
    }

    fn launch_with(&self, kernel: Kernel<Function>, priority: Option<i32>) -> Result<()> {
        let code = kernel.function.code(self.device())?;
        let dispatch = code.dispatch(&kernel)?;
        if kernel.attributes.is_cooperative() {
            code.check_cooperative(self.device().properties(), &kernel)?;
        }
        if self.is_capturing() {
            return self.record(Node::Kernel(kernel));
        }
        if self.kind() == StreamKind::Legacy {
            check_default_launch(self.device(), "launching a kernel")?;
        }
        if kernel.attributes.is_cooperative() {
            return self.launch_cooperative(dispatch);
        }
        if code.prints() {
            return self.launch_printing(dispatch);
        }
        let mut submission = self.submission()?;
        if let Some(priority) = priority {
            let lane = self.device().lane_beside_of(self.lane_number(), 0, priority)?;
            return submission.detour(lane, &dispatch);
        }
        submission.dispatch(&dispatch)?;
        submission.finish()
    }

    /// Launches a kernel that prints to a buffer, and has the buffer read before anything else runs.
    fn launch_printing(&self, mut dispatch: Dispatch) -> Result<()> {
        // Once packets wait for the buffer to be read, the thread that reads it must not fail to start.
        self.0.worker.start()?;
        let fifo = match self.0.fifo.get() {
            Some(fifo) => fifo.clone(),
            None => {
                let fresh = Fifo::new(self.device())?;
                // Two threads may race here; both use the winner's.
                self.0.fifo.get_or_init(|| fresh).clone()
            }
        };
        dispatch.print_to(&fifo);
        let mut submission = self.submission()?;
        submission.dispatch(&dispatch)?;
        submission.keep(Keep::Other(fifo.clone()));
        let (reached, returned) = (submission.signal(1)?, submission.edge()?);
        submission.mark(&reached);
        submission.wait_signal(returned.clone());
        let drain = Drain(fifo);
        submission.push_job(Job::new(vec![reached], move || drop(drain), Some(returned)))?;
        submission.finish()
    }

    /// Fills device-visible memory.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the rows leave their allocation; what capture forbids.
    pub fn memset(&self, set: Memset) -> Result<()> {
        let given = set;
        let set = crate::memory::check_memset(set)?;
        if self.is_capturing() {
            // As it was given: the device's address for it is found again when the graph is compiled.
            return self.record(Node::Memset(given));
        }
        if set.width == 0 || set.height == 0 {
            return Ok(());
        }
        if !crate::memory::fill_reaches(self.device(), &set) {
            // SAFETY: a fill reads no memory of the caller's.
            return unsafe { self.relay(Relay::Fill(set), false) };
        }
        let dispatch = self.device().blit()?.memset(&set);
        let mut submission = self.submission()?;
        submission.dispatch(&dispatch)?;
        submission.finish()
    }

    /// Calls a function on a thread of the stream when everything before it has completed; what follows
    /// waits for its return. It must not wait for the device.
    ///
    /// # Errors
    /// What capture forbids.
    pub fn host(&self, function: HostFn) -> Result<()> {
        if self.is_capturing() {
            return self.record(Node::Host(function));
        }
        let traced = timeline::Launch::next(self.id(), None);
        let _launching = traced.map(|launch| launch.begin());
        self.run_on_host(move || match traced {
            Some(launch) => launch.host(None, "host function", || function.call()),
            None => function.call(),
        })
    }

    /// Runs `work` on the stream's thread when everything before it has completed; what follows waits for it.
    fn run_on_host(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        self.run_on_host_once(|| work)
    }

    /// As [`Stream::run_on_host`] for work that is made when nothing but a fault keeps it from being done any more.
    fn run_on_host_once<W: FnOnce() + Send + 'static>(&self, make: impl FnOnce() -> W) -> Result<()> {
        // Once packets wait for the function, its thread must not fail to start.
        self.start_worker()?;
        let mut submission = self.submission()?;
        submission.run_on_host(make)?;
        submission.finish()
    }

    /// Holds what follows back until the work that `event` recorded has completed.
    ///
    /// # Errors
    /// [`CaptureError::Isolation`] where the wait would leave a capture, [`CaptureError::Merge`] where it
    /// would join two, [`Error::InvalidHandle`] where the default stream would join one.
    pub fn wait(&self, event: &Event) -> Result<()> {
        if let Some(outcome) = self.wait_in_capture(event) {
            return outcome;
        }
        if let Some((shared, number)) = event.foreign() {
            return self.wait_for_other_process(shared.clone(), number);
        }
        if let Some((fence, lane, passed)) = event.recorded() {
            self.0.wait_for(&fence, lane)?;
            self.0.order.learn(&passed);
        }
        Ok(())
    }

    /// Marks this point of the stream in `event`.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub fn record_event(&self, event: &Event) -> Result<()> {
        if self.record_in_capture(event) {
            return Ok(());
        }
        self.record_event_now(event)
    }

    fn record_event_now(&self, event: &Event) -> Result<()> {
        event.check_home(self.device())?;
        let submission = self.submission()?;
        // Before the point is marked: a free that another thread numbers meanwhile may lie behind it.
        let passed = self.0.passed_frees();
        let lane = submission.lane().id();
        let fence = if event.has_timing() { submission.fresh_fence() } else { submission.fence() }?;
        event.set_behind(fence, lane, self.device(), passed);
        match event.shared() {
            Some(shared) => self.tell_other_processes(shared.clone()),
            None => Ok(()),
        }
    }

    /// As [`Stream::record_event`]; while the stream captures, as a node of the graph.
    ///
    /// # Errors
    /// A fault of earlier work; what capture forbids.
    pub fn record_event_external(&self, event: &Event) -> Result<()> {
        if self.is_capturing() {
            return self.record(Node::EventRecord(event.clone()));
        }
        self.record_event(event)
    }

    /// As [`Stream::wait`]; while the stream captures, as a node of the graph.
    ///
    /// # Errors
    /// As [`Stream::wait`].
    pub fn wait_external(&self, event: &Event) -> Result<()> {
        if self.is_capturing() {
            return self.record(Node::EventWait(event.clone()));
        }
        self.wait(event)
    }

    /// Waits until everything on the stream has completed.
    ///
    /// # Errors
    /// The fault of a kernel; [`CaptureError::Unsupported`] while the stream captures, or another stream does in whose
    /// way that stands.
    pub fn synchronize(&self) -> Result<()> {
        let _call = Call::begin();
        callback::refuse_inside()?;
        check_wait(self, "synchronising a stream")?;
        // The caller gets the fault that took the work, and the device fresh queues.
        self.wait_for_all()
    }

    /// Waits for what a synchronous call has just put on the stream: what it may do, it may wait for.
    ///
    /// # Errors
    /// The fault of a kernel; [`CaptureError::Unsupported`] while the stream captures.
    pub fn complete(&self) -> Result<()> {
        callback::refuse_inside()?;
        self.refuse_capture("a call that waits for its work")?;
        // The caller gets the fault that took the work, and the device fresh queues.
        self.wait_for_all()
    }

    /// Whether everything on the stream has completed.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn is_idle(&self) -> Result<bool> {
        let _call = Call::begin();
        check_wait(self, "querying a stream")?;
        // A stream that is behind the default stream with what it is yet to be given is idle until then.
        let submission = match self.kind() {
            StreamKind::Legacy => self.submission()?,
            StreamKind::Blocking | StreamKind::NonBlocking => {
                self.device().check()?;
                self.0.own_submission()?
            }
        };
        // A stream without a past is idle, and needs no packet to find out.
        let Some(fence) = submission.past()? else { return Ok(true) };
        let idle = fence.is_passed();
        self.device().check()?;
        fence.lost().map_or(Ok(idle), Err)
    }

    /// A fence behind everything on the stream so far.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub(crate) fn fence(&self) -> Result<Fence> {
        self.submission()?.fence()
    }

    /// Waits for a fence behind everything on the stream so far.
    fn wait_for_all(&self) -> Result<()> {
        self.device().wait(&self.fence()?, self.attributes().wait)
    }

    /// Opens the stream for packets: behind a fault report, and behind the default stream where it must be.
    #[inline]
    pub(crate) fn submission(&self) -> Result<Submission<'_>> {
        self.0.submission()
    }

    /// Where the queue that the stream publishes to has its ring; creates the queue if it was not used yet.
    ///
    /// # Errors
    /// The fault that has taken the device; what refuses the queue.
    pub fn rings(&self) -> Result<Rings> {
        Ok(self.device().lane(self.lane_number())?.rings())
    }

    /// The number of the lane that the stream publishes to.
    pub(crate) fn lane_number(&self) -> usize {
        self.0.lane_number()
    }

    /// Starts the stream's host worker, so that queueing jobs cannot fail.
    pub(crate) fn start_worker(&self) -> Result<()> {
        self.0.worker.start()
    }

    /// Keeps `objects` alive until what follows on the stream has completed, or for the captured graph's life.
    pub(crate) fn keep_alive(&self, objects: &[Alive]) -> Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        if self.is_capturing() {
            return self.keep_in_capture(objects);
        }
        let mut submission = self.submission()?;
        objects.iter().for_each(|object| submission.keep(Keep::Other(object.clone())));
        submission.finish()
    }

    /// # Errors
    /// [`CaptureError::Unsupported`] while the stream captures; the capture is invalid then.
    fn refuse_capture(&self, what: &str) -> Result<()> {
        refuse_uncapturable(self, what)
    }
}

impl StreamInner {
    fn activity(&self) -> u64 {
        self.activity.load(Ordering::Acquire)
    }

    fn lane_number(&self) -> usize {
        self.lane.load(Ordering::Relaxed)
    }

    /// Opens the stream for packets: behind a fault report, and behind the default stream where it must be.
    fn submission(&self) -> Result<Submission<'_>> {
        self.device.check()?;
        let submission = self.own_submission()?;
        if legacy::is_behind(self) {
            return Ok(submission);
        }
        drop(submission);
        legacy::catch_up(self)
    }

    /// Opens the stream for packets that follow only what is on it.
    fn own_submission(&self) -> Result<Submission<'_>> {
        self.open(self.state.lock())
    }

    /// As [`StreamInner::own_submission`]; `None` if another thread has the stream, which may be waiting for the device.
    fn try_own_submission(&self) -> Result<Option<Submission<'_>>> {
        self.state.try_lock().map(|state| self.open(state)).transpose()
    }

    fn open<'s>(&'s self, mut state: MutexGuard<'s, State>) -> Result<Submission<'s>> {
        // With the state locked, so that no submission comes with an older lane than the one before.
        if state.may_go_home() {
            self.go_home(&mut state);
        }
        let number = self.lane_number();
        let lane = match state.lane(number) {
            Some(lane) => lane,
            None => state.found_lane(number, self.device.lane(number)?),
        };
        let mut submission = Submission::new(self, state, lane);
        submission.reserve_closing()?;
        Ok(submission)
    }

    /// Brings the stream back to a lane that it shares, if it needs none of its own and no other thread has it; blocks nothing.
    fn try_to_go_home(&self) {
        if let Some(mut state) = self.state.try_lock()
            && state.may_go_home()
        {
            self.go_home(&mut state);
        }
    }

    fn go_home(&self, state: &mut State) {
        if let Some(home) = state.go_home() {
            self.lane.store(home, Ordering::Relaxed);
        }
    }

    /// A fence behind what is on the stream, whatever captures or faults there are.
    pub(crate) fn own_fence(&self) -> Result<Fence> {
        self.own_submission()?.fence()
    }

    /// As [`StreamInner::own_fence`], with the fence's lane and the stream's activity that it covers.
    fn own_fence_and_activity(&self) -> Result<((Fence, u64), u64)> {
        let submission = self.own_submission()?;
        let lane = submission.lane().id();
        let (fence, activity) = submission.fence_with_activity()?;
        Ok(((fence, lane), activity))
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("id", &self.0.id).field("kind", &self.0.kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::device::LANES;

    #[test]
    fn streams_share_queues_only_with_streams_on_the_same_units() {
        let device = Device::get(0).unwrap();
        let all = Units::all(device.properties().compute_units);
        let lanes_of = |mask: &[u32]| {
            let stream = Stream::on_units(&device, mask);
            assert_eq!(stream.units(), Units::of(mask, device.properties()).words());
            stream.synchronize().unwrap();
            (0..LANES)
                .map(|n| device.lane_beside(stream.lane_number(), n).unwrap().id())
                .collect::<HashSet<_>>()
        };
        let (first, second, plain) = (lanes_of(&[1]), lanes_of(&[2]), lanes_of(all.words()));
        assert_eq!(first, lanes_of(&[1]));
        assert!(first.is_disjoint(&second) && first.is_disjoint(&plain) && second.is_disjoint(&plain));
        let ordinary = Stream::new(&device, StreamKind::Blocking, 0);
        assert_eq!(ordinary.units(), all.words());
        assert!(plain.contains(&device.lane(ordinary.lane_number()).unwrap().id()));
    }

    #[test]
    fn streams_of_different_priority_share_no_queue() {
        let device = Device::get(0).unwrap();
        let classes = [-1, 0, 1].map(|priority| {
            let stream = Stream::new(&device, StreamKind::NonBlocking, priority);
            stream.synchronize().unwrap();
            let siblings = (0..LANES).map(|n| device.lane_beside(stream.lane_number(), n).unwrap().id());
            let mut siblings: Vec<u64> = siblings.collect();
            siblings.sort_unstable();
            siblings.dedup();
            assert_eq!(siblings.len(), LANES);
            siblings
        });
        for (i, class) in classes.iter().enumerate() {
            let others = classes.iter().enumerate().filter(|(j, _)| *j != i).flat_map(|(_, other)| other);
            assert!(others.clone().all(|id| !class.contains(id)));
        }
    }
}
