//! Units of nodes that do several small things of one kind.

use std::sync::Arc;

use super::units::Unit;
use crate::{
    device::Device,
    error::Result,
    graph::{HostFn, Node},
    memory::{batch, peer::Relay},
    stream::value,
};

/// The unit of a node with several parts; any other node is only a place in the order.
///
/// # Errors
/// What the work would be refused for on a stream.
pub(super) fn unit_of(device: &Device, node: &Node) -> Result<Unit> {
    Ok(match node {
        Node::BatchMemOp(steps) if !steps.is_empty() => {
            Unit::Dispatch(device.blit()?.word_steps(&value::device_steps(device, steps)?))
        }
        Node::MemcpyBatch(copies) => match batch::reached(device, copies)? {
            Some(reached) if reached.is_empty() => Unit::Join,
            Some(reached) => Unit::Dispatch(device.blit()?.copy_batch(&reached)),
            // Memory that would have to be pinned, or that lies elsewhere: the host has it copied.
            None => Unit::Relay(Relay::Batch(copies.clone())),
        },
        Node::SemaphoreSignal(each) => {
            let each: Arc<[_]> = each.clone().into();
            Unit::Host(HostFn::new(move || {
                each.iter().for_each(|(semaphore, value)| semaphore.signal(*value))
            }))
        }
        Node::SemaphoreWait(each) => {
            let (each, faults): (Arc<[_]>, _) = (each.clone().into(), device.0.faults.clone());
            Unit::Host(HostFn::new(move || {
                let epoch = faults.epoch();
                // A fault takes what would have followed: nobody needs the rest.
                each.iter()
                    .all(|(semaphore, value)| semaphore.wait_unless(*value, || faults.epoch() != epoch));
            }))
        }
        _ => Unit::Join,
    })
}
