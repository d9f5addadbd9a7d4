//! Copy nodes: runs of bytes, and boxes between arrays and pitched memory.

use std::{ffi::c_void, ops::Range};

use aqlipse::{
    GraphNode,
    graph::{Memcpy, Node, Surface},
};

use super::node::{node_entries, with_node};
use crate::{
    api::memory::operand::{box_copy, kind_of, linear, name_arrays},
    caller,
    error::{hipError_t, hipErrorInvalidPitchValue, hipErrorInvalidValue},
    types::*,
};

/// A copy node with its operands checked.
///
/// # Errors
/// `hipErrorInvalidPitchValue` for rows that are wider than they are apart, which the same copy on a stream calls an
/// invalid value; what [`aqlipse::memory::check_copy`] refuses.
pub(crate) fn copy_node(copy: Memcpy) -> Result<GraphNode, hipError_t> {
    if let Memcpy::Box(b) = &copy {
        let [width, height, depth] = b.extent;
        let too_wide = width > b.dst.pitch || width > b.src.pitch;
        if too_wide && (height > 1 || depth > 1) {
            return Err(hipErrorInvalidPitchValue);
        }
    }
    aqlipse::memory::check_copy(&copy)?;
    Ok(Node::Memcpy(copy))
}

/// A run of bytes that is to be copied to another, as a new node takes it: not empty.
fn some(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let copy = linear(dst, src, bytes, kind)?;
    // HIP: 6.3 adds no node for no bytes (tests/conformance/graph_memcpy1d_errors.cpp).
    if bytes == 0 { Err(hipErrorInvalidValue) } else { Ok(copy) }
}

/// A run of bytes that is to be copied to another, as the setters of nodes take it: not empty, and not onto itself.
fn apart(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let overlap = dst.addr().abs_diff(src.addr()) < bytes;
    if dst.is_null() || src.is_null() || bytes == 0 || overlap {
        return Err(hipErrorInvalidValue);
    }
    linear(dst, src, bytes, kind)
}

/// The destination, the source and the extent of a copy: a run of bytes is a box of one row.
pub(super) fn as_box(copy: &Memcpy) -> (Surface, Surface, [u64; 3]) {
    let run = |address, bytes| Surface { address, pitch: bytes, row_bytes: bytes, rows: 1, corner: [0; 3] };
    match copy {
        Memcpy::Linear { dst, src, bytes, .. } => (run(*dst, *bytes), run(*src, *bytes), [*bytes, 1, 1]),
        Memcpy::Box(copy) => (copy.dst, copy.src, copy.extent),
    }
}

/// A copy as the header's structure describes it.
fn described(copy: &Memcpy) -> hipMemcpy3DParms {
    let surface = |s: &Surface| hipPitchedPtr {
        ptr: s.address as usize as *mut c_void,
        pitch: s.pitch as usize,
        xsize: s.row_bytes as usize,
        ysize: s.rows as usize,
    };
    let corner = |s: &Surface| {
        let [x, y, z] = s.corner.map(|n| n as usize);
        hipPos { x, y, z }
    };
    let (dst, src, [width, height, depth]) = as_box(copy);
    let mut params = hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: corner(&src),
        srcPtr: surface(&src),
        dstArray: hipArray_t::NULL,
        dstPos: corner(&dst),
        dstPtr: surface(&dst),
        extent: hipExtent { width: width as usize, height: height as usize, depth: depth as usize },
        kind: kind_of(copy.kind()),
    };
    name_arrays(&mut params);
    params
}

node_entries! {
    (params: *const hipMemcpy3DParms) => copy_node(box_copy(&caller::read(params)?)?);
    /// Adds a node that copies a box between arrays and pitched memory.
    add fn hipGraphAddMemcpyNode;
    /// Gives a copy node another box to copy, in any direction.
    set fn hipGraphMemcpyNodeSetParams;
    /// Gives a copy node of an executable another box to copy; the direction must stay.
    exec fn hipGraphExecMemcpyNodeSetParams;
}

entry! {
    /// Stores a copy node's parameters.
    fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: *mut hipMemcpy3DParms) -> hipError_t {
        let found = with_node(node, |node| match node {
            Node::Memcpy(copy) => Ok(described(copy)),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write_padded(params, found, &[Range { start: 156, end: 160 }]) }
    }
}

node_entries! {
    (dst: *mut c_void, src: *const c_void, bytes: usize, kind: hipMemcpyKind) => copy_node(some(dst, src, bytes, kind)?);
    /// Adds a node that copies a run of bytes.
    add fn hipGraphAddMemcpyNode1D;
}

node_entries! {
    (dst: *mut c_void, src: *const c_void, bytes: usize, kind: hipMemcpyKind) => copy_node(apart(dst, src, bytes, kind)?);
    /// Gives a copy node another run of bytes to copy, in any direction.
    set fn hipGraphMemcpyNodeSetParams1D;
    /// Gives a copy node of an executable other operands; the direction must stay.
    exec fn hipGraphExecMemcpyNodeSetParams1D;
}
