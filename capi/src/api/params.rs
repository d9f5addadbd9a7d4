//! Parameters of a template's copy, fill and host nodes: asking for them and changing them.

use std::ffi::c_void;

use aqlipse::graph::{Memcpy, Node, Surface};

use super::node::{box_copy, host_node, linear, memset_node, set, set_copy};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object::{self, lock},
    types::*,
};

/// A run of bytes that is to be copied to another, as the setters of nodes take it: not empty, and not onto itself.
pub(super) fn apart(
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
    hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: corner(&src),
        srcPtr: surface(&src),
        dstArray: hipArray_t::NULL,
        dstPos: corner(&dst),
        dstPtr: surface(&dst),
        extent: hipExtent { width: width as usize, height: height as usize, depth: depth as usize },
        kind: super::node::kind_of(copy.kind()),
    }
}

entry! {
    /// Stores a copy node's parameters.
    fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: *mut hipMemcpy3DParms) -> hipError_t {
        let (template, id) = object::node(node)?;
        let found = match lock(&template).graph().node(id) {
            Ok(Node::Memcpy(copy)) => described(copy),
            _ => return Err(hipErrorInvalidValue),
        };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(params, found) }
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
    /// Stores a fill node's parameters.
    fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, params: *mut hipMemsetParams) -> hipError_t {
        let (template, id) = object::node(node)?;
        let found = match lock(&template).graph().node(id) {
            Ok(Node::Memset(set)) => hipMemsetParams {
                dst: set.dst as usize as *mut c_void,
                elementSize: set.element_size,
                height: set.height as usize,
                pitch: set.pitch as usize,
                value: set.value,
                width: set.width as usize,
            },
            _ => return Err(hipErrorInvalidValue),
        };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(params, found) }
    }
}

entry! {
    /// Gives a fill node other rows to fill.
    fn hipGraphMemsetNodeSetParams(node: hipGraphNode_t, params: *const hipMemsetParams) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set(node, unsafe { memset_node(params) }?)
    }
}

entry! {
    /// Stores a host node's function and argument.
    fn hipGraphHostNodeGetParams(node: hipGraphNode_t, params: *mut hipHostNodeParams) -> hipError_t {
        let (template, id) = object::node(node)?;
        let (function, user_data) = match lock(&template).graph().node(id) {
            Ok(Node::Host(call)) => (call.function(), call.user_data()),
            _ => return Err(hipErrorInvalidValue),
        };
        // SAFETY: the word is the function that a caller of this library gave for the node, or 0 for none; an
        // optional function has the layout of a word.
        let function = unsafe { std::mem::transmute::<usize, hipHostFn_t>(function) };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(params, hipHostNodeParams { r#fn: function, userData: user_data as *mut c_void }) }
    }
}

entry! {
    /// Gives a host node another function or argument.
    fn hipGraphHostNodeSetParams(node: hipGraphNode_t, params: *const hipHostNodeParams) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set(node, unsafe { host_node(params) }?)
    }
}
