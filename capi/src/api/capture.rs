//! Stream capture.

use aqlipse::capture::{self, Mode, Status};

use crate::{
    caller,
    error::{
        hipErrorIllegalState, hipErrorInvalidValue, hipErrorStreamCaptureImplicit, hipErrorStreamCaptureUnsupported,
        hipError_t,
    },
    object,
    types::{
        hipGraphNode_t, hipGraph_t, hipStreamAddCaptureDependencies, hipStreamCaptureMode,
        hipStreamCaptureModeGlobal, hipStreamCaptureModeRelaxed, hipStreamCaptureModeThreadLocal,
        hipStreamCaptureStatus, hipStreamCaptureStatusActive, hipStreamCaptureStatusInvalidated,
        hipStreamCaptureStatusNone, hipStreamLegacy, hipStreamSetCaptureDependencies,
        hipStreamUpdateCaptureDependenciesFlags, hipStream_t,
    },
};
use std::ffi::c_uint;

fn mode(mode: hipStreamCaptureMode) -> Result<Mode, hipError_t> {
    match mode {
        hipStreamCaptureModeGlobal => Ok(Mode::Global),
        hipStreamCaptureModeThreadLocal => Ok(Mode::ThreadLocal),
        hipStreamCaptureModeRelaxed => Ok(Mode::Relaxed),
        _ => Err(hipErrorInvalidValue),
    }
}

fn is_legacy(stream: hipStream_t) -> bool {
    stream == hipStream_t::NULL || stream == hipStreamLegacy
}

entry! {
    /// Begins to capture a stream into a new graph.
    fn hipStreamBeginCapture(stream: hipStream_t, mode_: hipStreamCaptureMode) -> hipError_t {
        if is_legacy(stream) {
            return Err(hipErrorStreamCaptureUnsupported);
        }
        let mode = mode(mode_)?;
        Ok(capture::begin(&object::stream(stream)?, mode, None)?)
    }
}

entry! {
    /// Ends the capture that was begun on a stream and stores its graph.
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t {
        if graph.is_null() {
            return Err(hipErrorInvalidValue);
        }
        if is_legacy(stream) {
            return Err(hipErrorIllegalState);
        }
        let ended = capture::end(&object::stream(stream)?);
        let handle = match ended {
            Ok(template) => object::handle_of(template)?,
            Err(error) => {
                // SAFETY: the caller's pointer, which is not null.
                unsafe { caller::write(graph, hipGraph_t::NULL) }?;
                return Err(error.into());
            }
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(graph, handle) }
    }
}

entry! {
    /// Stores whether a stream captures.
    fn hipStreamIsCapturing(stream: hipStream_t, status: *mut hipStreamCaptureStatus) -> hipError_t {
        if status.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let target = object::stream(stream)?;
        if is_legacy(stream) && capture::blocks_default_stream(target.device()) {
            return Err(hipErrorStreamCaptureImplicit);
        }
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(status, status_code(capture::status(&target))) }
    }
}

fn status_code(status: Status) -> hipStreamCaptureStatus {
    match status {
        Status::None => hipStreamCaptureStatusNone,
        Status::Active => hipStreamCaptureStatusActive,
        Status::Invalidated => hipStreamCaptureStatusInvalidated,
    }
}

entry! {
    /// Stores whether a stream captures, and the capture's identity.
    fn hipStreamGetCaptureInfo(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
    ) -> hipError_t {
        if status.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let target = object::stream(stream)?;
        if is_legacy(stream) && capture::blocks_default_stream(target.device()) {
            return Err(hipErrorStreamCaptureImplicit);
        }
        let info = capture::info(&target);
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write(status, status_code(info.as_ref().map_or(Status::None, |info| info.status)))?;
            if let Some(info) = info {
                caller::write_if_wanted(id, info.id);
            }
        }
        Ok(())
    }
}

entry! {
    /// Replaces or extends what the next captured node of a stream depends on.
    fn hipStreamUpdateCaptureDependencies(
        stream: hipStream_t,
        dependencies: *mut hipGraphNode_t,
        count: usize,
        flags: c_uint,
    ) -> hipError_t {
        let replace = match hipStreamUpdateCaptureDependenciesFlags(flags) {
            hipStreamAddCaptureDependencies => false,
            hipStreamSetCaptureDependencies => true,
            _ => return Err(hipErrorInvalidValue),
        };
        let target = object::stream(stream)?;
        if !target.is_capturing() {
            return Err(hipErrorIllegalState);
        }
        // SAFETY: the caller's array, null or readable.
        let nodes = object::node_ids(&unsafe { caller::read_slice(dependencies, count) }?)?;
        Ok(capture::update_dependencies(&target, &nodes, replace)?)
    }
}

entry! {
    /// Exchanges the calling thread's capture mode.
    fn hipThreadExchangeStreamCaptureMode(mode_: *mut hipStreamCaptureMode) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable and writable.
        let wanted = mode(unsafe { caller::read(mode_) }?)?;
        let before = match capture::exchange_thread_mode(wanted) {
            Mode::Global => hipStreamCaptureModeGlobal,
            Mode::ThreadLocal => hipStreamCaptureModeThreadLocal,
            Mode::Relaxed => hipStreamCaptureModeRelaxed,
        };
        // SAFETY: as above.
        unsafe { caller::write(mode_, before) }
    }
}
