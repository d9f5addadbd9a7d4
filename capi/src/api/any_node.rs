//! Nodes of any kind through one structure that says which.

use super::{
    batch_node,
    child::add_child,
    event_node::{record_node, wait_node},
    exec::{set_exec, set_exec_copy},
    node::{
        add, add_allocation, add_copy, add_free, box_copy, host_node, kernel_node, memset_node, plain, set,
        set_copy,
    },
    semaphore_node,
};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue, hipErrorNotSupported},
    object,
    types::*,
};

use aqlipse::{GraphNode, graph::Node};

/// What a caller's structure says of a node whose parameters can be changed.
enum Work {
    /// A copy, which has rules of its own.
    Copy(aqlipse::graph::Memcpy),
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
            hipGraphNodeTypeKernel => Work::Other(kernel_node(&params.params.kernel)?),
            hipGraphNodeTypeMemset => Work::Other(memset_node(&params.params.memset)?),
            hipGraphNodeTypeHost => Work::Other(host_node(&params.params.host)?),
            hipGraphNodeTypeEventRecord => Work::Other(record_node(params.params.eventRecord.event)?),
            hipGraphNodeTypeWaitEvent => Work::Other(wait_node(params.params.eventWait.event)?),
            hipGraphNodeTypeMemcpy => Work::Copy(box_copy(&params.params.memcpy.copyParams)?),
            hipGraphNodeTypeExtSemaphoreSignal => {
                Work::Other(semaphore_node::signal_node(&params.params.extSemSignal)?)
            }
            hipGraphNodeTypeExtSemaphoreWait => {
                Work::Other(semaphore_node::wait_node(&params.params.extSemWait)?)
            }
            hipGraphNodeTypeExtMemcpyBatch => {
                let batch: *const hipGraphNodeParamsUnion = &params.params;
                Work::Other(batch_node::copies_node(batch.cast())?)
            }
            // The union has no member for their parameters.
            hipGraphNodeTypeBatchMemOp => return Err(hipErrorNotSupported),
            kind if is_kind(kind) => return Err(hipErrorNotSupported),
            _ => return Err(hipErrorInvalidValue),
        })
    }
}

fn is_kind(kind: hipGraphNodeType) -> bool {
    kind.0 <= hipGraphNodeTypeConditional.0
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
                hipGraphNodeTypeEmpty => add(node, graph, after, count, plain(Node::Empty)),
                hipGraphNodeTypeGraph => add_child(node, graph, after, count, given.params.graph.graph),
                hipGraphNodeTypeMemAlloc => {
                    add_allocation(node, graph, after, count, &raw mut (*params).params.alloc)
                }
                hipGraphNodeTypeMemFree => add_free(node, graph, after, count, given.params.free.dptr),
                hipGraphNodeTypeMemcpy => {
                    add_copy(node, graph, after, count, || box_copy(&given.params.memcpy.copyParams))
                }
                _ => add(node, graph, after, count, |graph, after| match work(&given)? {
                    Work::Other(made) => plain(made)(graph, after),
                    Work::Copy(_) => Err(hipErrorInvalidValue),
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
            Work::Copy(copy) => set_copy(node, copy),
            Work::Other(made) => set(node, made),
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
        object::exec(exec)?;
        object::node(node)?;
        // SAFETY: the caller's pointer, null or readable, and what it points to.
        match unsafe { work(&caller::read(params)?) }? {
            Work::Copy(copy) => set_exec_copy(exec, node, || Ok(copy)),
            Work::Other(made) => set_exec(exec, node, made),
        }
    }
}
