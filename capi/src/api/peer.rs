//! Access of one device to the memory of another, which the runtime does not arrange yet.

use std::ffi::{c_int, c_uint, c_void};

use super::{
    context::device_of,
    memory::{copy, copy_async},
};
use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue, hipErrorNotSupported,
        hipErrorPeerAccessNotEnabled, hipErrorPeerAccessUnsupported,
    },
    types::*,
};

entry! {
    /// Stores whether a device reaches another's memory: never yet, and a device is no peer of itself.
    fn hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> hipError_t {
        if can.is_null() {
            return Err(hipErrorInvalidValue);
        }
        current::device_at(device)?;
        current::device_at(peer)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(can, 0) }
    }
}

/// The device of `peer` as a peer of the current one.
fn check_peer(peer: c_int) -> Result<(), hipError_t> {
    let peer = current::device_at(peer)?;
    if peer == current::device()? { Err(hipErrorInvalidDevice) } else { Ok(()) }
}

fn enable(peer: c_int, flags: c_uint) -> Result<(), hipError_t> {
    if flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    check_peer(peer)?;
    Err(hipErrorPeerAccessUnsupported)
}

fn disable(peer: c_int) -> Result<(), hipError_t> {
    check_peer(peer)?;
    Err(hipErrorPeerAccessNotEnabled)
}

entry! {
    /// Asks for access to a peer's memory; no device has any.
    fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t {
        enable(peer, flags)
    }
}

entry! {
    /// Gives access to a peer's memory up; no device has any.
    fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t {
        disable(peer)
    }
}

entry! {
    /// Asks for access to a peer's memory; no device has any.
    fn hipCtxEnablePeerAccess(peer: hipCtx_t, flags: c_uint) -> hipError_t {
        enable(device_of(peer)?, flags)
    }
}

entry! {
    /// Gives access to a peer's memory up; no device has any.
    fn hipCtxDisablePeerAccess(peer: hipCtx_t) -> hipError_t {
        disable(device_of(peer)?)
    }
}

entry! {
    /// Stores a property of the link between two devices, all 0 without access.
    fn hipDeviceGetP2PAttribute(
        value: *mut c_int,
        attribute: hipDeviceP2PAttr,
        source: c_int,
        destination: c_int,
    ) -> hipError_t {
        if value.is_null() || attribute.0 > hipDevP2PAttrHipArrayAccessSupported.0 {
            return Err(hipErrorInvalidValue);
        }
        if current::device_at(source)? == current::device_at(destination)? {
            return Err(hipErrorInvalidDevice);
        }
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, 0) }
    }
}

/// Refuses copies from one device to another.
fn check_same(destination: c_int, source: c_int) -> Result<(), hipError_t> {
    if current::device_at(destination)? == current::device_at(source)? {
        Ok(())
    } else {
        Err(hipErrorNotSupported)
    }
}

entry! {
    /// Copies from the memory of one device to that of another, which must be the same, and waits for it.
    fn hipMemcpyPeer(
        dst: *mut c_void,
        dst_device: c_int,
        src: *const c_void,
        src_device: c_int,
        bytes: usize,
    ) -> hipError_t {
        check_same(dst_device, src_device)?;
        // SAFETY: the caller's operands.
        unsafe { copy(dst, src, bytes, hipMemcpyDeviceToDevice) }
    }
}

entry! {
    /// Copies from the memory of one device to that of another, which must be the same, on a stream.
    fn hipMemcpyPeerAsync(
        dst: *mut c_void,
        dst_device: c_int,
        src: *const c_void,
        src_device: c_int,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        check_same(dst_device, src_device)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, src, bytes, hipMemcpyDeviceToDevice, stream) }
    }
}
