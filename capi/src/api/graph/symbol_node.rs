//! Copy nodes to and from device variables, which callers name by their host shadows.

use std::ffi::c_void;

use aqlipse::graph::Memcpy;

use super::copy_node::{add_copy, set_copy, set_exec_copy};
use crate::{
    api::{
        memory::{
            operand::linear,
            symbol::{check_from, check_to, symbol_range},
        },
        module::register::variable,
    },
    error::{hipError_t, hipErrorInvalidMemcpyDirection, hipErrorInvalidValue},
    object,
    types::*,
};

/// Refuses, beside no bytes, a plain operand that is null or itself the shadow of a variable.
fn check_plain(pointer: *const c_void, bytes: usize) -> Result<(), hipError_t> {
    if pointer.is_null() || bytes == 0 || variable(pointer).is_ok() {
        return Err(hipErrorInvalidValue);
    }
    Ok(())
}

/// The work of a node that copies to a variable.
fn copy_to(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let dst = symbol_range(symbol, bytes, offset)?;
    check_plain(src, bytes)?;
    check_to(kind)?;
    linear(dst, src, bytes, kind)
}

/// The work of a node that copies from a variable.
fn copy_from(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let src = symbol_range(symbol, bytes, offset)?;
    check_plain(dst, bytes)?;
    check_from(kind)?;
    linear(dst, src, bytes, kind)
}

/// As [`copy_to`] for a node that is there already. AMD's library asks where the bytes come from only then.
fn set_to(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let copy = copy_to(symbol, src, bytes, offset, kind)?;
    let pageable = aqlipse::memory::find(src as u64)?.is_none();
    if kind == hipMemcpyDeviceToDevice && pageable { Err(hipErrorInvalidValue) } else { Ok(copy) }
}

entry! {
    /// Adds a node that copies to a device variable.
    fn hipGraphAddMemcpyNodeToSymbol(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_copy(node, graph, after, count, || copy_to(symbol, src, bytes, offset, kind)) }
    }
}

entry! {
    /// Adds a node that copies from a device variable.
    fn hipGraphAddMemcpyNodeFromSymbol(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_copy(node, graph, after, count, || copy_from(dst, symbol, bytes, offset, kind)) }
    }
}

entry! {
    /// Lets a copy node copy to a device variable.
    fn hipGraphMemcpyNodeSetParamsToSymbol(
        node: hipGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        object::node(node)?;
        set_copy(node, set_to(symbol, src, bytes, offset, kind)?)
    }
}

entry! {
    /// Lets a copy node copy from a device variable.
    fn hipGraphMemcpyNodeSetParamsFromSymbol(
        node: hipGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        object::node(node)?;
        set_copy(node, copy_from(dst, symbol, bytes, offset, kind)?)
    }
}

entry! {
    /// Lets a copy node of an executable copy to a device variable; the direction must stay.
    fn hipGraphExecMemcpyNodeSetParamsToSymbol(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        // The direction must stay: one that is none is another one.
        let other = |code| if code == hipErrorInvalidMemcpyDirection { hipErrorInvalidValue } else { code };
        set_exec_copy(exec, node, || set_to(symbol, src, bytes, offset, kind).map_err(other))
    }
}

entry! {
    /// Lets a copy node of an executable copy from a device variable; the direction must stay.
    fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        set_exec_copy(exec, node, || copy_from(dst, symbol, bytes, offset, kind))
    }
}
