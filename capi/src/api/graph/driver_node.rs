//! Copy and fill nodes as the driver interface describes them: each end of a copy says what memory it is, and a context
//! stands for the device.

use std::ffi::c_void;

use aqlipse::graph::{CopyKind, Memcpy, Node, Surface};

use super::{
    copy_node::{as_box, copy_node},
    fill_node::memset_node,
    node::{add_made, node_entries, set_exec, with_node},
};
use crate::{
    api::{
        device::context,
        memory::{driver_copy::node_box_at, kind},
    },
    caller,
    error::{
        hipError_t, hipErrorInvalidContext, hipErrorInvalidPitchValue, hipErrorInvalidValue,
        hipErrorNotSupported,
    },
    soname,
    types::*,
};

/// Asks whether there is such a context.
///
/// # Errors
/// `hipErrorInvalidValue` for none, `hipErrorInvalidContext` for one that does not exist.
fn check_context(context: hipCtx_t) -> Result<(), hipError_t> {
    if context == hipCtx_t::NULL {
        return Err(hipErrorInvalidValue);
    }
    context::device_of(context).map(drop).map_err(|_| hipErrorInvalidContext)
}

/// Reads a fill in the layout of the caller's version.
///
/// # Errors
/// `hipErrorInvalidValue` for null.
///
/// # Safety
/// The pointer is null or points to parameters in that layout.
unsafe fn fill_at(params: *const hipMemsetParams) -> Result<hipMemsetParams, hipError_t> {
    // ABI: the functions took a structure of their own until HIP 7 gave them that of other nodes.
    if soname::major() > 6 {
        // SAFETY: the caller's promise.
        return unsafe { caller::read(params) };
    }
    // SAFETY: the caller's promise.
    let old = unsafe { caller::read(params.cast::<HIP_MEMSET_NODE_PARAMS>()) }?;
    Ok(hipMemsetParams {
        dst: old.dst,
        elementSize: old.elementSize,
        height: old.height,
        pitch: old.pitch,
        value: old.value,
        width: old.width,
    })
}

entry! {
    /// Adds a node that copies a box.
    fn hipDrvGraphAddMemcpyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const HIP_MEMCPY3D,
        context: hipCtx_t,
    ) -> hipError_t {
        check_context(context)?;
        // SAFETY: the caller's pointers.
        unsafe {
            let wide = |code| if code == hipErrorInvalidPitchValue { hipErrorInvalidValue } else { code };
            add_made(node, graph, after, count, |_| copy_node(node_box_at(params)?)).map_err(wide)
        }
    }
}

node_entries! {
    (params: *const HIP_MEMCPY3D) => copy_node(node_box_at(params)?);
    /// Gives a copy node another box to copy, in any direction.
    set fn hipDrvGraphMemcpyNodeSetParams;
}

entry! {
    /// Stores a copy node's parameters.
    fn hipDrvGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: *mut HIP_MEMCPY3D) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = with_node(node, |node| match node {
            Node::Memcpy(copy) => Ok(described(copy)),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, which is not null and writable in the layout of the caller's version.
        unsafe { store(params, &found) }
    }
}

entry! {
    /// Gives a copy node of an executable another box to copy; the direction must stay.
    fn hipDrvGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const HIP_MEMCPY3D,
        context: hipCtx_t,
    ) -> hipError_t {
        check_context(context)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, || copy_node(unsafe { node_box_at(params) }?))
    }
}

entry! {
    /// Adds a node that fills rows of memory.
    fn hipDrvGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
        context: hipCtx_t,
    ) -> hipError_t {
        check_context(context)?;
        // SAFETY: the caller's pointers.
        unsafe { add_made(node, graph, after, count, |_| memset_node(&fill_at(params)?)) }
    }
}

entry! {
    /// Gives a fill node of an executable other operands.
    fn hipDrvGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipMemsetParams,
        context: hipCtx_t,
    ) -> hipError_t {
        check_context(context)?;
        // SAFETY: the caller's pointer.
        set_exec(exec, node, || unsafe { memset_node(&fill_at(params)?) })
    }
}

