//! Parameters of a template's copy, fill and host nodes and attributes of its kernel nodes: asking for them and
//! changing them.

use std::{
    ffi::{c_int, c_void},
    ops::Range,
};

use aqlipse::{
    Error, GraphNode,
    graph::{KernelAttributes, Memcpy, Memset, Node, Surface},
};

use super::node::{host_node, memset_node, set, set_copy};
use crate::{
    api::{
        launch::kernel::{access_policy, window_of},
        memory::operand::{box_copy, kind_of, linear, name_arrays},
    },
    caller,
    error::{hipError_t, hipErrorInvalidContext, hipErrorInvalidValue},
    object,
    types::*,
};

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

/// Lets `read` look at the parameters of a node.
pub(crate) fn with_node<T>(
    node: hipGraphNode_t,
    read: impl FnOnce(&GraphNode) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| read(graph.graph().node(id).map_err(aqlipse::Error::from)?))
}

/// A memory synchronisation domain.
///
/// # Errors
/// `hipErrorInvalidValue` for a number that is none.
fn sync_domain(domain: u32) -> Result<u32, hipError_t> {
    if domain <= LAST_SYNC_DOMAIN { Ok(domain) } else { Err(hipErrorInvalidValue) }
}

/// `hipLaunchMemSyncDomainRemote`.
const LAST_SYNC_DOMAIN: u32 = 1;

/// Which domains of the device the two are: it has one, number 0.
///
/// # Errors
/// `hipErrorInvalidValue` for another.
fn sync_domain_map(map: [u8; 2]) -> Result<[u8; 2], hipError_t> {
    if map == [0; 2] { Ok(map) } else { Err(hipErrorInvalidValue) }
}

/// Lets `change` work on the attributes of a kernel node.
fn with_attributes<T>(
    node: hipGraphNode_t,
    change: impl FnOnce(&mut KernelAttributes) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| match graph.graph_mut().node_mut(id) {
        Ok(Node::Kernel(kernel)) => change(&mut kernel.attributes),
        _ => Err(hipErrorInvalidValue),
    })
}

entry! {
    /// Sets an attribute of a kernel node.
    fn hipGraphKernelNodeSetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // ABI: a client of libamdhip64.so.6 has 32 bytes there, so only the active member is read.
        // SAFETY: the caller's pointer, which is not null and readable for the member that the attribute names.
        let change = |attributes: &mut KernelAttributes| unsafe {
            match attribute {
                hipLaunchAttributeCooperative => {
                    attributes.cooperative = caller::read(value.cast::<c_int>())?;
                    Ok(())
                }
                hipLaunchAttributePriority => {
                    attributes.priority = caller::read(value.cast::<c_int>())?;
                    Ok(())
                }
                hipLaunchAttributeAccessPolicyWindow => {
                    attributes.access_policy = access_policy(&caller::read(value.cast())?)?;
                    Ok(())
                }
                hipLaunchAttributeMemSyncDomain => {
                    attributes.sync_domain = sync_domain(caller::read(value.cast())?)?;
                    Ok(())
                }
                hipLaunchAttributeMemSyncDomainMap => {
                    attributes.sync_domain_map = sync_domain_map(caller::read(value.cast())?)?;
                    Ok(())
                }
                _ => Err(hipErrorInvalidValue),
            }
        };
        with_attributes(node, change)
    }
}

entry! {
    /// Stores an attribute of a kernel node.
    fn hipGraphKernelNodeGetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let attributes = with_attributes(node, |attributes| Ok(*attributes))?;
        // ABI: a client of libamdhip64.so.6 has 32 bytes there, so only the active member is written.
        // SAFETY: the caller's pointer, which is not null and writable for the member that the attribute names.
        unsafe {
            match attribute {
                hipLaunchAttributeCooperative => {
                    caller::write(value.cast::<c_int>(), attributes.cooperative)
                }
                hipLaunchAttributePriority => caller::write(value.cast::<c_int>(), attributes.priority),
                hipLaunchAttributeAccessPolicyWindow => {
                    caller::write(value.cast(), window_of(&attributes.access_policy))
                }
                hipLaunchAttributeMemSyncDomain => caller::write(value.cast(), attributes.sync_domain),
                hipLaunchAttributeMemSyncDomainMap => caller::write(value.cast(), attributes.sync_domain_map),
                _ => Err(hipErrorInvalidValue),
            }
        }
    }
}

entry! {
    /// Gives a kernel node the attributes of another.
    fn hipGraphKernelNodeCopyAttributes(source: hipGraphNode_t, destination: hipGraphNode_t) -> hipError_t {
        let copied = with_attributes(source, |attributes| Ok(*attributes))?;
        let device = |node| object::node(node)?.0.with(|graph| Ok(graph.device().clone()));
        // The kernels' contexts are those of their graphs.
        if device(source)? != device(destination)? {
            return Err(hipErrorInvalidContext);
        }
        with_attributes(destination, |attributes| {
            *attributes = copied;
            Ok(())
        })
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
    /// Stores a fill node's parameters.
    fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, params: *mut hipMemsetParams) -> hipError_t {
        let found = with_node(node, |node| match node {
            Node::Memset(Memset { element_size: 8, .. }) => {
                Err(Error::NotSupported("showing a 64-bit pattern where there is room for 32 bits").into())
            }
            Node::Memset(set) => Ok(hipMemsetParams {
                dst: set.dst as usize as *mut c_void,
                elementSize: set.element_size,
                height: set.height as usize,
                pitch: set.pitch as usize,
                // CAST: elements of up to 4 bytes.
                value: set.value as u32,
                width: set.width as usize,
            }),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write_padded(params, found, &[12..16, 36..40]) }
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
        let (function, user_data) = with_node(node, |node| match node {
            Node::Host(call) => Ok((call.function(), call.user_data())),
            _ => Err(hipErrorInvalidValue),
        })?;
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
