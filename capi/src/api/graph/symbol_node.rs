//! Copy nodes to and from device variables, which callers name by their host shadows.

use std::ffi::c_void;

use aqlipse::graph::Memcpy;

use super::{copy_node::copy_node, node::node_entries};
use crate::{
    api::{
        memory::{
            operand::linear,
            symbol::{check_from, check_to, symbol_range},
        },
        module::register::variable,
    },
    error::{hipError_t, hipErrorInvalidMemcpyDirection, hipErrorInvalidValue},
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

/// As [`set_to`] for a node of an executable, whose direction must stay: one that is none is another one.
fn set_exec_to(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<Memcpy, hipError_t> {
    let other = |code| if code == hipErrorInvalidMemcpyDirection { hipErrorInvalidValue } else { code };
    set_to(symbol, src, bytes, offset, kind).map_err(other)
}

node_entries! {
    (
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind
    ) => copy_node(copy_to(symbol, src, bytes, offset, kind)?);
    /// Adds a node that copies to a device variable.
    add fn hipGraphAddMemcpyNodeToSymbol;
}

node_entries! {
    (
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind
    ) => copy_node(copy_from(dst, symbol, bytes, offset, kind)?);
    /// Adds a node that copies from a device variable.
    add fn hipGraphAddMemcpyNodeFromSymbol;
    /// Lets a copy node copy from a device variable.
    set fn hipGraphMemcpyNodeSetParamsFromSymbol;
    /// Lets a copy node of an executable copy from a device variable; the direction must stay.
    exec fn hipGraphExecMemcpyNodeSetParamsFromSymbol;
}

node_entries! {
    (
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind
    ) => copy_node(set_to(symbol, src, bytes, offset, kind)?);
    /// Lets a copy node copy to a device variable.
    set fn hipGraphMemcpyNodeSetParamsToSymbol;
}

node_entries! {
    (
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind
    ) => copy_node(set_exec_to(symbol, src, bytes, offset, kind)?);
    /// Lets a copy node of an executable copy to a device variable; the direction must stay.
    exec fn hipGraphExecMemcpyNodeSetParamsToSymbol;
}
