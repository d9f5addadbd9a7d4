//! Stream capture.

use std::{collections::BTreeMap, ffi::c_uint};

use aqlipse::{
    Stream, TemplateAt,
    capture::{self, Mode, Status},
    graph::NodeId,
};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    caller,
    error::{
        hipError_t, hipErrorIllegalState, hipErrorInvalidValue, hipErrorNotSupported,
        hipErrorStreamCaptureImplicit, hipErrorStreamCaptureUnsupported,
    },
    graph_ref::GraphRef,
    object,
    types::{
        hipGraph_t, hipGraphDependencyTypeDefault, hipGraphDependencyTypeProgrammatic, hipGraphEdgeData,
        hipGraphNode_t, hipStream_t, hipStreamAddCaptureDependencies, hipStreamCaptureMode,
        hipStreamCaptureModeGlobal, hipStreamCaptureModeRelaxed, hipStreamCaptureModeThreadLocal,
        hipStreamCaptureStatus, hipStreamCaptureStatusActive, hipStreamCaptureStatusInvalidated,
        hipStreamCaptureStatusNone, hipStreamLegacy, hipStreamSetCaptureDependencies,
        hipStreamUpdateCaptureDependenciesFlags,
    },
};

fn mode(mode: hipStreamCaptureMode) -> Result<Mode, hipError_t> {
    match mode {
        hipStreamCaptureModeGlobal => Ok(Mode::Global),
        hipStreamCaptureModeThreadLocal => Ok(Mode::ThreadLocal),
        hipStreamCaptureModeRelaxed => Ok(Mode::Relaxed),
        _ => Err(hipErrorInvalidValue),
    }
}

/// The nodes of `graph` that a caller names.
///
/// # Safety
/// The array is null or readable.
unsafe fn known_nodes(
    graph: &TemplateAt<'_>,
    nodes: *const hipGraphNode_t,
    count: usize,
) -> Result<Vec<NodeId>, hipError_t> {
    // SAFETY: the caller's promise.
    Ok(unsafe { crate::api::graph::template::dependencies(graph.graph().topology(), nodes, count) }?
        .into_vec())
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
    /// Begins to capture a stream into a graph that exists, behind some of its nodes.
    fn hipStreamBeginCaptureToGraph(
        stream: hipStream_t,
        graph: hipGraph_t,
        dependencies: *const hipGraphNode_t,
        edges: *const hipGraphEdgeData,
        count: usize,
        mode_: hipStreamCaptureMode,
    ) -> hipError_t {
        let graph = object::graph(graph)?;
        // SAFETY: the caller's array, null or as long as that of the dependencies.
        unsafe { check_edges(edges, count) }?;
        let mode = mode(mode_)?;
        if is_legacy(stream) {
            return Err(hipErrorStreamCaptureUnsupported);
        }
        let stream = object::stream(stream)?;
        // SAFETY: the caller's array, null or readable.
        let nodes = graph.with(|graph| unsafe { known_nodes(graph, dependencies, count) })?;
        let (template, path) = graph.into_parts();
        Ok(capture::begin_inside(&stream, mode, template, path, nodes)?)
    }
}

/// Accepts edges that are full dependencies, as those without data are.
///
/// # Errors
/// `hipErrorNotSupported` for a port or another type: what stands behind an AQL packet cannot begin before that has ended.
/// `hipErrorInvalidValue` for a type that does not exist, or reserved bytes that are not 0.
///
/// # Safety
/// `edges` is null or has `count` elements.
unsafe fn check_edges(edges: *const hipGraphEdgeData, count: usize) -> Result<(), hipError_t> {
    if edges.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's array.
    for edge in unsafe { caller::read_slice(edges, count) }? {
        let known = [hipGraphDependencyTypeDefault, hipGraphDependencyTypeProgrammatic].map(|kind| kind.0);
        if edge.reserved != [0; 5] || !known.contains(&edge.r#type.into()) {
            return Err(hipErrorInvalidValue);
        }
        if (edge.from_port, edge.to_port, u32::from(edge.r#type)) != (0, 0, hipGraphDependencyTypeDefault.0) {
            tracing::warn!(
                "an edge with a port or of the programmatic type would let a node begin before the one in front of it \
                 has ended, which no AQL packet can: pass null, or edges of zeros",
            );
            return Err(hipErrorNotSupported);
        }
    }
    Ok(())
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
        let stream = object::stream(stream)?;
        // Until the graph has its handle: a thread that asks for the capture meanwhile must not make another one.
        let mut shown = shown();
        let (id, path) = capture::info(&stream).map(|info| (info.id, info.path)).unzip();
        let ended = capture::end(&stream);
        let known = id.filter(|_| !stream.is_capturing()).and_then(|id| shown.remove(&id));
        let lent = known.and_then(|known| known.lent);
        let handle = match ended {
            Ok(template) => match path {
                Some(path) if !path.is_empty() => object::nested_graph(&GraphRef::of_parts(template, path))?,
                _ => object::handle_of(template)?,
            },
            Err(error) => {
                // No other code destroys the graph of a capture that failed.
                if let Some(graph) = lent {
                    crate::api::graph::template::destroy(graph)?;
                }
                // SAFETY: the caller's pointer, which is not null.
                unsafe { caller::write(graph, hipGraph_t::NULL) }?;
                return Err(error.into());
            }
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(graph, handle) }
    }
}