/// What memory the destination and the source of a copy in this direction are.
fn memory_of(kind: CopyKind) -> [hipMemoryType; 2] {
    match kind {
        CopyKind::HostToHost => [hipMemoryTypeHost, hipMemoryTypeHost],
        CopyKind::HostToDevice => [hipMemoryTypeDevice, hipMemoryTypeHost],
        CopyKind::DeviceToHost => [hipMemoryTypeHost, hipMemoryTypeDevice],
        CopyKind::DeviceToDevice => [hipMemoryTypeDevice, hipMemoryTypeDevice],
        CopyKind::Inferred => [hipMemoryTypeUnified, hipMemoryTypeUnified],
    }
}

/// A copy as the header's structure describes it.
fn described(copy: &Memcpy) -> HIP_MEMCPY3D {
    let (dst, src, [width, height, depth]) = as_box(copy);
    let [dst_type, src_type] = memory_of(copy.kind());
    let host = |kind, surface: &Surface| {
        if kind == hipMemoryTypeHost { surface.address as usize as *mut c_void } else { std::ptr::null_mut() }
    };
    let device = |kind, surface: &Surface| {
        if kind == hipMemoryTypeHost {
            std::ptr::null_mut()
        } else {
            surface.address as usize as hipDeviceptr_t
        }
    };
    HIP_MEMCPY3D {
        srcXInBytes: src.corner[0] as usize,
        srcY: src.corner[1] as usize,
        srcZ: src.corner[2] as usize,
        srcLOD: 0,
        srcMemoryType: kind::reported(src_type),
        srcHost: host(src_type, &src),
        srcDevice: device(src_type, &src),
        srcArray: hipArray_t::NULL,
        srcPitch: src.pitch as usize,
        srcHeight: src.rows as usize,
        dstXInBytes: dst.corner[0] as usize,
        dstY: dst.corner[1] as usize,
        dstZ: dst.corner[2] as usize,
        dstLOD: 0,
        dstMemoryType: kind::reported(dst_type),
        dstHost: host(dst_type, &dst),
        dstDevice: device(dst_type, &dst),
        dstArray: hipArray_t::NULL,
        dstPitch: dst.pitch as usize,
        dstHeight: dst.rows as usize,
        WidthInBytes: width as usize,
        Height: height as usize,
        Depth: depth as usize,
    }
}

/// Stores a box copy in the layout of the caller's version.
///
/// # Safety
/// The pointer is writable in that layout.
unsafe fn store(params: *mut HIP_MEMCPY3D, found: &HIP_MEMCPY3D) -> Result<(), hipError_t> {
    // ABI: the counters grew to 64 bits with HIP 6.
    if soname::major() > 5 {
        // SAFETY: the caller's promise.
        return unsafe { caller::write(params, *found) };
    }
    let narrow = |n: usize| u32::try_from(n).map_err(|_| hipErrorNotSupported);
    let old = HIP_MEMCPY3D_R0500 {
        srcXInBytes: narrow(found.srcXInBytes)?,
        srcY: narrow(found.srcY)?,
        srcZ: narrow(found.srcZ)?,
        srcLOD: 0,
        srcMemoryType: found.srcMemoryType,
        srcHost: found.srcHost,
        srcDevice: found.srcDevice,
        srcArray: found.srcArray,
        srcPitch: narrow(found.srcPitch)?,
        srcHeight: narrow(found.srcHeight)?,
        dstXInBytes: narrow(found.dstXInBytes)?,
        dstY: narrow(found.dstY)?,
        dstZ: narrow(found.dstZ)?,
        dstLOD: 0,
        dstMemoryType: found.dstMemoryType,
        dstHost: found.dstHost,
        dstDevice: found.dstDevice,
        dstArray: found.dstArray,
        dstPitch: narrow(found.dstPitch)?,
        dstHeight: narrow(found.dstHeight)?,
        WidthInBytes: narrow(found.WidthInBytes)?,
        Height: narrow(found.Height)?,
        Depth: narrow(found.Depth)?,
    };
    // SAFETY: the caller's promise.
    unsafe { caller::write(params.cast(), old) }
}
