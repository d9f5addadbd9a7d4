//! Host nodes: functions of the caller's.

use std::ffi::c_void;

use aqlipse::{GraphNode, graph::Node};

use super::node::{node_entries, with_node};
use crate::{
    api::launch::host_function::host_function,
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    types::*,
};

pub(crate) unsafe fn host_node(params: *const hipHostNodeParams) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let params = unsafe { caller::read(params) }?;
    Ok(Node::Host(host_function(params.r#fn, params.userData)?))
}

node_entries! {
    (params: *const hipHostNodeParams) => host_node(params);
    /// Adds a node that calls a function on the host.
    add fn hipGraphAddHostNode;
    /// Gives a host node another function or argument.
    set fn hipGraphHostNodeSetParams;
    /// Gives a host node of an executable another function.
    exec fn hipGraphExecHostNodeSetParams;
}

entry! {
    /// Stores a host node's function and argument.
    fn hipGraphHostNodeGetParams(node: hipGraphNode_t, params: *mut hipHostNodeParams) -> hipError_t {
        let (function, user_data) = with_node(node, |node| match node {
            Node::Host(call) => Ok((call.function(), call.user_data())),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the word is the function that a caller of this library gave for the node, or 0 for none; an
        // optional function has the layout of a word.
        let function = unsafe { std::mem::transmute::<usize, hipHostFn_t>(function) };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(params, hipHostNodeParams { r#fn: function, userData: user_data as *mut c_void }) }
    }
}
