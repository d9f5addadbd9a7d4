//! What one node's work is: a dispatch, a step of the host, or the pinning of a pageable copy.

#![forbid(unsafe_code)]

use std::{mem::discriminant, sync::Arc};

use aqlipse_graph::image::{self, Content};
use hsa::packet::{BarrierAnd, Branch, Fences, Packet};

use crate::{
    device::{Properties, checked},
    error::{Error, Result},
    graph::{HostFn, Memcpy},
    hostcall::fifo::Fifo,
    memory::Relay,
    module::Dispatch,
    schedule::Class,
    stream::Event,
};

/// One thing that the plan places on a lane.
#[derive(Clone)]
pub(super) enum Unit {
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
    /// The conditional node with a number. If the packet processor takes its bodies, the packet that branches to them; the
    /// host drives them otherwise.
    Conditional { number: u32, branch: Option<Branch> },
    /// A point in the order: a join, or a copy of no bytes.
    Join,
}

/// Pageable memory that one unit needs pinned.
#[derive(Clone, Debug)]
pub(super) struct Pin {
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Offset, in the copy's kernel arguments, of the pointer to replace.
    pub(super) argument: usize,
    /// Whether the device reads the memory.
    pub(super) reads: bool,
    /// What the unit copies.
    pub(super) copy: Memcpy,
}

// What is rare must not make all units larger.
const _: () = assert!(size_of::<Pin>() <= size_of::<Dispatch>());
const _: () = assert!(size_of::<Branch>() <= size_of::<Dispatch>());

impl Pin {
    /// Where the copy's kernel arguments have the bytes of a row, of which there are none if nothing is left to copy,
    /// and how many there are.
    pub(super) fn extent(&self) -> (usize, u64) {
        match &self.copy {
            Memcpy::Linear { bytes, .. } => (LINEAR_EXTENT_ARGUMENT, *bytes),
            Memcpy::Box(copy) => (BOX_EXTENT_ARGUMENT, copy.extent[0]),
        }
    }
}

/// Offsets of the destination and of the source in the arguments of the copy kernels (`kernels/blit.md`).
pub(super) const DST_ARGUMENT: usize = 0;
pub(super) const SRC_ARGUMENT: usize = 8;
/// Offsets of the bytes of a row in the arguments of the kernels that copy one row, and boxes.
const LINEAR_EXTENT_ARGUMENT: usize = 16;
const BOX_EXTENT_ARGUMENT: usize = 48;

impl Unit {
    /// Bytes that the unit holds.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.kernel().map_or(0, |dispatch| dispatch.kernargs.heap_bytes())
    }

    /// Bytes that the kernel arguments of its packet take: whole cache lines, so that no two packets share one.
    pub(super) fn kernarg_bytes(&self) -> usize {
        match self {
            Self::Dispatch(dispatch) if dispatch.kernargs.is_empty() => {
                checked::no_arguments().len().next_multiple_of(64)
            }
            Self::Dispatch(dispatch) => dispatch.kernargs.len().next_multiple_of(64),
            _ => 0,
        }
    }

    /// The kernel that it runs.
    pub(super) fn kernel(&self) -> Option<&Dispatch> {
        match self {
            Self::Dispatch(dispatch) | Self::Cooperative(dispatch) => Some(dispatch),
            _ => None,
        }
    }

    /// Compute units of `device` that the unit's packet takes.
    pub(super) fn compute_units(&self, device: &Properties) -> u32 {
        let Self::Dispatch(dispatch) = self else { return 1 };
        let block = dispatch.workgroup.iter().map(|&size| u32::from(size)).fold(1, u32::saturating_mul);
        dispatch.code.units_filled(device, dispatch.resident_blocks(), block, dispatch.group_bytes)
    }

    /// Lets a kernel that prints without calling the host do so.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the graph has no buffer for that: none of its kernels printed when it was made.
    pub(super) fn print_to(&mut self, fifo: Option<&Arc<Fifo>>) -> Result<()> {
        if let Self::Dispatch(dispatch) | Self::Cooperative(dispatch) = self
            && dispatch.code.prints()
        {
            let missing = Error::NotSupported("a kernel that prints in a graph whose kernels did not");
            dispatch.print_to(fifo.ok_or(missing)?);
        }
        Ok(())
    }

    /// What the unit is, in words; a copy of pageable memory has its pages `pinned`.
    pub(super) fn what(&self, pinned: bool) -> &'static str {
        match self {
            Self::Dispatch(_) if pinned => "a copy of pageable memory by the device",
            Self::Dispatch(_) => "a dispatch",
            Self::Cooperative(_) => "a cooperative dispatch",
            Self::Host(_) => "a call on the host",
            Self::HostCopy(_) => "a copy by the host",
            Self::Relay(_) => "a copy or fill of another device's memory",
            Self::Record(_) => "the recording of an event",
            Self::Wait(_) => "a wait for an event",
            Self::Pin(_) => "the pinning of memory",
            Self::Conditional { .. } => "a choice among bodies",
            Self::Join => "nothing to do",
        }
    }

    /// The packet that does its work, with its kernel arguments at `kernarg`.
    ///
    /// # Errors
    /// As [`Dispatch::packet`]; [`Error::IllegalState`] if it is no such packet.
    #[inline]
    pub(super) fn packet(&self, fences: Fences, kernarg: u64) -> Result<Packet> {
        match self {
            Self::Dispatch(dispatch) => dispatch.packet(fences, kernarg),
            Self::Conditional { branch: Some(branch), .. } => Ok(Branch { fences, ..*branch }.packet()),
            _ => Err(Error::IllegalState("a packet for what is none")),
        }
    }

    pub(super) fn class(&self) -> Class {
        match self {
            Self::Dispatch(_)
            | Self::Record(_)
            | Self::Wait(_)
            | Self::Conditional { branch: Some(_), .. } => Class::Packet,
            Self::Host(_)
            | Self::HostCopy(_)
            | Self::Relay(_)
            | Self::Pin(_)
            | Self::Cooperative(_)
            | Self::Conditional { branch: None, .. } => Class::Host,
            Self::Join => Class::Join,
        }
    }
}

