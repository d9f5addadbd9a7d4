//! Nodes of any kind through one structure that says which.

use super::{
    batch_copy_node, batch_mem_op_node,
    child_node::{add_child, set_child},
    conditional_node::add_with_empty_bodies,
    copy_node::copy_node,
    event_node::{record_node, wait_node},
    fill_node::memset_node,
    host_node::host_node,
    kernel_node::kernel_node,
    memory_node::{add_allocation, add_free},
    node::{add_made, set, set_exec, with_node},
    semaphore_node,
};
use crate::{
    api::memory::operand::box_copy,
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

use aqlipse::{Error, GraphNode, graph::Node};

/// What a caller's structure says of a node.
enum Work {
    /// A graph whose nodes have the parameters.
    Graph(hipGraph_t),
    /// Nothing: there are no parameters.
    Empty,
    Other(GraphNode),
}

/// Reads the parameters of a node.
///
/// # Errors
/// `hipErrorNotSupported` for a kind whose parameters cannot be changed, `hipErrorInvalidValue` for no kind at all.
unsafe fn work(params: &hipGraphNodeParams) -> Result<Work, hipError_t> {
    // SAFETY: all members of the union are plain data for which any bits are values, and `type` says which one the
    // caller has filled in; the pointers in it are the caller's.
    unsafe {
        Ok(match params.r#type {
            hipGraphNodeTypeKernel => {
                Work::Other(kernel_node(&params.params.kernel, current::device_ref()?)?)
            }
            hipGraphNodeTypeMemset => Work::Other(memset_node(&params.params.memset)?),
            hipGraphNodeTypeHost => Work::Other(host_node(&params.params.host)?),
            hipGraphNodeTypeEventRecord => Work::Other(record_node(params.params.eventRecord.event)?),
            hipGraphNodeTypeWaitEvent => Work::Other(wait_node(params.params.eventWait.event)?),
            hipGraphNodeTypeMemcpy => Work::Other(copy_node(box_copy(&params.params.memcpy.copyParams)?)?),
            hipGraphNodeTypeExtSemaphoreSignal => {
                Work::Other(semaphore_node::signal_node(&params.params.extSemSignal)?)
            }
            hipGraphNodeTypeExtSemaphoreWait => {
                Work::Other(semaphore_node::wait_node(&params.params.extSemWait)?)
            }
            hipGraphNodeTypeExtMemcpyBatch => {
                let batch: *const hipGraphNodeParamsUnion = &params.params;
                Work::Other(batch_copy_node::copies_node(batch.cast())?)
            }
            hipGraphNodeTypeBatchMemOp => Work::Other(batch_mem_op_node::batch_node(&params.params.memOp)?),
            hipGraphNodeTypeGraph => Work::Graph(params.params.graph.graph),
            hipGraphNodeTypeEmpty => Work::Empty,
            kind => return Err(refused(kind)),
        })
    }
}

/// The code for a kind of node whose parameters cannot be given by the structure.
fn refused(kind: hipGraphNodeType) -> hipError_t {
    let why = match kind {
        hipGraphNodeTypeMemAlloc | hipGraphNodeTypeMemFree => {
            "memory nodes keep the parameters that they were made with: addresses are theirs for good"
        }
        hipGraphNodeTypeConditional => {
            "conditional nodes keep condition and kind: change the graphs inside them (hipGraphConditionalNodeGetBody)"
        }
        hipGraphNodeTypeMemcpyFromSymbol | hipGraphNodeTypeMemcpyToSymbol => {
            "hipGraphNodeParams has no member for symbols: use hipGraphAddMemcpyNodeToSymbol and its like, or \
             hipGetSymbolAddress and a copy node"
        }
        _ => return hipErrorInvalidValue,
    };
    Error::NotSupported(why).into()
}

/// The code for other parameters of a node in a template that has a graph inside.
fn refuse_graph() -> hipError_t {
    Error::NotSupported(
        "another graph for a child graph node: change the one inside it (hipGraphChildGraphNodeGetGraph)",
    )
    .into()
}

/// Whether a node is an empty one.
fn is_empty(node: hipGraphNode_t) -> Result<(), hipError_t> {
    with_node(node, |node| if matches!(node, Node::Empty) { Ok(()) } else { Err(hipErrorInvalidValue) })
}

entry! {
    /// Adds a node of the kind that the parameters name; an allocation's address is stored in them.
    fn hipGraphAddNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipGraphNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let given = unsafe { caller::read(params) }?;
        // SAFETY: as for `work`; `params` was readable, and an allocation's are writable.
        unsafe {
            match given.r#type {
                hipGraphNodeTypeEmpty => add_made(node, graph, after, count, |_| Ok(Node::Empty)),
                hipGraphNodeTypeGraph => add_child(node, graph, after, count, given.params.graph.graph),
                hipGraphNodeTypeMemAlloc => {
                    add_allocation(node, graph, after, count, &raw mut (*params).params.alloc)
                }
                hipGraphNodeTypeMemFree => add_free(node, graph, after, count, given.params.free.dptr),
                hipGraphNodeTypeConditional => {
                    let params = &raw mut (*params).params.conditional;
                    add_with_empty_bodies(node, graph, after, count, params)
                }
                _ => add_made(node, graph, after, count, |_| match work(&given)? {
                    Work::Other(made) => Ok(made),
                    Work::Graph(_) | Work::Empty => Err(hipErrorInvalidValue),
                }),
            }
        }
    }
}

entry! {
    /// Gives a node of a template other parameters of its kind.
    fn hipGraphNodeSetParams(node: hipGraphNode_t, params: *mut hipGraphNodeParams) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer, null or readable, and what it points to.
        match unsafe { work(&caller::read(params)?) }? {
            Work::Graph(_) => Err(refuse_graph()),
            Work::Empty => is_empty(node),
            Work::Other(made) => set(node, || Ok(made)),
        }
    }
}

entry! {
    /// Gives a node of an executable other parameters of its kind, within the rules of that kind.
    fn hipGraphExecNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipGraphNodeParams,
    ) -> hipError_t {
        let executable = object::exec(exec)?;
        let (_, id) = object::node(node)?;
        // SAFETY: the caller's pointer, null or readable, and what it points to.
        match unsafe { work(&caller::read(params)?) }? {
            Work::Graph(graph) => set_child(exec, node, graph),
            Work::Empty if executable.has_node(id) => is_empty(node),
            Work::Empty => Err(hipErrorInvalidValue),
            Work::Other(made) => set_exec(exec, node, || Ok(made)),
        }
    }
}
