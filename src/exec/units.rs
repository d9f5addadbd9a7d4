//! What a flat graph's nodes are made of: dispatches, host steps, and the pinning of pageable copies.

use std::{mem::discriminant, sync::Arc};

use hsa::packet::{Fences, Packet};

use super::conditional::{self, Conditional};
use crate::{
    device::Device,
    dispatch::Dispatch,
    error::{Error, Result},
    event::Event,
    graph::{FlatGraph, HostFn, Memcpy, Node, csr::Csr},
    hostcall::fifo::Fifo,
    memory::{self, Ends, peer::Relay},
    module::Function,
    schedule::Class,
};

/// One thing that the plan places on a lane.
#[derive(Clone)]
pub(crate) enum Unit {
    /// A kernel of the caller's, or one of ours that copies or fills.
    Dispatch(Dispatch),
    /// A kernel whose blocks wait for each other, launched by the host on the queue for such kernels.
    Cooperative(Dispatch),
    /// A call on the host.
    Host(HostFn),
    /// A copy between two places that no device reaches.
    HostCopy(Memcpy),
    /// A copy or a fill of memory that the graph's device may not access.
    Relay(Relay),
    /// The point that an event stands for once the graph gets there.
    Record(Event),
    /// What follows waits for the point that an event stands for at the launch.
    Wait(Event),
    /// Pins the host end of the copy that the next unit does, and tells its kernel the address.
    Pin(Pin),
    /// Bodies that run as a condition says.
    Conditional(Arc<Conditional>),
    /// A point in the order: a join, or a copy of no bytes.
    Join,
}

/// Pageable memory that one unit needs pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pin {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// Offset, in the copy's kernel arguments, of the pointer to replace.
    pub(crate) argument: usize,
    /// Whether the device reads the memory.
    pub(crate) reads: bool,
}

/// The units of a graph with their order.
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    pub(crate) preds: Csr,
    /// Unit of each flat node that does the node's work.
    pub(crate) main: Vec<u32>,
    /// What kernels of the graph print to that do not call the host; the last unit reads it.
    pub(crate) fifo: Option<Arc<Fifo>>,
}

/// Offset of the destination and of the source in the arguments of the copy kernels (`kernels/blit.md`).
const DST_ARGUMENT: usize = 0;
const SRC_ARGUMENT: usize = 8;

impl Unit {
    /// Bytes that the unit holds.
    pub(crate) fn bytes(&self) -> usize {
        let nested = match self {
            Self::Conditional(conditional) => conditional.bytes(),
            _ => 0,
        };
        size_of::<Self>() + nested + self.kernel().map_or(0, |dispatch| dispatch.kernargs.len())
    }

    /// The kernel that it runs.
    pub(crate) fn kernel(&self) -> Option<&Dispatch> {
        match self {
            Self::Dispatch(dispatch) | Self::Cooperative(dispatch) => Some(dispatch),
            _ => None,
        }
    }

    /// Lets a kernel that prints without calling the host do so.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has no buffer for that: none of its kernels printed when it was made.
    pub(crate) fn print_to(&mut self, fifo: Option<&Arc<Fifo>>) -> Result<()> {
        if let Self::Dispatch(dispatch) | Self::Cooperative(dispatch) = self
            && dispatch.code.prints()
        {
            let missing = Error::NotSupported("a kernel that prints in a graph whose kernels did not");
            fifo.ok_or(missing)?.attach(dispatch);
        }
        Ok(())
    }

    /// The packet that does its work, with its kernel arguments at `kernarg`; nothing if that is more than a packet.
    ///
    /// # Errors
    /// As [`Dispatch::packet`].
    pub(crate) fn packet(&self, fences: Fences, kernarg: u64) -> Result<Option<Packet>> {
        match self {
            Self::Dispatch(dispatch) => dispatch.packet(fences, kernarg).map(Some),
            Self::Conditional(conditional) if conditional.branches() => conditional.packet(fences).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Dispatch(_) | Self::Record(_) | Self::Wait(_) => Class::Packet,
            Self::Host(_) | Self::HostCopy(_) | Self::Relay(_) | Self::Pin(_) | Self::Cooperative(_) => {
                Class::Host
            }
            Self::Conditional(conditional) if conditional.branches() => Class::Packet,
            Self::Conditional(_) => Class::Host,
            Self::Join => Class::Join,
        }
    }
}

