//! Which calls an open capture forbids, and to which threads (CUDA's capture modes, which HIP 7 follows).
//!
//! | module | what it holds |
//! |---|---|
//! | `call` | what a call is to captures, and which call the thread is in |
//! | `reason` | why a capture is broken, as a sentence |
//! | this one | open captures, and what they forbid to which threads |

mod call;
mod reason;

use std::{
    cell::{Cell, RefCell},
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;

pub use self::call::{Call, Class, Rule, making};
pub(crate) use self::reason::Reason;
use super::{Recorder, Stream, StreamKind};
use crate::{
    device::Device,
    error::{CaptureError, Result},
};

/// Whether a stream captures, and whether the capture is still good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not capturing.
    None,
    /// Capturing.
    Active,
    /// Capturing into a graph that an illegal call has spoilt; only ending the capture helps.
    Invalidated,
}

/// How far a capture, or a thread, reaches with its prohibitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The capture forbids unsafe calls to every thread; the thread heeds other threads' captures.
    #[default]
    Global,
    /// Only the capturing thread is concerned.
    ThreadLocal,
    /// No thread is concerned.
    Relaxed,
}

static OPEN: AtomicUsize = AtomicUsize::new(0);
static SESSIONS: Mutex<Vec<Arc<dyn Recorder>>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD_MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
    static BEGUN: Begun = const { Begun(RefCell::new(Vec::new())) };
}

/// The captures that only this thread may end. When the thread is gone none could: they are broken then,
/// and any thread may end them.
struct Begun(RefCell<Vec<Weak<dyn Recorder>>>);

impl Drop for Begun {
    fn drop(&mut self) {
        for session in self.0.get_mut().iter().filter_map(Weak::upgrade) {
            session.lose_thread();
        }
    }
}

/// Sets the calling thread's mode and returns the one before.
pub fn exchange_thread_mode(mode: Mode) -> Mode {
    THREAD_MODE.with(|m| m.replace(mode))
}

/// Notes that a capture has begun, in the calling thread.
pub(crate) fn enter(session: &Arc<dyn Recorder>) {
    SESSIONS.lock().push(session.clone());
    OPEN.fetch_add(1, Ordering::Release);
    if session.mode() != Mode::Relaxed {
        // A thread whose storage is gone is about to end; its captures end with their streams.
        let _ = BEGUN.try_with(|begun| {
            let mut begun = begun.0.borrow_mut();
            begun.retain(|session| session.upgrade().is_some_and(|session| !session.is_over()));
            begun.push(Arc::downgrade(session));
        });
    }
}

/// Notes that a capture forbids nothing any more.
pub(crate) fn leave(session: &dyn Recorder) {
    let mut sessions = SESSIONS.lock();
    let before = sessions.len();
    sessions.retain(|s| !ptr::addr_eq(&**s, session));
    OPEN.fetch_sub(before - sessions.len(), Ordering::Release);
}

/// Asks, before anything else is done, whether the exported call that the thread has just entered may be made now.
/// `device` is the calling thread's current one.
///
/// # Errors
/// What [`check_unsafe_call`] and [`check_default_stream`] say to calls of these kinds.
#[inline]
pub fn admit(device: impl FnOnce() -> Option<Device>) -> Result<()> {
    if OPEN.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let Some(call) = call::current() else { return Ok(()) };
    match call.rule().map(|rule| rule.class) {
        Some(class) if class.is_unsafe() => check_unsafe_call(call.name),
        Some(Class::DefaultStream) => {
            device().map_or(Ok(()), |device| check_default_stream(&device, call.name))
        }
        _ => Ok(()),
    }
}

/// Asks whether the calling thread may make `call`, which could act on the device at once, behind a capture's
/// back (allocation, waiting for other work, and the like).
///
/// # Errors
/// [`CaptureError::Unsupported`]; the captures in whose way the call stood are invalid then.
pub fn check_unsafe_call(call: &str) -> Result<()> {
    if OPEN.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let in_the_way = restraining();
    if in_the_way.is_empty() {
        return Ok(());
    }
    let reason = match call::current().and_then(Call::rule).map(|rule| rule.class) {
        Some(class) if class.is_unsafe() => Reason::of(call, class),
        Some(Class::Waits | Class::WaitsEvent) | None => {
            Reason::new(call, "it waits for work outside the capture, or asks how far that is").instead(
                "make the call before the capture or behind it, capture in relaxed mode, or give a thread that only \
                 watches other work relaxed mode with hipThreadExchangeStreamCaptureMode",
            )
        }
        Some(_) => Reason::new(call, "it acts at once, next to the order of the capture")
            .instead("make the call before the capture or behind it, or capture in relaxed mode"),
    };
    for session in in_the_way {
        session.break_by(&reason);
    }
    Err(CaptureError::Unsupported.into())
}

