//! Nodes that copy several runs of bytes: an extension of AMD's releases of 2026, whose header is not public yet.

use std::ffi::c_void;

use aqlipse::{
    GraphNode,
    graph::{Node, RunCopy},
};

use super::{
    node::{node_entries, with_node},
    view,
};
use crate::{
    api::memory::batch_copy::{Batch, runs},
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    types::*,
};

/// The node that copies a batch.
///
/// # Errors
/// As [`runs`].
///
/// # Safety
/// The pointer is null or readable, and so are the arrays behind it.
pub(super) unsafe fn copies_node(
    params: *const hipExtMemcpyBatchNodeParams,
) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's promise.
    let given = unsafe { caller::read(params) }?;
    let batch = Batch {
        dsts: given.dsts,
        srcs: given.srcs,
        sizes: given.sizes,
        count: given.count,
        attributes: given.attrs,
        places: given.attrsIdxs,
        attribute_count: given.numAttrs,
    };
    // SAFETY: the caller's promise.
    let (copies, _) = unsafe { runs(&batch) }.map_err(|(code, _)| code)?;
    Ok(Node::MemcpyBatch(copies.into()))
}

node_entries! {
    (params: *const hipExtMemcpyBatchNodeParams) => copies_node(params);
    /// Adds a node that copies several runs of bytes, in no order among each other.
    add fn hipGraphAddExtMemcpyBatchNode;
    /// Gives a node another batch of copies.
    set fn hipGraphExtMemcpyBatchNodeSetParams;
    /// Gives a node of an executable other operands and sizes; how many copies there are must stay.
    exec fn hipGraphExecExtMemcpyBatchNodeSetParams;
}

entry! {
    /// Stores the copies of a node; the arrays stay the node's. Attributes had no effect and are not kept.
    fn hipGraphExtMemcpyBatchNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipExtMemcpyBatchNodeParams,
    ) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let copies = with_node(node, |node| match node {
            Node::MemcpyBatch(copies) => Ok(copies.clone()),
            _ => Err(hipErrorInvalidValue),
        })?;
        let column = |of: fn(&RunCopy) -> u64| copies.iter().map(of).collect::<Box<[u64]>>();
        let (_, id) = object::node(node)?;
        let kept = view::keep(id, vec![column(|run| run.dst), column(|run| run.src), column(|run| run.bytes)]);
        let found = hipExtMemcpyBatchNodeParams {
            dsts: kept[0].cast::<*mut c_void>(),
            srcs: kept[1].cast::<*mut c_void>(),
            sizes: kept[2].cast::<usize>(),
            count: copies.len(),
            attrs: std::ptr::null_mut(),
            attrsIdxs: std::ptr::null_mut(),
            numAttrs: 0,
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found) }
    }
}
