//! Copy nodes: runs of bytes, and boxes between arrays and pitched memory.

use std::{ffi::c_void, ops::Range};

use aqlipse::{
    GraphNode,
    graph::{Memcpy, Node, Surface},
};

use super::node::{add_made, set, set_exec, with_node};
use crate::{
    api::memory::operand::{box_copy, kind_of, linear, name_arrays},
    caller,
    error::{hipError_t, hipErrorInvalidPitchValue, hipErrorInvalidValue},
    object,
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

/// Adds a node that copies.
pub(crate) unsafe fn add_copy(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    copy: impl FnOnce() -> Result<Memcpy, hipError_t>,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointers.
    unsafe { add_made(node, graph, after, count, |_| copy_node(copy()?)) }
}

/// Gives a copy node other operands.
pub(crate) fn set_copy(node: hipGraphNode_t, copy: Memcpy) -> Result<(), hipError_t> {
    set(node, copy_node(copy)?)
}

/// Gives a copy node of an executable other operands; the direction must stay.
pub(crate) fn set_exec_copy(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    copy: impl FnOnce() -> Result<Memcpy, hipError_t>,
) -> Result<(), hipError_t> {
    object::exec(exec)?;
    object::node(node)?;
    set_exec(exec, node, copy_node(copy()?)?)
}

/// A run of bytes that is to be copied to another, as the setters of nodes take it: not empty, and not onto itself.
pub(crate) fn apart(
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

/// A copy as the header's structure describes it: a run of bytes is a box of one row.
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
    let run = |address: u64, bytes: u64| Surface {
        address,
        pitch: bytes,
        row_bytes: bytes,
        rows: 1,
        corner: [0; 3],
    };
    let (dst, src, [width, height, depth]) = match copy {
        Memcpy::Linear { dst, src, bytes, .. } => (run(*dst, *bytes), run(*src, *bytes), [*bytes, 1, 1]),
        Memcpy::Box(copy) => (copy.dst, copy.src, copy.extent),
    };
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

entry! {
    /// Adds a node that copies a box between arrays and pitched memory.
    fn hipGraphAddMemcpyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemcpy3DParms,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let params = unsafe { caller::read(params) };
        // SAFETY: the caller's pointers.
        unsafe { add_copy(node, graph, after, count, || box_copy(&params?)) }
    }
}

entry! {
    /// Adds a node that copies a run of bytes.
    fn hipGraphAddMemcpyNode1D(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let copy = || {
            let copy = linear(dst, src, bytes, kind)?;
            // HIP: 6.3 adds no node for no bytes (tests/conformance/graph_memcpy1d_errors.cpp).
            if bytes == 0 { Err(hipErrorInvalidValue) } else { Ok(copy) }
        };
        // SAFETY: the caller's pointers.
        unsafe { add_copy(node, graph, after, count, copy) }
    }
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

entry! {
    /// Gives a copy node another box to copy, in any direction.
    fn hipGraphMemcpyNodeSetParams(node: hipGraphNode_t, params: *const hipMemcpy3DParms) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer, null or readable.
        set_copy(node, box_copy(&unsafe { caller::read(params) }?)?)
    }
}

entry! {
    /// Gives a copy node another run of bytes to copy, in any direction.
    fn hipGraphMemcpyNodeSetParams1D(
        node: hipGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        object::node(node)?;
        set_copy(node, apart(dst, src, bytes, kind)?)
    }
}

entry! {
    /// Gives a copy node of an executable another box to copy; the direction must stay.
    fn hipGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipMemcpy3DParms,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let params = unsafe { caller::read(params) };
        set_exec_copy(exec, node, || box_copy(&params?))
    }
}

entry! {
    /// Gives a copy node of an executable other operands; the direction must stay.
    fn hipGraphExecMemcpyNodeSetParams1D(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        set_exec_copy(exec, node, || apart(dst, src, bytes, kind))
    }
}
