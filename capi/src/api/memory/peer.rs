//! Access of one device to the memory of another, and copies between devices.

use std::ffi::{c_int, c_uint, c_void};

use aqlipse::{Device, memory};

use super::linear::{copy, copy_async};
use crate::{
    api::device::context::device_of,
    caller, current,
    error::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue},
    types::*,
};

entry! {
    /// Stores whether a device can reach another's memory; a device is no peer of itself.
    fn hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> hipError_t {
        if can.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (device, peer) = (current::device_at(device)?, current::device_at(peer)?);
        let answer = memory::can_access_peer(&device, &peer)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(can, answer.into()) }
    }
}

/// The current device, and the device of `peer` as a peer of it.
fn pair(peer: c_int) -> Result<(Device, Device), hipError_t> {
    let (device, peer) = (current::device()?, current::device_at(peer)?);
    if peer == device { Err(hipErrorInvalidDevice) } else { Ok((device, peer)) }
}

fn enable(peer: c_int, flags: c_uint) -> Result<(), hipError_t> {
    if flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    let (device, peer) = pair(peer)?;
    Ok(memory::enable_peer_access(&device, &peer)?)
}

fn disable(peer: c_int) -> Result<(), hipError_t> {
    let (device, peer) = pair(peer)?;
    Ok(memory::disable_peer_access(&device, &peer)?)
}

entry! {
    /// Lets kernels on the current device access what is allocated on a peer.
    fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t {
        enable(peer, flags)
    }
}

entry! {
    /// Ends the current device's access to what is allocated on a peer.
    fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t {
        disable(peer)
    }
}

entry! {
    /// Lets kernels on the current device access what is allocated on a peer.
    fn hipCtxEnablePeerAccess(peer: hipCtx_t, flags: c_uint) -> hipError_t {
        enable(device_of(peer)?, flags)
    }
}

entry! {
    /// Ends the current device's access to what is allocated on a peer.
    fn hipCtxDisablePeerAccess(peer: hipCtx_t) -> hipError_t {
        disable(device_of(peer)?)
    }
}

entry! {
    /// Stores a property of the link between two devices.
    fn hipDeviceGetP2PAttribute(
        value: *mut c_int,
        attribute: hipDeviceP2PAttr,
        source: c_int,
        destination: c_int,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (source, destination) = (current::device_at(source)?, current::device_at(destination)?);
        if source == destination {
            return Err(hipErrorInvalidDevice);
        }
        if attribute.0 > hipDevP2PAttrHipArrayAccessSupported.0 {
            return Err(hipErrorInvalidValue);
        }
        let access = memory::can_access_peer(&source, &destination)?;
        let link = memory::link(&source, &destination)?;
        let answer = match attribute {
            // CUDA documents a relative value, lower for the better link: each hop makes it worse.
            hipDevP2PAttrPerformanceRank => link.map_or(0, |link| c_int::try_from(link.hops).unwrap_or(c_int::MAX)),
            hipDevP2PAttrNativeAtomicSupported => link.is_some_and(|link| link.atomics).into(),
            // Arrays are ordinary memory: a device that reaches that can copy to and from them.
            _ => access.into(),
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(value, answer) }
    }
}

entry! {
    /// Stores what links two devices, and over how many hops; a device has no link to itself.
    fn hipExtGetLinkTypeAndHopCount(
        device1: c_int,
        device2: c_int,
        kind: *mut u32,
        hops: *mut u32,
    ) -> hipError_t {
        if kind.is_null() || hops.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // HIP: 5.2.3, as for one device twice (tests/conformance/peer_links.cpp).
        if device1 < 0 || device2 < 0 {
            return Err(hipErrorInvalidValue);
        }
        let (from, to) = (current::device_at(device1)?, current::device_at(device2)?);
        let found = memory::link(&from, &to)?.ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's pointers, which are not null.
        unsafe {
            caller::write(kind, found.kind.0)?;
            caller::write(hops, found.hops)
        }
    }
}

/// Checks that both ends of a copy are on devices that there are.
fn ends(destination: c_int, source: c_int) -> Result<[Device; 2], hipError_t> {
    Ok([current::device_at(destination)?, current::device_at(source)?])
}

entry! {
    /// Copies from the memory of one device to that of another, behind all work of both, and waits for it.
    fn hipMemcpyPeer(
        dst: *mut c_void,
        dst_device: c_int,
        src: *const c_void,
        src_device: c_int,
        bytes: usize,
    ) -> hipError_t {
        for device in ends(dst_device, src_device)? {
            device.synchronize()?;
        }
        // SAFETY: the caller's operands.
        unsafe { copy(dst, src, bytes, hipMemcpyDeviceToDevice) }
    }
}

entry! {
    /// Copies from the memory of one device to that of another, on a stream.
    fn hipMemcpyPeerAsync(
        dst: *mut c_void,
        dst_device: c_int,
        src: *const c_void,
        src_device: c_int,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t {
        ends(dst_device, src_device)?;
        // SAFETY: the caller's operands.
        unsafe { copy_async(dst, src, bytes, hipMemcpyDeviceToDevice, stream) }
    }
}
