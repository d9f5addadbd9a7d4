//! Which devices may access an allocation node's memory beside its own, as callers describe it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use aqlipse::{Device, graph::NodeId};

use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    graph_ref,
    types::*,
};

/// The devices that an allocation's parameters let in.
///
/// # Errors
/// `hipErrorInvalidValue` for more descriptions than there are devices, one of no device, or unknown rights.
pub(super) unsafe fn peers(params: &hipMemAllocNodeParams) -> Result<Vec<Device>, hipError_t> {
    if params.accessDescCount > current::devices()?.len() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's array, as long as the caller says.
    let given = unsafe { caller::read_slice(params.accessDescs, params.accessDescCount) }?;
    let mut peers = Vec::new();
    for access in &given {
        if access.location.r#type != hipMemLocationTypeDevice {
            return Err(hipErrorInvalidValue);
        }
        let device = current::device_at(access.location.id).map_err(|_| hipErrorInvalidValue)?;
        match access.flags {
            hipMemAccessFlagsProtNone => {}
            // The hardware's page tables know no device that only reads: HSA lets an agent in or not.
            hipMemAccessFlagsProtRead | hipMemAccessFlagsProtReadWrite => peers.push(device),
            _ => return Err(hipErrorInvalidValue),
        }
    }
    Ok(peers)
}

/// Descriptions of nodes as callers may point to them: valid as long as the node's graph.
static VIEWS: Mutex<Option<HashMap<u64, Box<[hipMemAccessDesc]>>>> = Mutex::new(None);

/// Describes the access of `peers`, ordinals, to the memory of `node`; the array stays the node's.
pub(super) fn described(node: NodeId, peers: &[usize]) -> (*const hipMemAccessDesc, usize) {
    if peers.is_empty() {
        return (std::ptr::null(), 0);
    }
    let mut views = VIEWS.lock().unwrap_or_else(PoisonError::into_inner);
    let views = views.get_or_insert_default();
    let view = views.entry(node.to_bits()).or_insert_with(|| {
        let access = |&ordinal: &usize| hipMemAccessDesc {
            // CAST: ordinals are small.
            location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: ordinal as i32 },
            flags: hipMemAccessFlagsProtReadWrite,
        };
        peers.iter().map(access).collect()
    });
    (view.as_ptr(), view.len())
}

/// Forgets the descriptions of nodes of graphs that are gone.
pub(super) fn forget_views() {
    let mut views = VIEWS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(views) = views.as_mut() {
        views
            .retain(|bits, _| NodeId::from_bits(*bits).is_some_and(|node| graph_ref::graph_of(node).is_ok()));
    }
}
