//! The unit that does a node's work on a device.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::unit::{DST_ARGUMENT, Pin, SRC_ARGUMENT, Unit};
use crate::{
    device::Device,
    error::{Error, Result},
    graph::{HostFn, Kernel, Memcpy, Node},
    memory::{self, Ends, EngineCopy, Relay, batch},
    module::Function,
    stream::value,
};

/// The unit that launches a kernel. Most nodes are kernels.
#[inline(always)]
pub(super) fn kernel_unit(device: &Device, kernel: &Kernel<Function>) -> Result<Unit> {
    let code = kernel.function.code(device)?;
    let dispatch = code.dispatch(kernel)?;
    if !kernel.attributes.is_cooperative() {
        return Ok(Unit::Dispatch(dispatch));
    }
    code.check_cooperative(device.properties(), kernel)?;
    Ok(Unit::Cooperative(dispatch))
}

/// The unit that does a node's work, and the one that must run directly before it.
pub(super) fn unit_of(device: &Device, node: &Node) -> Result<(Option<Unit>, Unit)> {
    Ok((
        None,
        match node {
            Node::Kernel(kernel) => kernel_unit(device, kernel)?,
            Node::Memset(set) => {
                let set = memory::check_memset(*set)?;
                if set.width == 0 || set.height == 0 {
                    Unit::Join
                } else if !memory::fill_reaches(device, &set) {
                    Unit::Relay(Relay::Fill(set))
                } else {
                    Unit::Dispatch(device.blit()?.memset(&set))
                }
            }
            Node::Memcpy(copy) => return copy_units(device, copy),
            Node::Host(function) => Unit::Host(function.clone()),
            Node::Empty | Node::Child(_) | Node::MemAlloc(_) | Node::MemFree(_) => Unit::Join,
            // A launch would tell no other process, and wait for none.
            Node::EventRecord(event) | Node::EventWait(event) if event.shared().is_some() => {
                return Err(Error::NotSupported("events between processes in graphs"));
            }
            // Its bodies are compiled with the graph around it: see `Units::new`.
            Node::Conditional(_) => {
                return Err(Error::NotSupported("a conditional node outside of a graph"));
            }
            Node::EventRecord(event) => Unit::Record(event.clone()),
            Node::EventWait(event) => Unit::Wait(event.clone()),
            Node::BatchMemOp(_)
            | Node::MemcpyBatch(_)
            | Node::SemaphoreSignal(_)
            | Node::SemaphoreWait(_) => unit_of_parts(device, node)?,
        },
    ))
}

/// What an engine of a device would copy for a node, if it could do the node's work.
pub(super) fn engine_copy(device: &Device, node: &Node) -> Result<Option<EngineCopy>> {
    match node {
        Node::Memcpy(copy) => EngineCopy::of(device, copy),
        _ => Ok(None),
    }
}

fn copy_units(device: &Device, copy: &Memcpy) -> Result<(Option<Unit>, Unit)> {
    let ends = memory::check_memcpy(device, copy)?;
    if copy.is_empty() {
        return Ok((None, Unit::Join));
    }
    if ends == Ends::HostOnly {
        return Ok((None, Unit::HostCopy(copy.clone())));
    }
    if ends == Ends::Foreign {
        return Ok((None, Unit::Relay(Relay::Copy(copy.clone()))));
    }
    let Some(dispatch) = device.blit()?.memcpy(&memory::device_addresses(copy))? else {
        return Ok((None, Unit::Join));
    };
    let (span, argument, reads) = match ends {
        Ends::FromHost => (copy.source_span(), SRC_ARGUMENT, true),
        Ends::ToHost => (copy.destination_span(), DST_ARGUMENT, false),
        Ends::Reachable | Ends::Pinned | Ends::HostOnly | Ends::Foreign => {
            return Ok((None, Unit::Dispatch(dispatch)));
        }
    };
    let (address, bytes) = span.ok_or(Error::InvalidValue("the copy leaves the address space"))?;
    let pin = Pin { address, bytes, argument, reads, copy: copy.clone() };
    Ok((Some(Unit::Pin(pin)), Unit::Dispatch(dispatch)))
}

/// The unit of a node with several parts; any other node is only a place in the order.
///
/// # Errors
/// What the work would be refused for on a stream.
fn unit_of_parts(device: &Device, node: &Node) -> Result<Unit> {
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
                // A fault takes what would have followed: the rest is not needed.
                each.iter()
                    .all(|(semaphore, value)| semaphore.wait_unless(*value, || faults.epoch() != epoch));
            }))
        }
        _ => Unit::Join,
    })
}
