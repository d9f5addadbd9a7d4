//! Copies to and from device variables, which callers name by their host shadows.

use std::ffi::c_void;

use super::linear::{copy, copy_async};
use crate::{
    api::module::register::variable,
    error::{hipError_t, hipErrorInvalidMemcpyDirection, hipErrorInvalidSymbol, hipErrorInvalidValue},
    types::*,
};

/// The operand of a copy to or from a variable.
///
/// # Errors
/// `hipErrorInvalidSymbol` if there is no such variable, `hipErrorInvalidValue` for bytes that leave it.
pub(crate) fn symbol_range(
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
) -> Result<*mut c_void, hipError_t> {
    if symbol.is_null() {
        return Err(hipErrorInvalidSymbol);
    }
    let (start, size) = variable(symbol)?;
    let end = offset.checked_add(bytes).ok_or(hipErrorInvalidValue)?;
    if end as u64 > size {
        return Err(hipErrorInvalidValue);
    }
    Ok((start + offset as u64) as usize as *mut c_void)
}

pub(crate) fn check_to(kind: hipMemcpyKind) -> Result<(), hipError_t> {
    match kind {
        hipMemcpyHostToDevice | hipMemcpyDeviceToDevice | hipMemcpyDefault => Ok(()),
        _ => Err(hipErrorInvalidMemcpyDirection),
    }
}

pub(crate) fn check_from(kind: hipMemcpyKind) -> Result<(), hipError_t> {
    match kind {
        hipMemcpyDeviceToHost | hipMemcpyDeviceToDevice | hipMemcpyDefault => Ok(()),
        _ => Err(hipErrorInvalidMemcpyDirection),
    }
}

entry! {
    /// Copies to a device variable and waits for it.
    fn hipMemcpyToSymbol(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        check_to(kind)?;
        // SAFETY: the caller's operands.
        unsafe { copy(symbol_range(symbol, bytes, offset)?, src, bytes, kind) }
    }
}

entry! {
    /// Copies to a device variable on a stream.
    fn hipMemcpyToSymbolAsync(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        check_to(kind)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(symbol_range(symbol, bytes, offset)?, src, bytes, kind, stream) }
    }
}

entry! {
    /// Copies from a device variable and waits for it.
    fn hipMemcpyFromSymbol(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        check_from(kind)?;
        // SAFETY: the caller's operands.
        unsafe { copy(dst, symbol_range(symbol, bytes, offset)?, bytes, kind) }
    }
}

entry! {
    /// Copies from a device variable on a stream.
    fn hipMemcpyFromSymbolAsync(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t {
        check_from(kind)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, symbol_range(symbol, bytes, offset)?, bytes, kind, stream) }
    }
}