/// What a unit puts into its queue, with its kernel arguments at `kernarg`.
///
/// # Errors
/// As [`Unit::packet`]; [`Error::IllegalState`] for one that is no packet, which would be a defect of the scheduler.
#[inline(always)]
pub(super) fn content(units: &[Unit], unit: u32, fences: Fences, kernarg: u64) -> Result<Content> {
    match units.get(unit as usize) {
        Some(work @ (Unit::Dispatch(_) | Unit::Conditional { .. })) => {
            work.packet(fences, kernarg).map(Content::Packet)
        }
        Some(Unit::Record(_)) => Ok(Content::Record),
        Some(Unit::Wait(_)) => Ok(Content::Wait),
        _ => Err(image::Error::NotAPacket { unit }.into()),
    }
}

/// The packet of a unit, or of its place alone if it is not enabled, with the header fields of the packet that stands
/// there.
pub(super) fn packet_in_place_of(
    old: &Packet,
    enabled: bool,
    packet: impl FnOnce(Fences) -> Result<Packet>,
) -> Result<Packet> {
    let fences = old.header().map_err(hsa::Error::from)?.fences;
    if enabled { packet(fences) } else { Ok(place_of(fences)) }
}

/// The packet of what does not run: only its place in the order.
pub(super) fn place_of(fences: Fences) -> Packet {
    BarrierAnd { fences, ..BarrierAnd::default() }.packet()
}

/// Bytes that the kernel arguments of these units' packets take.
pub(super) fn kernarg_bytes(units: &[Unit]) -> usize {
    units.iter().map(Unit::kernarg_bytes).sum()
}

/// The unit that pins memory for another, if one does.
pub(super) fn pin_of(units: &[Unit], main: u32) -> Option<u32> {
    main.checked_sub(1).filter(|&before| matches!(units[before as usize], Unit::Pin(_)))
}

/// Why a unit, with the one that must run before it, cannot stand where another is: they are of other kinds.
pub(super) fn misfit(units: &[Unit], main: usize, pin: Option<&Unit>, unit: &Unit) -> Option<String> {
    let had_pin = main > 0 && matches!(units[main - 1], Unit::Pin(_));
    if discriminant(unit) == discriminant(&units[main]) && pin.is_some() == had_pin {
        return None;
    }
    let (old, new) = (units[main].what(had_pin), unit.what(pin.is_some()));
    Some(format!("it would be {new}, the one in its place is {old}"))
}

/// Puts a unit, and the one that must run before it, where others of the same kinds were.
///
/// # Errors
/// As [`misfit`].
pub(super) fn replace(units: &mut [Unit], main: usize, pin: Option<Unit>, unit: Unit) -> Result<(), String> {
    if let Some(detail) = misfit(units, main, pin.as_ref(), &unit) {
        return Err(detail);
    }
    if let Some(pin) = pin {
        units[main - 1] = pin;
    }
    units[main] = unit;
    Ok(())
}
