//! Child graph nodes and the graphs inside them.

use super::node::add;
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

entry! {
    /// Adds a copy of a graph as a node.
    fn hipGraphAddChildGraphNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        child: hipGraph_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_child(node, graph, after, count, child) }
    }
}

/// Adds a copy of a graph as a node.
pub(super) unsafe fn add_child(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    child: hipGraph_t,
) -> Result<(), hipError_t> {
    // The child may be the graph itself, whose lock is taken below.
    let child = object::graph(child)?.snapshot()?;
    // SAFETY: the caller's pointers.
    unsafe { add(node, graph, after, count, |graph, after| Ok(graph.add_child(&child, after)?)) }
}

entry! {
    /// Stores the graph inside a child graph node. It belongs to the node: what is changed in it is changed in the
    /// node's graph, it ends with the node, and only the node's end destroys it.
    fn hipGraphChildGraphNodeGetGraph(node: hipGraphNode_t, graph: *mut hipGraph_t) -> hipError_t {
        if graph.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (around, id) = object::node(node)?;
        around.with(|around| Ok(around.graph().child(id).map(drop).map_err(aqlipse::Error::from)?))?;
        let handle = object::nested_graph(&around.inside(id))?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(graph, handle) }
    }
}

entry! {
    /// Gives the graph inside a node of an executable the parameters of a graph of the same shape.
    fn hipGraphExecChildGraphNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        child: hipGraph_t,
    ) -> hipError_t {
        set_child(exec, node, child)
    }
}

/// Gives the graph inside a node of an executable the parameters of a graph of the same shape.
pub(crate) fn set_child(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    child: hipGraph_t,
) -> Result<(), hipError_t> {
    let exec = object::exec(exec)?;
    let (_, id) = object::node(node)?;
    let outcome = object::graph(child)?.with_template(|child| Ok(exec.update_child(id, child)))?;
    outcome.map_err(|refusal| {
        tracing::info!("{refusal}");
        hipErrorInvalidValue
    })
}