/// The captures that restrain the calling thread.
fn restraining() -> Vec<Arc<dyn Recorder>> {
    let own_mode = THREAD_MODE.try_with(Cell::get).unwrap_or_default();
    if own_mode == Mode::Relaxed {
        return Vec::new();
    }
    let me = thread::current().id();
    let conflicts = |s: &&Arc<dyn Recorder>| {
        if s.thread() == me {
            s.mode() != Mode::Relaxed
        } else {
            own_mode == Mode::Global && s.mode() == Mode::Global
        }
    };
    let sessions = SESSIONS.lock();
    sessions.iter().filter(conflicts).cloned().collect()
}

/// Asks whether `call` may wait for `stream` now, or ask how far it is.
///
/// # Errors
/// [`CaptureError::Unsupported`] if the stream captures, whose capture is invalid then, and what [`check_unsafe_call`]
/// says of other streams than the default one.
pub(crate) fn check_wait(stream: &Stream, call: &str) -> Result<()> {
    if stream.invalidate(|| Reason::of(call, Class::Waits)) {
        return Err(CaptureError::Unsupported.into());
    }
    // HIP: 5.2.3 and the runtime of October 2024 let every thread wait for the default stream and ask how far it is,
    // whatever captures (tests/conformance/capture_prohibited_legacy.cpp). What it waits for has been submitted.
    if stream.kind() == StreamKind::Legacy { Ok(()) } else { check_unsafe_call(call) }
}

/// Refuses a call on `stream` that no node could hold, if the stream captures.
///
/// # Errors
/// [`CaptureError::Unsupported`], or [`CaptureError::Invalidated`] if the capture was invalid already; it is invalid
/// then.
pub fn refuse_uncapturable(stream: &Stream, call: &str) -> Result<()> {
    let spoilt = stream.capture_status() == Status::Invalidated;
    match stream.invalidate(|| Reason::of(call, Class::Uncapturable)) {
        false => Ok(()),
        true if spoilt => Err(CaptureError::Invalidated.into()),
        true => Err(CaptureError::Unsupported.into()),
    }
}

/// Asks whether `call`, which waits for its work on the default stream of `device`, may be made now.
///
/// # Errors
/// [`CaptureError::Implicit`] while a stream of the device captures, whose capture is invalid then.
pub fn check_default_stream(device: &Device, call: &str) -> Result<()> {
    // HIP: the runtime of October 2024 asks neither for the capture's mode nor for the kind of its stream
    // (tests/conformance/capture_prohibited_legacy.cpp).
    refuse_default_stream(device, call, Class::DefaultStream, |_| true)
}

/// Asks whether a kernel or a callback may be put on the default stream of `device` now.
///
/// # Errors
/// [`CaptureError::Implicit`] while a blocking stream of the device captures, whose capture is invalid then.
pub fn check_default_launch(device: &Device, call: &str) -> Result<()> {
    // HIP: so the changes of 7.0 (callbacks) and 7.1 (kernels) say. Copies, fills, allocations and events of the default
    // stream are no concern of a capture's (tests/conformance/capture_prohibited_legacy.cpp, capture_legacy_waits.cpp).
    refuse_default_stream(device, call, Class::Captured, |stream| stream.kind() == StreamKind::Blocking)
}

fn refuse_default_stream(
    device: &Device,
    call: &str,
    class: Class,
    concerns: impl Fn(&Stream) -> bool,
) -> Result<()> {
    if OPEN.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let mut implicit = false;
    for stream in device.streams().iter().filter(|stream| concerns(stream)) {
        implicit |= stream.invalidate(|| Reason::new(call, class.rule()).on(device.default_stream()));
    }
    if implicit { Err(CaptureError::Implicit.into()) } else { Ok(()) }
}

/// Whether a blocking stream captures, so that not even the default stream's state can be asked for.
pub fn blocks_default_stream(device: &Device) -> bool {
    OPEN.load(Ordering::Acquire) > 0
        && device.streams().iter().any(|s| s.kind() == StreamKind::Blocking && s.is_capturing())
}

/// Asks whether a callback may be added to `stream` now: no graph can hold one.
///
/// # Errors
/// [`CaptureError::Unsupported`] if the stream captures, whose capture is invalid then; what
/// [`check_default_launch`] says if it is the default stream.
pub fn refuse_callback(stream: &Stream) -> Result<()> {
    const CALL: &str = "adding a callback";
    let reason = || {
        Reason::new(
            CALL,
            "a callback is called once, with the stream that it was added to, which no graph can hold",
        )
        .instead("use hipLaunchHostFunc, which becomes a node")
    };
    if stream.invalidate(reason) {
        return Err(CaptureError::Unsupported.into());
    }
    if stream.kind() == StreamKind::Legacy {
        check_default_launch(stream.device(), CALL)?;
    }
    Ok(())
}

/// Asks whether the whole of `device` may be waited for now.
///
/// # Errors
/// [`CaptureError::Unsupported`] while one of its streams captures, whose capture is invalid then.
pub fn refuse_device_synchronize(device: &Device) -> Result<()> {
    if OPEN.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let mut capturing = false;
    for stream in device.streams() {
        capturing |= stream.invalidate(|| Reason::of("waiting for the whole device", Class::WaitsDevice));
    }
    if capturing { Err(CaptureError::Unsupported.into()) } else { Ok(()) }
}
