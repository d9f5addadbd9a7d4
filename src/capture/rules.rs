//! Which calls an open capture forbids, and to which threads (CUDA's capture modes, which HIP 7 follows).

use std::{
    cell::Cell,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::Session;
use crate::{
    device::Device,
    error::{CaptureError, Result},
    stream::{Stream, StreamKind},
};

/// How far a capture, or a thread, reaches with its prohibitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The capture forbids unsafe calls to every thread; the thread heeds other threads' captures.
    #[default]
    Global,
    /// Only the capturing thread is concerned.
    ThreadLocal,
    /// Nobody is concerned.
    Relaxed,
}

static OPEN: AtomicUsize = AtomicUsize::new(0);
static SESSIONS: Mutex<Vec<Arc<Session>>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD_MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// Sets the calling thread's mode and returns the one before.
pub fn exchange_thread_mode(mode: Mode) -> Mode {
    THREAD_MODE.with(|m| m.replace(mode))
}

pub(super) fn enter(session: &Arc<Session>) {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner).push(session.clone());
    OPEN.fetch_add(1, Ordering::Release);
}

pub(super) fn leave(session: &Arc<Session>) {
    let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = sessions.len();
    sessions.retain(|s| !Arc::ptr_eq(s, session));
    OPEN.fetch_sub(before - sessions.len(), Ordering::Release);
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
    let own_mode = THREAD_MODE.with(Cell::get);
    if own_mode == Mode::Relaxed {
        return Ok(());
    }
    let me = thread::current().id();
    let conflicts = |s: &&Arc<Session>| {
        if s.thread() == me {
            s.mode() != Mode::Relaxed
        } else {
            own_mode == Mode::Global && s.mode() == Mode::Global
        }
    };
    let sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let in_the_way: Vec<_> = sessions.iter().filter(conflicts).cloned().collect();
    drop(sessions);
    if in_the_way.is_empty() {
        return Ok(());
    }
    for session in in_the_way {
        session.break_by(&format!(
            "{call} is not allowed while a capture of mode {:?} is open; call it before the capture, or capture \
             in relaxed mode",
            session.mode()
        ));
    }
    Err(CaptureError::Unsupported.into())
}

/// Asks whether `call` may use the default stream of `device` now.
///
/// # Errors
/// [`CaptureError::Implicit`] while a blocking stream captures, whose capture is invalid then.
pub fn check_default_stream(device: &Device, call: &str) -> Result<()> {
    if OPEN.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let mut implicit = false;
    for stream in device.streams() {
        if stream.kind() == StreamKind::Blocking && stream.is_capturing() {
            implicit = true;
            super::invalidate(&stream, &format!("{call} on the default stream, which waits for this one,"));
        }
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
/// [`check_default_stream`] says if it is the default stream.
pub fn refuse_callback(stream: &Stream) -> Result<()> {
    if stream.is_capturing() {
        super::invalidate(stream, "adding a callback to a stream (add a host function instead)");
        return Err(CaptureError::Unsupported.into());
    }
    if stream.kind() == StreamKind::Legacy {
        check_default_stream(stream.device(), "adding a callback")?;
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
    let capturing: Vec<_> = device.streams().into_iter().filter(Stream::is_capturing).collect();
    for stream in &capturing {
        super::invalidate(stream, "waiting for the whole device");
    }
    if capturing.is_empty() { Ok(()) } else { Err(CaptureError::Unsupported.into()) }
}
