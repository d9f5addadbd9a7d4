//! Graph memory: what allocation nodes are given, and what a device's graphs hold.

use std::{
    collections::HashMap,
    ffi::{c_int, c_void},
    sync::Mutex,
};

use aqlipse::{
    AllocationOptions, Device,
    graph::{MemAlloc, NodeId},
};

use crate::{
    api::pool::stream_ordered::{access_flags, device_at, max_bytes, rights},
    caller, current,
    error::{hipError_t, hipErrorInvalidValue, hipErrorOutOfMemory},
    graph_ref, locks,
    types::*,
};

/// Where an allocation node allocates, and what else its parameters ask for.
///
/// # Errors
/// `hipErrorInvalidValue` for what is no pinned memory of a device, no bytes, and access descriptors that name no
/// device, no rights or more devices than there are; `hipErrorOutOfMemory` for more than the device has.
pub(super) unsafe fn wanted(
    params: &hipMemAllocNodeParams,
) -> Result<(Device, u64, AllocationOptions), hipError_t> {
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

/// What callers see of allocation nodes, until the node's graph goes.
static VIEWS: Mutex<Option<HashMap<u64, View>>> = Mutex::new(None);

enum View {
    /// What the node was made with. It is given back as it was given, pointers included.
    Given(hipMemAllocNodeParams),
    /// Access descriptors of a node that a capture made, as callers may point to them.
    Descriptors(Box<[hipMemAccessDesc]>),
}

// SAFETY: the pointers are only given back.
unsafe impl Send for View {}

/// Notes the parameters that an allocation node was made with, its address among them.
pub(super) fn remember(node: NodeId, params: hipMemAllocNodeParams) {
    let mut views = locks::lock(&VIEWS);
    views.get_or_insert_default().insert(node.to_bits(), View::Given(params));
}

/// The parameters that an allocation node was made with.
pub(super) fn found(node: NodeId, alloc: MemAlloc, options: &AllocationOptions) -> hipMemAllocNodeParams {
    let location =
        // CAST: ordinals are small.
        |ordinal: usize| hipMemLocation { r#type: hipMemLocationTypeDevice, id: ordinal as c_int };
    let mut views = locks::lock(&VIEWS);
    let view = views.get_or_insert_default().entry(node.to_bits()).or_insert_with(|| {
        let each = options.access.iter().map(|(device, right)| hipMemAccessDesc {
            location: location(device.ordinal()),
            flags: access_flags(*right),
        });
        View::Descriptors(each.collect())
    });
    let view = match view {
        View::Given(params) => return *params,
        View::Descriptors(view) => view,
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

/// Forgets what callers see of the nodes of graphs that are gone.
pub(super) fn forget_views() {
    let mut views = locks::lock(&VIEWS);
    if let Some(views) = views.as_mut() {
        views
            .retain(|bits, _| NodeId::from_bits(*bits).is_some_and(|node| graph_ref::graph_of(node).is_ok()));
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
