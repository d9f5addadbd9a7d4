//! Events: named points in streams, to wait for and to measure time between.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::{
    Captured,
    rules::{Class, Reason, check_unsafe_call},
};
use crate::{
    device::{Device, Fence, WaitPolicy, wait::PolicyCell},
    error::{CaptureError, Error, Result},
    external::{EventHandle, SharedEvent},
    memory::stream_pool::PassedFrees,
    user_object::due::Call,
};

const WAITING: &str = "waiting for an event";

/// A point in a stream, set by [`Stream::record_event`](crate::Stream::record_event).
#[derive(Clone)]
pub struct Event(Arc<Inner>);

struct Inner {
    id: u64,
    timing: bool,
    wait: PolicyCell,
    /// The only device whose streams record it outside of captures, if there is one.
    home: Option<Device>,
    /// Of an event that other processes may have.
    shared: Option<Arc<SharedEvent>>,
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    /// Never recorded: waiting for it waits for nothing.
    #[default]
    Unset,
    /// Recorded in a stream.
    Recorded { fence: Fence, lane: u64, device: Device, passed: PassedFrees },
    /// Recorded in a capturing stream: a place in a graph, not in time. Once the capture is over, the event counts as never
    /// recorded.
    ///
    /// HIP: so 5.2.3 and the runtime of October 2024 (tests/conformance/capture_stale_events.cpp).
    Captured(Captured),
}

impl Event {
    /// A new event; `timing` says whether it can be measured.
    pub fn new(timing: bool) -> Self {
        Self::make(timing, None, None)
    }

    /// As [`Event::new`], for streams of one device: those of others neither record it, unless they are captured, nor
    /// is it measured with events of others. Any stream may wait for it.
    pub fn of(device: &Device, timing: bool) -> Self {
        Self::make(timing, Some(device.clone()), None)
    }

    /// A new event that other processes can open; it cannot be measured.
    ///
    /// # Errors
    /// [`Error::OperatingSystem`].
    pub fn interprocess() -> Result<Self> {
        Ok(Self::make(false, None, Some(Arc::new(SharedEvent::create()?))))
    }

    /// The event of another process behind a handle.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if it names none that still exists.
    pub fn open(handle: EventHandle) -> Result<Self> {
        Ok(Self::make(false, None, Some(Arc::new(SharedEvent::open(handle)?))))
    }

    fn make(timing: bool, home: Option<Device>, shared: Option<Arc<SharedEvent>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let wait = PolicyCell::default();
        Self(Arc::new(Inner { id, timing, wait, home, shared, state: Mutex::default() }))
    }

    /// What another process needs to open the event.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] unless it is an [interprocess](Event::interprocess) event.
    pub fn handle(&self) -> Result<EventHandle> {
        self.0.shared.as_ref().ok_or(Error::InvalidHandle)?.handle()
    }

    /// The part that other processes may have.
    pub(crate) fn shared(&self) -> Option<&Arc<SharedEvent>> {
        self.0.shared.as_ref()
    }

    /// The record to wait for, if another process has made the latest.
    pub(crate) fn foreign(&self) -> Option<(&Arc<SharedEvent>, u64)> {
        let shared = self.0.shared.as_ref()?;
        shared.foreign().map(|number| (shared, number))
    }

    /// Unique over the process.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Whether it can be measured.
    pub fn has_timing(&self) -> bool {
        self.0.timing
    }

    /// Sets how threads wait for the event; `Auto` leaves that to the [device](Device::set_wait_policy). Those that wait
    /// for another process sleep.
    pub fn set_wait_policy(&self, policy: WaitPolicy) {
        self.0.wait.set(Some(policy));
    }

    /// Waits until the recorded point has been reached.
    ///
    /// # Errors
    /// [`CaptureError::CapturedEvent`] if it was last recorded in a capture that is open, and invalid then;
    /// [`CaptureError::Unsupported`] while a capture forbids the calling thread to wait for other work; the fault that
    /// took the work before.
    pub fn synchronize(&self) -> Result<()> {
        let _call = Call::begin();
        crate::callback::refuse_inside()?;
        self.refuse_captured(WAITING)?;
        check_unsafe_call(WAITING)?;
        if let Some((shared, number)) = self.foreign() {
            return shared.wait_unless(number, || false);
        }
        match self.point()? {
            Some((fence, device)) => device.wait(&fence, self.0.wait.get().unwrap_or_default()),
            None => Ok(()),
        }
    }

    /// Whether the recorded point has been reached; an event that was never recorded counts as reached.
    ///
    /// # Errors
    /// [`CaptureError::CapturedEvent`] as of [`Event::synchronize`]; a fault: a point that it took will never be reached.
    pub fn is_complete(&self) -> Result<bool> {
        let _call = Call::begin();
        // HIP: 5.2.3 and the runtime of October 2024 answer for events outside of captures whatever captures
        // (tests/conformance/capture_prohibited_events.cpp).
        self.refuse_captured("querying an event")?;
        if let Some((shared, number)) = self.foreign() {
            return Ok(shared.is_reached(number));
        }
        match self.point()? {
            Some((fence, device)) => {
                device.check()?;
                fence.lost().map_or_else(|| Ok(fence.is_passed()), Err)
            }
            None => Ok(true),
        }
    }

