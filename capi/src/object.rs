//! The living objects behind handles, and how callers name them.

use std::{collections::HashMap, sync::Arc};

use aqlipse::{
    Device, Event, Exec, Function, Module, Stream, TemplateAt,
    capture::SharedTemplate,
    graph::{GraphId, NodeId},
};
use parking_lot::Mutex;

use crate::{
    current,
    error::{
        hipError_t, hipErrorContextIsDestroyed, hipErrorInvalidHandle, hipErrorInvalidResourceHandle,
        hipErrorInvalidValue, hipErrorStreamDetached,
    },
    graph_ref::{self, GraphRef, Held},
    handle::{Found, Kind, Table},
    types::{
        hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t, hipModule_t, hipStream_t,
        hipStreamLegacy, hipStreamPerThread,
    },
};

pub static STREAMS: Table<Stream> = Table::new(Kind::Stream);
pub static EVENTS: Table<Event> = Table::new(Kind::Event);
pub static GRAPHS: Table<Held> = Table::new(Kind::Graph);
pub static EXECS: Table<Exec> = Table::new(Kind::Exec);
pub static MODULES: Table<LoadedModule> = Table::new(Kind::Module);
pub static FUNCTIONS: Table<Function> = Table::new(Kind::Function);

/// A module and the functions that were asked of it, which end with it.
#[derive(Clone)]
pub struct LoadedModule {
    pub module: Module,
    pub device: Device,
    pub functions: Arc<Mutex<HashMap<String, usize>>>,
}

impl LoadedModule {
    /// A module of which no function was asked yet.
    pub fn new(device: Device, module: Module) -> Self {
        Self { module, device, functions: Arc::default() }
    }
}

/// The stream that a handle means to a caller to which null is the legacy stream.
///
/// # Errors
/// `hipErrorContextIsDestroyed` for a stream that does not exist (any more), as HIP 6 answers;
/// `hipErrorStreamDetached` for one whose execution context does not.
pub fn stream(handle: hipStream_t) -> Result<Stream, hipError_t> {
    with_stream(handle, |stream| Ok(stream.clone()))
}

/// Does `work` on the stream that a handle means, as [`stream`] does.
///
/// # Errors
/// As [`stream`], and what `work` refuses.
pub fn with_stream<T>(
    handle: hipStream_t,
    work: impl FnOnce(&Stream) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    if handle == hipStream_t::NULL || handle == hipStreamLegacy {
        return work(current::device_ref()?.default_stream());
    }
    if handle == hipStreamPerThread {
        return work(&Stream::per_thread(current::device_ref()?));
    }
    let stream = STREAMS.look(handle.0).ok_or(hipErrorContextIsDestroyed)?;
    if stream.is_detached() { Err(hipErrorStreamDetached) } else { work(&stream) }
}

/// The event behind a handle.
///
/// # Errors
/// `hipErrorInvalidHandle` for one that does not exist, `hipErrorInvalidValue` for null.
pub fn event(handle: hipEvent_t) -> Result<Event, hipError_t> {
    if handle == hipEvent_t::NULL {
        return Err(hipErrorInvalidHandle);
    }
    EVENTS.get(handle.0).ok_or(hipErrorInvalidHandle)
}

/// The graph behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn graph(handle: hipGraph_t) -> Result<GraphRef, hipError_t> {
    GRAPHS.get(handle.0).and_then(|held| held.graph()).ok_or(hipErrorInvalidValue)
}

/// Queries or edits the graph behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue` if there is none; what `work` refuses.
pub fn with_graph<T>(
    handle: hipGraph_t,
    work: impl FnOnce(&mut TemplateAt<'_>) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let held = GRAPHS.look(handle.0).ok_or(hipErrorInvalidValue)?;
    match &*held {
        Held::Whole(template) => work(&mut template.lock()),
        nested => nested.graph().ok_or(hipErrorInvalidValue)?.with(work),
    }
}

/// The executable graph behind a handle, for a look.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn look_exec(handle: hipGraphExec_t) -> Result<Found<'static, Exec>, hipError_t> {
    EXECS.look(handle.0).ok_or(hipErrorInvalidValue)
}

/// The executable graph behind a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn exec(handle: hipGraphExec_t) -> Result<Exec, hipError_t> {
    EXECS.get(handle.0).ok_or(hipErrorInvalidValue)
}

