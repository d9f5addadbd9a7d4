//! Graph templates: creation, topology, queries.

use std::{ffi::c_uint, sync::Arc};

use aqlipse::{
    Template,
    graph::{NodeId, NodeKind, Topology},
};
use parking_lot::Mutex;

use smallvec::SmallVec;

use super::{kind, view};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorIllegalState, hipErrorInvalidValue},
    graph_ref::GraphRef,
    object::{self, GRAPHS},
    types::*,
};

entry! {
    /// Creates an empty graph.
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t {
        if graph.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let handle = object::add_graph(Arc::new(Mutex::new(Template::new(&current::device()?))))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(graph, handle) }
    }
}

/// Takes a graph's handle away, and with it all that callers may have of its nodes.
pub(crate) fn destroy(graph: hipGraph_t) -> Result<(), hipError_t> {
    if graph == hipGraph_t::NULL {
        return Err(hipErrorInvalidValue);
    }
    // HIP: measured on 5.2.3 and 6.3 (tests/conformance/graph_destroyed_handles.cpp).
    let found = object::graph(graph).map_err(|_| hipErrorIllegalState)?;
    // The graph inside a node ends with the node.
    if found.is_nested() {
        return Err(hipErrorInvalidValue);
    }
    GRAPHS.remove(graph.0).map(drop).ok_or(hipErrorInvalidValue)?;
    view::forget();
    Ok(())
}

entry! {
    /// Destroys a graph with its nodes; executables made from it live on.
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t {
        destroy(graph)
    }
}

entry! {
    /// Stores a deep copy of a graph.
    fn hipGraphClone(clone: *mut hipGraph_t, original: hipGraph_t) -> hipError_t {
        if clone.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let copy = object::graph(original)?.with(|graph| Ok(graph.try_clone()?))?;
        let handle = object::add_graph(Arc::new(Mutex::new(copy)))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(clone, handle) }
    }
}

entry! {
    /// Stores the copy, in a clone, of a node of the original.
    fn hipGraphNodeFindInClone(
        node: *mut hipGraphNode_t,
        original: hipGraphNode_t,
        clone: hipGraph_t,
    ) -> hipError_t {
        if node.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (_, original) = object::node(original)?;
        let found = object::graph(clone)?.with(|clone| {
            Ok(clone.graph().counterpart(original).map_err(aqlipse::Error::from)?)
        })?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(node, object::node_handle(found)) }
    }
}

/// The dependencies of a node that is to be added to a graph.
///
/// # Errors
/// As [`Dependencies::new`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn dependencies(
    graph: &Topology,
    nodes: *const hipGraphNode_t,
    count: usize,
) -> Result<SmallVec<[NodeId; 8]>, hipError_t> {
    // SAFETY: the caller's promise.
    Ok(unsafe { Dependencies::new(graph, nodes, count) }?.collect())
}

/// The dependencies of a node that is to be added to a graph, as they lie in the caller's array.
pub(super) struct Dependencies {
    nodes: *const hipGraphNode_t,
    left: usize,
}

impl Dependencies {
    /// # Errors
    /// `hipErrorInvalidValue` for an array that is missing or longer than the graph has nodes, or a node that is not
    /// in the graph.
    ///
    /// # Safety
    /// `nodes` is null, or an array of `count` handles that is there as long as this.
    #[inline]
    pub(super) unsafe fn new(
        graph: &Topology,
        nodes: *const hipGraphNode_t,
        count: usize,
    ) -> Result<Self, hipError_t> {
        // Before the array is read: a count that is too large is the documented error, not a reason to read on.
        if count > graph.node_count() {
            return Err(hipErrorInvalidValue);
        }
        if count > 0 && nodes.is_null() {
            return Err(hipErrorInvalidValue);
        }
        for n in 0..count {
            // SAFETY: the caller's promise, and it is not null.
            let id = unsafe { id_at(nodes.add(n)) };
            if !id.is_some_and(|id| graph.contains(id)) {
                return Err(hipErrorInvalidValue);
            }
        }
        Ok(Self { nodes, left: count })
    }
}

