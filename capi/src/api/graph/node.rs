//! What nodes of all kinds have in common: adding one to a graph, asking for its parameters and changing them.

use aqlipse::{
    Device, GraphNode, Subgraph,
    graph::{Node, NodeId},
};

use super::template::{Dependencies, dependencies};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

/// Adds one node to a graph and stores its handle.
pub(super) unsafe fn add(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    make: impl FnOnce(&mut Subgraph<'_>, &[NodeId]) -> Result<NodeId, hipError_t>,
) -> Result<(), hipError_t> {
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let id = object::with_graph(graph, |graph| {
        // SAFETY: the caller's array.
        let after = unsafe { dependencies(graph.graph().topology(), after, count) }?;
        make(graph.on(current::device_ref()?), &after)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(node, object::node_handle(id)) }
}

/// Adds a node with the parameters that `make` makes, for the calling thread's device.
pub(super) unsafe fn add_made(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    make: impl FnOnce(&Device) -> Result<GraphNode, hipError_t>,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointers.
    unsafe {
        add_behind(node, graph, after, count, |graph, device, after| {
            let made = make(device)?;
            Ok(graph.add_behind(made, after)?)
        })
    }
}

/// As [`add`], with the device that the node is for, and dependencies that stay where they are.
#[inline]
pub(super) unsafe fn add_behind(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    add: impl FnOnce(&mut Subgraph<'_>, &Device, Dependencies) -> Result<NodeId, hipError_t>,
) -> Result<(), hipError_t> {
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let id = object::with_graph(graph, |graph| {
        // SAFETY: the caller's array.
        let after = unsafe { Dependencies::new(graph.graph().topology(), after, count) }?;
        let device = current::device_ref()?;
        add(graph.on(device), device, after)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(node, object::node_handle(id)) }
}

/// Gives a node of a template other parameters of its kind; the attributes of a kernel stay.
pub(super) fn set(node: hipGraphNode_t, mut parameters: GraphNode) -> Result<(), hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| {
        if let (Ok(Node::Kernel(old)), Node::Kernel(new)) = (graph.graph().node(id), &mut parameters) {
            new.attributes = old.attributes.clone();
        }
        Ok(graph.on(&current::device()?).set(id, parameters)?)
    })
}

entry! {
    /// Adds a node that is only a place in the order.
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_made(node, graph, after, count, |_| Ok(Node::Empty)) }
    }
}

/// Lets `read` look at the parameters of a node.
pub(crate) fn with_node<T>(
    node: hipGraphNode_t,
    read: impl FnOnce(&GraphNode) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| read(graph.graph().node(id).map_err(aqlipse::Error::from)?))
}

/// Gives a node of an executable other parameters of its kind; the attributes of a kernel stay.
pub(crate) fn set_exec(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    mut parameters: GraphNode,
) -> Result<(), hipError_t> {
    let exec = object::exec(exec)?;
    let (_, id) = object::node(node)?;
    // The function is the one of the current device, which must be the node's.
    if matches!(parameters, Node::Kernel(_)) && exec.device_of(id)? != current::device()? {
        return Err(hipErrorInvalidValue);
    }
    with_node(node, |current| {
        if let (Node::Kernel(old), Node::Kernel(new)) = (current, &mut parameters) {
            new.attributes = old.attributes.clone();
        }
        Ok(())
    })?;
    Ok(exec.set_node(id, &parameters)?)
}