/// The module behind a handle.
///
/// # Errors
/// `hipErrorInvalidResourceHandle`.
pub fn module(handle: hipModule_t) -> Result<LoadedModule, hipError_t> {
    MODULES.get(handle.0).ok_or(hipErrorInvalidResourceHandle)
}

/// The kernel behind a module function's handle.
///
/// # Errors
/// `hipErrorInvalidResourceHandle`.
pub fn function(handle: hipFunction_t) -> Result<Function, hipError_t> {
    FUNCTIONS.get(handle.0).ok_or(hipErrorInvalidResourceHandle)
}

/// The event that a graph's node is given.
///
/// # Errors
/// `hipErrorInvalidValue`, for null as well.
pub fn node_event(handle: hipEvent_t) -> Result<Event, hipError_t> {
    EVENTS.get(handle.0).ok_or(hipErrorInvalidValue)
}

/// A handle for a new graph, whose nodes can be found from now on.
///
/// # Errors
/// `hipErrorOutOfMemory`.
pub fn add_graph(template: SharedTemplate) -> Result<hipGraph_t, hipError_t> {
    graph_ref::make_known(&GraphRef::whole(template.clone()))?;
    GRAPHS.give(Held::Whole(template)).map(hipGraph_t)
}

/// The handle of the graph inside a child graph node, the same for each call.
///
/// # Errors
/// `hipErrorOutOfMemory`; `hipErrorInvalidValue` if the node is gone.
pub fn nested_graph(graph: &GraphRef) -> Result<hipGraph_t, hipError_t> {
    /// Handles by the identities of the graphs, which no two graphs share.
    static HANDLES: Mutex<Option<HashMap<GraphId, usize>>> = Mutex::new(None);

    let id = graph.with(|graph| Ok(graph.graph().id()))?;
    let mut handles = HANDLES.lock();
    let handles = handles.get_or_insert_default();
    if let Some(&handle) = handles.get(&id) {
        return Ok(hipGraph_t(handle));
    }
    // Not at every call: all handles would be walked once for each of them.
    if handles.len() == handles.capacity() {
        GRAPHS.remove_all(Held::is_dead);
        handles.retain(|_, handle| GRAPHS.get(*handle).is_some());
    }
    graph_ref::make_known(graph)?;
    let handle = GRAPHS.insert(Held::nested(graph))?;
    handles.insert(id, handle);
    Ok(hipGraph_t(handle))
}

/// The node behind a handle, with its graph.
///
/// # Errors
/// `hipErrorInvalidValue` for a node that does not exist, or whose graph does not.
pub fn node(handle: hipGraphNode_t) -> Result<(GraphRef, NodeId), hipError_t> {
    let id = NodeId::from_bits(handle.0 as u64).ok_or(hipErrorInvalidValue)?;
    let graph = graph_ref::graph_of(id)?;
    if !graph.with(|graph| Ok(graph.graph().topology().contains(id)))? {
        return Err(hipErrorInvalidValue);
    }
    Ok((graph, id))
}

/// The nodes behind handles; that they belong to one graph is for the graph to check.
///
/// # Errors
/// `hipErrorInvalidValue` for a null handle.
pub fn node_ids(handles: &[hipGraphNode_t]) -> Result<Vec<NodeId>, hipError_t> {
    handles.iter().map(|h| NodeId::from_bits(h.0 as u64).ok_or(hipErrorInvalidValue)).collect()
}

/// The handle of a node.
pub fn node_handle(id: NodeId) -> hipGraphNode_t {
    // CAST: the library is for 64-bit hosts only.
    hipGraphNode_t(id.to_bits() as usize)
}

/// The handle that a graph has already.
pub fn known_handle(template: &SharedTemplate) -> Option<hipGraph_t> {
    GRAPHS.find(|held| held.is(&GraphRef::whole(template.clone()))).map(hipGraph_t)
}

/// The handle of a graph that may have one already: a capture into an existing graph ends with that graph.
///
/// # Errors
/// As [`add_graph`].
pub fn handle_of(template: SharedTemplate) -> Result<hipGraph_t, hipError_t> {
    known_handle(&template).map_or_else(|| add_graph(template), Ok)
}

/// The stream that a handle means to a caller to which null is the thread's own.
pub fn per_thread(stream: hipStream_t) -> hipStream_t {
    if stream == hipStream_t::NULL { hipStreamPerThread } else { stream }
}
