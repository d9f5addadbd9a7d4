//! Graph memory: the nodes that allocate and free it, and what a device's graphs hold.

use std::ffi::{c_int, c_void};

use aqlipse::{
    AllocationOptions, Device,
    graph::{MemAlloc, Node, NodeId},
};

use super::{
    node::add,
    view::{ALLOCATIONS, AllocationView},
};
use crate::{
    api::pool::stream_ordered::{access_error, access_flags, device_at, max_bytes, rights},
    caller, current,
    error::{hipError_t, hipErrorInvalidValue, hipErrorOutOfMemory},
    object,
    types::*,
};

/// Where an allocation node allocates, and what else its parameters ask for.
///
/// # Errors
/// `hipErrorInvalidValue` for what is no pinned memory of a device, no bytes, and access descriptors that name no
/// device, no rights or more devices than there are; `hipErrorOutOfMemory` for more than the device has.
unsafe fn allocation(params: &hipMemAllocNodeParams) -> Result<(Device, u64, AllocationOptions), hipError_t> {
    let pool = &params.poolProps;
    if pool.allocType != hipMemAllocationTypePinned {
        return Err(hipErrorInvalidValue);
    }
    let device = device_at(pool.location)?;
    // SAFETY: the caller's array.
    let access = unsafe { rights(params.accessDescs, params.accessDescCount, hipErrorInvalidValue) }?;
    if params.bytesize == 0 {
        return Err(hipErrorInvalidValue);
    }
    if params.bytesize as u64 > device.properties().total_memory {
        return Err(hipErrorOutOfMemory);
    }
    let options = AllocationOptions { access, handle_types: pool.handleTypes.0, max_bytes: max_bytes(pool) };
    Ok((device, params.bytesize as u64, options))
}

/// Notes the parameters that an allocation node was made with, its address among them.
fn remember(node: NodeId, params: hipMemAllocNodeParams) {
    ALLOCATIONS.lock().insert(node.to_bits(), AllocationView::Given(params));
}