/// A stream whose capture is asked for.
///
/// # Errors
/// `hipErrorStreamCaptureImplicit` for the default stream while it may not even be looked at.
fn queried(stream: hipStream_t) -> Result<Stream, hipError_t> {
    let target = object::stream(stream)?;
    if is_legacy(stream) && capture::blocks_default_stream(target.device()) {
        return Err(hipErrorStreamCaptureImplicit);
    }
    Ok(target)
}

entry! {
    /// Stores whether a stream captures.
    fn hipStreamIsCapturing(stream: hipStream_t, status: *mut hipStreamCaptureStatus) -> hipError_t {
        if status.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let target = queried(stream)?;
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
        let info = capture::info(&queried(stream)?);
        // SAFETY: the caller's pointers, null or writable.
        unsafe {
            caller::write(status, status_code(info.as_ref().map_or(Status::None, |info| info.status)))?;
            if let Some(info) = info.filter(|info| info.status == Status::Active) {
                caller::write_if_wanted(id, info.id);
            }
        }
        Ok(())
    }
}

/// What callers were shown of captures in progress, by capture.
static SHOWN: Mutex<BTreeMap<u64, Shown>> = Mutex::new(BTreeMap::new());

struct Shown {
    progress: capture::Progress,
    /// The handle that the graph got for the caller's sake; it had none before.
    lent: Option<hipGraph_t>,
    /// The latest answer for each stream of the capture: the caller may read it until it asks again.
    dependencies: BTreeMap<u64, Box<[hipGraphNode_t]>>,
}

fn shown() -> MutexGuard<'static, BTreeMap<u64, Shown>> {
    SHOWN.lock()
}

/// Forgets what callers were shown of captures that no caller can end, because their streams are gone. No caller could
/// destroy the graphs of those.
pub(crate) fn forget_abandoned() {
    let mut shown = shown();
    let over = shown.extract_if(.., |_, shown| shown.progress.is_over());
    let lent: Vec<_> = over.filter_map(|(_, shown)| shown.lent).collect();
    drop(shown);
    // Another thread may have destroyed the graph by the handle that it was lent.
    for graph in lent {
        let _ = crate::api::graph::template::destroy(graph);
    }
}

entry! {
    /// Stores whether a stream captures, and the capture's identity, graph, and the nodes that the next one will
    /// depend on: an array of ours, valid until the next call on the stream.
    fn hipStreamGetCaptureInfo_v2(
        stream: hipStream_t,
        status: *mut hipStreamCaptureStatus,
        id: *mut u64,
        graph: *mut hipGraph_t,
        dependencies: *mut *const hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t {
        if status.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let target = queried(stream)?;
        forget_abandoned();
        // Before the capture is looked at, so that it does not end in between.
        let mut shown = shown();
        let info = capture::info(&target);
        let code = status_code(info.as_ref().map_or(Status::None, |info| info.status));
        if let Some(info) = info.filter(|info| info.status == Status::Active) {
            let fresh = || Shown { progress: info.progress, lent: None, dependencies: BTreeMap::new() };
            let shown = shown.entry(info.id).or_insert_with(fresh);
            if !graph.is_null() {
                let handle = if !info.path.is_empty() {
                    object::nested_graph(&GraphRef::of_parts(info.template, info.path))?
                } else if let Some(handle) = object::known_handle(&info.template) {
                    handle
                } else {
                    *shown.lent.insert(object::add_graph(info.template)?)
                };
                // SAFETY: the caller's pointer, which is not null.
                unsafe { caller::write(graph, handle) }?;
            }
            let nodes: Box<[_]> = info.dependencies.iter().copied().map(object::node_handle).collect();
            // SAFETY: the caller's pointers, null or writable.
            unsafe {
                caller::write_if_wanted(id, info.id);
                caller::write_if_wanted(count, nodes.len());
                caller::write_if_wanted(dependencies, nodes.as_ptr());
            }
            if !dependencies.is_null() {
                shown.dependencies.insert(target.id(), nodes);
            }
        }
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(status, code) }
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
        let info = capture::info(&target).ok_or(hipErrorIllegalState)?;
        let graph = GraphRef::of_parts(info.template, info.path);
        // SAFETY: the caller's array, null or readable.
        let nodes = graph.with(|graph| unsafe { known_nodes(graph, dependencies, count) })?;
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