impl Units {
    /// Makes the units of `flat`, whose nodes do `work`, on `device`.
    ///
    /// # Errors
    /// What a launch of the node's work on a stream would be refused for.
    pub(crate) fn new(
        device: &Device,
        flat: &FlatGraph,
        work: &[Option<&Node<Function, Event>>],
    ) -> Result<Self> {
        let mut units = Vec::with_capacity(work.len());
        let mut preds = Csr::with_capacity(work.len(), flat.preds().entries());
        let mut main: Vec<u32> = Vec::with_capacity(work.len());
        let conditionals = conditional::compile_all(device, work)?;
        for reset in conditional::resets(device, conditionals.iter())? {
            preds.push_row([]);
            units.push(reset);
        }
        if units.len() > 1 {
            preds.push_row(0..units.len() as u32);
            units.push(Unit::Join);
        }
        // Kernels anywhere in the graph may store to a condition, so its default comes before all of them.
        let entry = units.len().checked_sub(1).map(|entry| entry as u32);
        let mut conditionals = conditionals.into_iter();
        for (index, node) in work.iter().enumerate() {
            // CAST: a flat graph numbers its nodes in 32 bits.
            let row = flat.preds().row(index as u32);
            let entry = entry.filter(|_| row.is_empty());
            let row = row.iter().map(|&pred| main[pred as usize]).chain(entry);
            let (before, unit) = match node {
                None => (None, Unit::Join),
                Some(Node::Conditional(_)) => {
                    // PANIC: one was compiled for each conditional node, in this order.
                    (None, Unit::Conditional(conditionals.next().expect("a compiled node")))
                }
                Some(node) => unit_of(device, node)?,
            };
            if let Some(pin) = before {
                preds.push_row(row);
                preds.push_row([units.len() as u32]);
                units.push(pin);
            } else {
                preds.push_row(row);
            }
            main.push(units.len() as u32);
            units.push(unit);
        }
        let prints = |unit: &Unit| unit.kernel().is_some_and(|dispatch| dispatch.code.prints());
        let printing: Vec<u32> =
            (0u32..).zip(&units).filter(|(_, unit)| prints(unit)).map(|(n, _)| n).collect();
        let fifo = if printing.is_empty() { None } else { Some(Fifo::new(device)?) };
        if let Some(fifo) = &fifo {
            for unit in &mut units {
                unit.print_to(Some(fifo))?;
            }
            preds.push_row(printing);
            units.push(Unit::Host(fifo.reader()));
        }
        Ok(Self { units, preds, main, fifo })
    }
}

/// The unit that does a node's work, and the one that must run directly before it.
pub(crate) fn unit_of(device: &Device, node: &Node<Function, Event>) -> Result<(Option<Unit>, Unit)> {
    Ok((
        None,
        match node {
            Node::Kernel(kernel) => {
                let code = kernel.function.code(device)?;
                let dispatch = code.dispatch(kernel)?;
                if kernel.attributes.cooperative {
                    code.check_cooperative(device.properties(), kernel)?;
                    Unit::Cooperative(dispatch)
                } else {
                    Unit::Dispatch(dispatch)
                }
            }
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
            Node::Conditional(conditional) => {
                Unit::Conditional(Arc::new(Conditional::new(device, conditional)?))
            }
            Node::EventRecord(event) => Unit::Record(event.clone()),
            Node::EventWait(event) => Unit::Wait(event.clone()),
        },
    ))
}

/// Puts a unit, and the one that must run before it, where others of the same kinds were; otherwise says no.
pub(crate) fn replace(units: &mut [Unit], main: usize, pin: Option<Unit>, unit: Unit) -> bool {
    let had_pin = main > 0 && matches!(units[main - 1], Unit::Pin(_));
    if discriminant(&unit) != discriminant(&units[main]) || pin.is_some() != had_pin {
        return false;
    }
    if let Some(pin) = pin {
        units[main - 1] = pin;
    }
    units[main] = unit;
    true
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
        Ends::Reachable | Ends::HostOnly | Ends::Foreign => return Ok((None, Unit::Dispatch(dispatch))),
    };
    let (address, bytes) = span.ok_or(Error::InvalidValue("the copy leaves the address space"))?;
    let pin = Pin { address, bytes, argument, reads };
    Ok((Some(Unit::Pin(pin)), Unit::Dispatch(dispatch)))
}