/// The parameters that an allocation node was made with.
fn found(node: NodeId, alloc: MemAlloc, options: &AllocationOptions) -> hipMemAllocNodeParams {
    let location =
        // CAST: ordinals are small.
        |ordinal: usize| hipMemLocation { r#type: hipMemLocationTypeDevice, id: ordinal as c_int };
    let mut views = ALLOCATIONS.lock();
    let view = views.entry(node.to_bits()).or_insert_with(|| {
        let each = options.access.iter().map(|(device, right)| hipMemAccessDesc {
            location: location(device.ordinal()),
            flags: access_flags(*right),
        });
        AllocationView::Descriptors(each.collect())
    });
    let view = match view {
        AllocationView::Given(params) => return *params,
        AllocationView::Descriptors(view) => view,
    };
    hipMemAllocNodeParams {
        poolProps: hipMemPoolProps {
            allocType: hipMemAllocationTypePinned,
            handleTypes: hipMemAllocationHandleType(options.handle_types),
            location: location(alloc.device as usize),
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: options.max_bytes as usize,
            reserved: [0; 56],
        },
        accessDescs: if view.is_empty() { std::ptr::null() } else { view.as_ptr() },
        accessDescCount: view.len(),
        bytesize: alloc.bytes as usize,
        dptr: alloc.address as usize as *mut c_void,
    }
}

entry! {
    /// Stores what launches of graphs use of a device's memory, or have left allocated, in bytes, as 64 bits. What is kept
    /// for the next launch does not count.
    fn hipDeviceGetGraphMemAttribute(
        device: c_int,
        attribute: hipGraphMemAttributeType,
        value: *mut c_void,
    ) -> hipError_t {
        let device = current::device_at(device)?;
        device.discount_idle_graph_memory();
        let bytes = match attribute {
            hipGraphMemAttrUsedMemCurrent => device.graph_memory_used().current,
            hipGraphMemAttrUsedMemHigh => device.graph_memory_used().high,
            hipGraphMemAttrReservedMemCurrent => device.graph_memory_reserved().current,
            hipGraphMemAttrReservedMemHigh => device.graph_memory_reserved().high,
            _ => return Err(hipErrorInvalidValue),
        };
        // SAFETY: the caller's pointer, null or writable for 64 bits.
        unsafe { caller::write(value.cast::<u64>(), bytes) }
    }
}

entry! {
    /// Starts a high mark anew: all that can be set is 0, of a high mark.
    fn hipDeviceSetGraphMemAttribute(
        device: c_int,
        attribute: hipGraphMemAttributeType,
        value: *mut c_void,
    ) -> hipError_t {
        let device = current::device_at(device)?;
        // Before the value is looked at: nothing may lie where it should.
        if !matches!(attribute, hipGraphMemAttrUsedMemHigh | hipGraphMemAttrReservedMemHigh) {
            return Err(hipErrorInvalidValue);
        }
        device.discount_idle_graph_memory();
        // SAFETY: the caller's pointer, null or readable for 64 bits.
        match (unsafe { caller::read(value.cast::<u64>()) }?, attribute) {
            (0, hipGraphMemAttrUsedMemHigh) => device.reset_graph_memory_used_high(),
            (0, _) => device.reset_graph_memory_reserved_high(),
            _ => return Err(hipErrorInvalidValue),
        }
        Ok(())
    }
}

entry! {
    /// Lets go of the memory of a device's graphs that no launch uses.
    fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t {
        current::device_at(device)?.trim_graph_memory();
        Ok(())
    }
}

/// Adds an allocation node and stores its address in `params`.
pub(super) unsafe fn add_allocation(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    params: *mut hipMemAllocNodeParams,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let mut wanted = unsafe { caller::read(params) }?;
    // SAFETY: the caller's array of access descriptors.
    let (device, bytes, options) = unsafe { allocation(&wanted) }?;
    // SAFETY: the caller's pointers.
    unsafe {
        add(node, graph, after, count, |graph, after| {
            let added = graph.add_allocation_with(&device, bytes, options, after);
            let (id, start) = added.map_err(access_error)?;
            wanted.dptr = start as usize as *mut c_void;
            remember(id, wanted);
            Ok(id)
        })
    }?;
    // SAFETY: the caller's pointer, which was readable.
    unsafe { caller::write(params, wanted) }
}

entry! {
    /// Adds a node that allocates memory; its address is stored in `params` and never changes.
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_allocation(node, graph, after, count, params) }
    }
}

entry! {
    /// Stores what an allocation node allocates.
    fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, params: *mut hipMemAllocNodeParams) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (graph, id) = object::node(node)?;
        let (alloc, options) = graph.with(|graph| match graph.graph().node(id) {
            Ok(Node::MemAlloc(alloc)) => Ok((*alloc, graph.allocation_options(id).unwrap_or_default())),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found(id, alloc, &options)) }
    }
}

/// Adds a node that frees the graph's allocation at `address`.
pub(super) unsafe fn add_free(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    address: *mut c_void,
) -> Result<(), hipError_t> {
    if address.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's pointers.
    unsafe { add(node, graph, after, count, |graph, after| Ok(graph.add_free(address as u64, after)?)) }
}

entry! {
    /// Adds a node that frees what an allocation node of the graph has allocated.
    fn hipGraphAddMemFreeNode, hipDrvGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: *mut c_void,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_free(node, graph, after, count, address) }
    }
}

entry! {
    /// Stores the address that a free node frees.
    fn hipGraphMemFreeNodeGetParams(node: hipGraphNode_t, address: *mut c_void) -> hipError_t {
        let (graph, id) = object::node(node)?;
        let free = graph.with(|graph| match graph.graph().node(id) {
            Ok(Node::MemFree(free)) => Ok(*free),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, null or writable for an address.
        unsafe { caller::write(address.cast::<usize>(), free.address as usize) }
    }
}