    /// Milliseconds of device time from `start` to this event.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if one was not recorded or cannot be measured, or they are [of](Event::of) different
    /// devices, [`Error::NotReady`] if one has not
    /// been reached, or the fault that took it.
    pub fn elapsed_since(&self, start: &Event) -> Result<f32> {
        let apart = self.0.home.as_ref().zip(start.0.home.as_ref()).is_some_and(|(to, from)| to != from);
        if !self.0.timing || !start.0.timing || apart {
            return Err(Error::InvalidHandle);
        }
        let reached = |event: &Event| -> Result<f64> {
            let (fence, device) = event.point()?.ok_or(Error::InvalidHandle)?;
            if !fence.is_passed() {
                return Err(fence.lost().unwrap_or(Error::NotReady));
            }
            let time = fence.signal().dispatch_time(&device.0.agent)?;
            Ok(time.end as f64 / device.0.system.timestamp_hz() as f64)
        };
        let (from, to) = (reached(start)?, reached(self)?);
        // CAST: the API gives milliseconds in single precision.
        Ok(((to - from) * 1e3) as f32)
    }

    /// Refuses an event that stands for a place in a graph: the host can neither ask nor wait for it. The capture that
    /// the event belongs to is invalid then.
    ///
    /// HIP documents the code only, and AMD's 5.2.3 says that the event has been reached and captures on
    /// (`tests/conformance/capture_prohibited_events.cpp`), which is an answer about work that was never submitted.
    /// CUDA's guide calls the question invalid, and has any invalid operation invalidate the capture that it concerns; so
    /// it was measured (ADR 24). To capture on would help no program: one that is refused here waits for work of the
    /// capture, and its graph would be launched without the wait.
    fn refuse_captured(&self, call: &str) -> Result<()> {
        let Some(captured) = self.captured() else { return Ok(()) };
        if let Some(session) = captured.session.upgrade().filter(|session| !session.is_over()) {
            session.break_by(&Reason::of(call, Class::WaitsEvent));
        }
        Err(CaptureError::CapturedEvent.into())
    }

    /// Refuses to be recorded by a stream of a device that it is not [of](Event::of).
    pub(crate) fn check_home(&self, device: &Device) -> Result<()> {
        match &self.0.home {
            Some(home) if home != device => Err(Error::InvalidHandle),
            _ => Ok(()),
        }
    }

    pub(crate) fn set(&self, fence: Fence, lane: u64, device: &Device) {
        self.set_behind(fence, lane, device, PassedFrees::default());
    }

    /// As [`Event::set`] for a point behind frees of pooled memory.
    pub(crate) fn set_behind(&self, fence: Fence, lane: u64, device: &Device, passed: PassedFrees) {
        let mut state = self.state();
        if let State::Recorded { fence: old, lane: at, device: on, passed: before } = &mut *state
            && on == device
        {
            // Nearly always so. How many hold the device is a line that all threads would write.
            *at = lane;
            let old = (std::mem::replace(old, fence), std::mem::replace(before, passed));
            drop(state);
            // Outside the lock, as below.
            drop(old);
            return;
        }
        drop(state);
        self.replace(State::Recorded { fence, lane, device: device.clone(), passed });
    }

    pub(super) fn set_captured(&self, captured: Captured) {
        self.replace(State::Captured(captured));
    }

    /// The place in an open capture that the event stands for.
    pub(super) fn captured(&self) -> Option<Captured> {
        let captured = match &*self.state() {
            State::Captured(captured) => captured.clone(),
            _ => return None,
        };
        // Behind the lock: this may be the last to hold the session.
        (!captured.is_over()).then_some(captured)
    }

    /// The fence behind the recorded point and the lane it lies on.
    pub(crate) fn fence(&self) -> Option<(Fence, u64)> {
        match &*self.state() {
            State::Recorded { fence, lane, .. } => Some((fence.clone(), *lane)),
            _ => None,
        }
    }

    /// As [`Event::fence`], with the frees of pooled memory that the point is known to lie behind.
    pub(crate) fn recorded(&self) -> Option<(Fence, u64, PassedFrees)> {
        match &*self.state() {
            State::Recorded { fence, lane, passed, .. } => Some((fence.clone(), *lane, passed.clone())),
            _ => None,
        }
    }

    fn point(&self) -> Result<Option<(Fence, Device)>> {
        match &*self.state() {
            State::Unset => return Ok(None),
            State::Recorded { fence, device, .. } => return Ok(Some((fence.clone(), device.clone()))),
            State::Captured(_) => {}
        }
        self.captured().map_or(Ok(None), |_| Err(CaptureError::CapturedEvent.into()))
    }

    fn replace(&self, state: State) {
        // The old state may hold the last reference to much: it is dropped outside the lock.
        let old = std::mem::replace(&mut *self.state(), state);
        drop(old);
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("id", &self.0.id)
            .field("timing", &self.0.timing)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::{
        Exec, Options, Stream, Template,
        graph::{HostFn, Node},
        stream::StreamKind,
    };

    #[test]
    fn an_event_that_stands_for_a_launch_with_its_node_is_not_kept_by_the_launch() {
        let device = Device::get(0).unwrap();
        let (stream, event) = (Stream::new(&device, StreamKind::NonBlocking, 0), Event::new(false));
        let (open, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let mut template = Template::new(&device);
        let wait = move || {
            // An error says that the test has failed already.
            let _ = gate.lock().recv();
        };
        let blocked = template.add(Node::Host(HostFn::new(wait)), &[]).unwrap();
        template.add(Node::EventRecord(event.clone()), &[blocked]).unwrap();
        let exec = Exec::new(&template, Options::default()).unwrap();
        exec.launch(&stream).unwrap();
        stream.record_event(&event).unwrap();
        let weak = Arc::downgrade(&event.0);
        drop((template, exec, event));
        // Otherwise the launch's fence and the event keep each other, if no call asks whether the launch is over.
        assert!(weak.upgrade().is_none());
        open.send(()).unwrap();
        stream.synchronize().unwrap();
    }
}
