//! Fill nodes: rows of elements.

use std::ffi::c_void;

use aqlipse::{
    Error, GraphNode,
    graph::{Memset, Node},
};

use super::node::{node_entries, with_node};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    types::*,
};

pub(crate) unsafe fn memset_node(params: *const hipMemsetParams) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let params = unsafe { caller::read(params) }?;
    // The value has no room for an element of 8 bytes, which a node of this library may have (`fill64`).
    if params.dst.is_null() || params.width == 0 || params.height == 0 || params.elementSize > 4 {
        return Err(hipErrorInvalidValue);
    }
    let set = Memset {
        dst: params.dst as u64,
        pitch: params.pitch as u64,
        value: params.value.into(),
        element_size: params.elementSize,
        width: params.width as u64,
        height: params.height as u64,
    };
    aqlipse::memory::check_fill(set)?;
    Ok(Node::Memset(set))
}

node_entries! {
    (params: *const hipMemsetParams) => memset_node(params);
    /// Adds a node that fills rows of memory.
    add fn hipGraphAddMemsetNode;
    /// Gives a fill node other rows to fill.
    set fn hipGraphMemsetNodeSetParams;
    /// Gives a fill node of an executable other operands.
    exec fn hipGraphExecMemsetNodeSetParams;
}

entry! {
    /// Stores a fill node's parameters.
    fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, params: *mut hipMemsetParams) -> hipError_t {
        let found = with_node(node, |node| match node {
            Node::Memset(Memset { element_size: 8, .. }) => {
                Err(Error::NotSupported("showing a 64-bit pattern where there is room for 32 bits").into())
            }
            Node::Memset(set) => Ok(hipMemsetParams {
                dst: set.dst as usize as *mut c_void,
                elementSize: set.element_size,
                height: set.height as usize,
                pitch: set.pitch as usize,
                // CAST: elements of up to 4 bytes.
                value: set.value as u32,
                width: set.width as usize,
            }),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write_padded(params, found, &[12..16, 36..40]) }
    }
}