impl Iterator for Dependencies {
    type Item = NodeId;

    /// The next node; what is none is left out.
    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        while self.left > 0 {
            // SAFETY: the array has as many handles, by the caller's promise, and is not null.
            let id = unsafe { id_at(self.nodes) };
            // SAFETY: as above: at most behind its end.
            self.nodes = unsafe { self.nodes.add(1) };
            self.left -= 1;
            if id.is_some() {
                return id;
            }
        }
        None
    }
}

/// The node that a handle in a caller's array names.
unsafe fn id_at(handle: *const hipGraphNode_t) -> Option<NodeId> {
    // SAFETY: the caller's promise: it is in the array.
    let handle = unsafe { caller::read(handle) }.ok()?;
    NodeId::from_bits(handle.0 as u64)
}

unsafe fn edges(
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> Result<Vec<(NodeId, NodeId)>, hipError_t> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's promise.
    let (from, to) = unsafe { (caller::read_slice(from, count)?, caller::read_slice(to, count)?) };
    Ok(object::node_ids(&from)?.into_iter().zip(object::node_ids(&to)?).collect())
}

entry! {
    /// Adds edges.
    fn hipGraphAddDependencies(
        graph: hipGraph_t,
        from: *const hipGraphNode_t,
        to: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t {
        let graph = object::graph(graph)?;
        // SAFETY: the caller's arrays.
        let edges = unsafe { edges(from, to, count) }?;
        graph.with(|graph| Ok(graph.graph_mut().add_dependencies(edges).map_err(aqlipse::Error::from)?))
    }
}

entry! {
    /// Removes edges.
    fn hipGraphRemoveDependencies(
        graph: hipGraph_t,
        from: *const hipGraphNode_t,
        to: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t {
        let graph = object::graph(graph)?;
        // SAFETY: the caller's arrays.
        let edges = unsafe { edges(from, to, count) }?;
        graph.with(|graph| Ok(graph.remove_dependencies(&edges)?))
    }
}

entry! {
    /// Removes a node with its edges.
    fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t {
        let (graph, id) = object::node(node)?;
        graph.with(|graph| Ok(graph.remove(id)?))
    }
}

/// Answers a query for a list: the count alone if there is no array, else as many as fit, nulls behind them, and how
/// many there were to store.
// HIP: 5.2.3 leaves the count of an array that is too small as it is (tests/conformance/graph_get_nodes.cpp).
unsafe fn answer(
    found: &[hipGraphNode_t],
    array: *mut hipGraphNode_t,
    count: *mut usize,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointer, null or readable and writable.
    let room = unsafe { caller::read(count) }?;
    if array.is_null() {
        // SAFETY: as above.
        return unsafe { caller::write(count, found.len()) };
    }
    for n in 0..room {
        let node = found.get(n).copied().unwrap_or(hipGraphNode_t::NULL);
        // SAFETY: the caller's array has room for `room` nodes.
        unsafe { caller::write(array.add(n), node) }?;
    }
    // SAFETY: as above.
    unsafe { caller::write(count, found.len().min(room)) }
}

/// The handles of the nodes that `list` finds in a graph.
fn handles(
    graph: &GraphRef,
    list: impl FnOnce(&Topology) -> Result<Vec<NodeId>, aqlipse::graph::Error>,
) -> Result<Vec<hipGraphNode_t>, hipError_t> {
    let found = graph.with(|graph| Ok(list(graph.graph().topology()).map_err(aqlipse::Error::from)?))?;
    Ok(found.into_iter().map(object::node_handle).collect())
}

entry! {
    /// Stores the nodes of a graph, each behind those that it depends on, else in the order in which they were added.
    fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t {
        // HIP: 6.3 lists them so (tests/conformance/graph_get_nodes.cpp). A graph with a cycle has no such order.
        let found = handles(&object::graph(graph)?, |graph| {
            Ok(graph.order().unwrap_or_else(|_| graph.nodes().collect()))
        })?;
        // SAFETY: the caller's pointers.
        unsafe { answer(&found, nodes, count) }
    }
}

entry! {
    /// Stores the nodes of a graph that depend on nothing.
    fn hipGraphGetRootNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize) -> hipError_t {
        let found = handles(&object::graph(graph)?, |graph| Ok(graph.roots().collect()))?;
        // SAFETY: the caller's pointers.
        unsafe { answer(&found, nodes, count) }
    }
}

entry! {
    /// Stores the edges of a graph in the order in which they were added.
    fn hipGraphGetEdges(
        graph: hipGraph_t,
        from: *mut hipGraphNode_t,
        to: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t {
        let graph = object::graph(graph)?;
        if from.is_null() != to.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let edges: Vec<_> = graph.with(|graph| Ok(graph.graph().topology().edges().collect()))?;
        let [starts, ends]: [Vec<_>; 2] = [
            edges.iter().map(|(from, _)| object::node_handle(*from)).collect(),
            edges.iter().map(|(_, to)| object::node_handle(*to)).collect(),
        ];
        // SAFETY: the caller's pointers.
        let room = unsafe { caller::read(count) }?;
        // SAFETY: as above; the first answer overwrites the count that the second one reads.
        unsafe {
            answer(&starts, from, count)?;
            caller::write(count, room)?;
            answer(&ends, to, count)
        }
    }
}

entry! {
    /// Stores what a node depends on.
    fn hipGraphNodeGetDependencies(
        node: hipGraphNode_t,
        nodes: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t {
        let (graph, id) = object::node(node)?;
        let found = handles(&graph, |graph| Ok(graph.dependencies(id)?.collect()))?;
        // SAFETY: the caller's pointers.
        unsafe { answer(&found, nodes, count) }
    }
}

entry! {
    /// Stores what depends on a node.
    fn hipGraphNodeGetDependentNodes(
        node: hipGraphNode_t,
        nodes: *mut hipGraphNode_t,
        count: *mut usize,
    ) -> hipError_t {
        let (graph, id) = object::node(node)?;
        let found = handles(&graph, |graph| Ok(graph.dependents(id)?.collect()))?;
        // SAFETY: the caller's pointers.
        unsafe { answer(&found, nodes, count) }
    }
}

entry! {
    /// Stores the kind of a node.
    fn hipGraphNodeGetType(node: hipGraphNode_t, kind: *mut hipGraphNodeType) -> hipError_t {
        if kind.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (graph, id) = object::node(node)?;
        let found = graph.with(|graph| Ok(graph.graph().node(id).map_err(aqlipse::Error::from)?.kind()))?;
        let code = match found {
            NodeKind::Kernel => hipGraphNodeTypeKernel,
            NodeKind::Memcpy => hipGraphNodeTypeMemcpy,
            NodeKind::Memset => hipGraphNodeTypeMemset,
            NodeKind::Host => hipGraphNodeTypeHost,
            NodeKind::Child => hipGraphNodeTypeGraph,
            NodeKind::Empty => hipGraphNodeTypeEmpty,
            NodeKind::EventWait => hipGraphNodeTypeWaitEvent,
            NodeKind::EventRecord => hipGraphNodeTypeEventRecord,
            NodeKind::MemAlloc => hipGraphNodeTypeMemAlloc,
            NodeKind::MemFree => hipGraphNodeTypeMemFree,
            NodeKind::Conditional => hipGraphNodeTypeConditional,
            NodeKind::BatchMemOp => hipGraphNodeTypeBatchMemOp,
            NodeKind::MemcpyBatch => hipGraphNodeTypeExtMemcpyBatch,
            NodeKind::SemaphoreSignal => hipGraphNodeTypeExtSemaphoreSignal,
            NodeKind::SemaphoreWait => hipGraphNodeTypeExtSemaphoreWait,
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(kind, kind::reported(code)) }
    }
}
