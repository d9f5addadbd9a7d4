//! Fills with elements of 8 bytes: an extension of this library's own, for HIP has none. Other libraries do not export
//! these names, so clients look them up (`dlsym`).

use std::ffi::c_void;

use aqlipse::{GraphNode, graph::Memset, graph::Node};

use super::node::node_entries;
use crate::{
    api::memory::linear::fill,
    error::{hipError_t, hipErrorInvalidValue},
    types::*,
};

fn rows(dst: *mut c_void, pitch: usize, value: u64, width: usize, height: usize) -> Memset {
    let [pitch, width, height] = [pitch, width, height].map(|n| n as u64);
    Memset { dst: dst as u64, pitch, value, element_size: 8, width, height }
}

/// The node that fills rows.
///
/// # Errors
/// `hipErrorInvalidValue` for nothing to fill, null, and rows that leave their allocation or each other.
fn fill_node(
    dst: *mut c_void,
    pitch: usize,
    value: u64,
    width: usize,
    height: usize,
) -> Result<GraphNode, hipError_t> {
    if dst.is_null() || width == 0 || height == 0 {
        return Err(hipErrorInvalidValue);
    }
    let set = rows(dst, pitch, value, width, height);
    aqlipse::memory::check_fill(set)?;
    Ok(Node::Memset(set))
}

entry! {
    /// Fills rows of `width` elements of 8 bytes on a stream; `pitch` counts bytes and has no meaning for one row.
    fn aqlipseMemsetD2D64Async(
        dst: hipDeviceptr_t,
        pitch: usize,
        value: u64,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        fill(rows(dst, pitch, value, width, height), stream, false)
    }
}

node_entries! {
    (dst: hipDeviceptr_t, pitch: usize, value: u64, width: usize, height: usize) => fill_node(dst, pitch, value, width, height);
    /// Adds a node that fills rows of `width` elements of 8 bytes; `pitch` counts bytes and has no meaning for one row.
    add fn aqlipseGraphAddMemsetD64Node;
    /// Gives a fill node of an executable other operands, with elements of 8 bytes; the shape of several rows must stay.
    exec fn aqlipseGraphExecMemsetD64NodeSetParams;
}
