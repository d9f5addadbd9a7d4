//! What a flat graph's nodes are made of: dispatches, host steps, and the pinning of pageable copies.

use std::{collections::HashMap, mem::discriminant, sync::Arc};

use aqlipse_graph::image::{self, Content};
use hsa::packet::{Fences, Packet};

use super::{
    conditional::{self, Conditional},
    failure::Failure,
    parts,
    placement::DevicePlacement,
};
use crate::{
    device::{Device, Properties, System},
    error::{Error, Result},
    graph::{FlatGraph, HostFn, Kernel, Memcpy, Node, NodeId, csr::Csr},
    hostcall::fifo::Fifo,
    memory::{self, Ends, peer::Relay},
    module::Dispatch,
    module::{Function, KernelCode},
    schedule::Class,
    stream::Event,
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
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// Offset, in the copy's kernel arguments, of the pointer to replace.
    pub(crate) argument: usize,
    /// Whether the device reads the memory.
    pub(crate) reads: bool,
    /// What the unit copies.
    pub(crate) copy: Memcpy,
}

// What is rare must not make all units larger.
const _: () = assert!(size_of::<Pin>() <= size_of::<Dispatch>());

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

/// The units of a graph with their order.
#[derive(Default)]
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    /// What the scheduler is told of each.
    pub(super) classes: Vec<Class>,
    pub(crate) preds: Csr,
    /// Unit of each flat node that does the node's work.
    pub(crate) main: Vec<u32>,
    /// Where each unit works.
    pub(super) placements: Vec<DevicePlacement>,
    /// The devices that take part: first that on which launches begin and end, then those with packets, then others.
    pub(super) devices: Vec<Device>,
    /// By device, what its kernels print to that do not call the host; the last units read it.
    pub(crate) fifos: Fifos,
    /// The different kernels, by their objects.
    pub(super) codes: HashMap<u64, KernelCode>,
    /// The object of the latest kernel.
    latest: Option<u64>,
    /// Bytes that the units hold.
    pub(super) bytes: usize,
    /// Bytes that the kernel arguments of their packets take.
    pub(super) kernarg_bytes: usize,
}

/// What an executable's kernels print to that do not call the host: a buffer of each device that has such kernels, by
/// ordinal. Devices cannot share one, as kernels reserve room in it at the scope of their own device.
#[derive(Clone, Default)]
pub(crate) struct Fifos(Vec<(u16, Arc<Fifo>)>);

impl Fifos {
    /// The buffer of a device, if it has one.
    pub(super) fn of(&self, placement: DevicePlacement) -> Option<&Arc<Fifo>> {
        self.0.iter().find(|(device, _)| *device == placement.device).map(|(_, fifo)| fifo)
    }

    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(_, fifo)| fifo.bytes()).sum()
    }
}

/// Offset of the destination and of the source in the arguments of the copy kernels (`kernels/blit.md`).
const DST_ARGUMENT: usize = 0;
const SRC_ARGUMENT: usize = 8;
/// Offsets of the bytes of a row in the arguments of the kernels that copy one row, and boxes.
const LINEAR_EXTENT_ARGUMENT: usize = 16;
const BOX_EXTENT_ARGUMENT: usize = 48;

impl Unit {
    /// Bytes that the unit holds.
    pub(crate) fn bytes(&self) -> usize {
        let nested = match self {
            Self::Conditional(conditional) => conditional.bytes(),
            _ => 0,
        };
        size_of::<Self>() + nested + self.kernel().map_or(0, |dispatch| dispatch.kernargs.heap_bytes())
    }

    /// Bytes that the kernel arguments of its packet take: whole cache lines, so that no two packets share one.
    pub(super) fn kernarg_bytes(&self) -> usize {
        match self {
            Self::Dispatch(dispatch) => dispatch.kernargs.len().next_multiple_of(64),
            _ => 0,
        }
    }

    /// The kernel that it runs.
    pub(crate) fn kernel(&self) -> Option<&Dispatch> {
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
    pub(crate) fn print_to(&mut self, fifo: Option<&Arc<Fifo>>) -> Result<()> {
        if let Self::Dispatch(dispatch) | Self::Cooperative(dispatch) = self
            && dispatch.code.prints()
        {
            let missing = Error::NotSupported("a kernel that prints in a graph whose kernels did not");
            dispatch.print_to(fifo.ok_or(missing)?);
        }
        Ok(())
    }

    /// What the unit is, in words; a copy of pageable memory has its pages `pinned`.
    pub(crate) fn what(&self, pinned: bool) -> &'static str {
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
            Self::Conditional(_) => "a choice among bodies",
            Self::Join => "nothing to do",
        }
    }

    /// The packet that does its work, with its kernel arguments at `kernarg`.
    ///
    /// # Errors
    /// As [`Dispatch::packet`]; [`Error::IllegalState`] if it is no such packet.
    #[inline]
    pub(crate) fn packet(&self, fences: Fences, kernarg: u64) -> Result<Packet> {
        match self {
            Self::Dispatch(dispatch) => dispatch.packet(fences, kernarg),
            Self::Conditional(conditional) => conditional.packet(fences),
            _ => Err(Error::IllegalState("a packet for what is none")),
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
    /// Makes the units of `flat`, whose nodes do `work`, in an `order` in which each node comes behind those that it
    /// depends on; launches begin and end on `device`, if it has any packet.
    ///
    /// # Errors
    /// What a launch of the node's work on a stream would be refused for.
    pub(crate) fn new(
        device: &Device,
        flat: &FlatGraph,
        work: &[Option<&Node>],
        order: impl IntoIterator<Item = u32>,
    ) -> Result<Self, Failure> {
        let mut these = Self {
            units: Vec::with_capacity(work.len()),
            classes: Vec::with_capacity(work.len()),
            placements: Vec::with_capacity(work.len()),
            main: vec![u32::MAX; work.len()],
            ..Self::default()
        };
        // Rows of units that are not the flat nodes in their order: those before them are taken over when the first such
        // unit turns up, and mostly none does.
        let mut own: Option<Csr> = None;
        let order: Vec<u32> = order.into_iter().collect();
        let all = System::get()?.devices();
        let at = |ordinal: usize| all.get(ordinal).ok_or(Error::InvalidDevice(ordinal as i64));
        let compiled = conditional::compile_all(&order, flat, work)?;
        for conditional in &compiled {
            for reset in conditional.resets()? {
                own.get_or_insert_default().push_row([]);
                these.push(reset, DevicePlacement::on(conditional.device()));
            }
        }
        if these.units.len() > 1 {
            own.get_or_insert_default().push_row(0..these.units.len() as u32);
            these.push(Unit::Join, DevicePlacement::on(device));
        }
        // Kernels anywhere in the graph may store to a condition, so its default comes before all of them.
        let entry = these.units.len().checked_sub(1).map(|entry| entry as u32);
        let mut compiled = compiled.into_iter();
        for (done, index) in order.into_iter().enumerate() {
            let failed = |error| Failure::of_node(flat.path(index).first().copied(), error);
            let placed = at(flat.nodes()[index as usize].device() as usize).map_err(failed)?;
            let (placement, before, unit) = match work[index as usize] {
                None => (DevicePlacement::on(placed), None, Unit::Join),
                Some(Node::Kernel(kernel)) => {
                    (DevicePlacement::on(placed), None, kernel_unit(placed, kernel).map_err(failed)?)
                }
                Some(Node::Conditional(_)) => {
                    // PANIC: one was compiled for each conditional node, in this order.
                    let conditional = compiled.next().expect("a compiled node");
                    (DevicePlacement::on(placed), None, Unit::Conditional(conditional))
                }
                Some(node) => {
                    let placement = DevicePlacement::of(placed, node).map_err(failed)?;
                    let device = at(usize::from(placement.device)).map_err(failed)?;
                    let (before, unit) = unit_of(device, node).map_err(failed)?;
                    (placement, before, unit)
                }
            };
            if own.is_none() && (before.is_some() || index as usize != done) {
                own = Some(flat.preds().head(done));
            }
            if let Some(preds) = &mut own {
                let row = flat.preds().row(index);
                let entry = entry.filter(|_| row.is_empty());
                preds.push_row(row.iter().map(|&pred| these.main[pred as usize]).chain(entry));
                if before.is_some() {
                    preds.push_row([these.units.len() as u32]);
                }
            }
            if let Some(pin) = before {
                these.push(pin, placement);
            }
            // CAST: a unit or two for each node, of which there are fewer than 2^31.
            these.main[index as usize] = these.units.len() as u32;
            these.push(unit, placement);
        }
        these.preds = own.unwrap_or_else(|| flat.preds().clone());
        these.devices = devices_of(device, &these)?;
        these.let_print()?;
        Ok(these)
    }

    #[inline]
    fn push(&mut self, unit: Unit, placement: DevicePlacement) {
        self.bytes += unit.bytes();
        self.kernarg_bytes += unit.kernarg_bytes();
        self.classes.push(unit.class());
        // Mostly it is the one before again.
        if let Some(Dispatch { code, .. }) = unit.kernel()
            && self.latest.replace(code.object()) != Some(code.object())
        {
            self.codes.entry(code.object()).or_insert_with(|| code.clone());
        }
        self.units.push(unit);
        self.placements.push(placement);
    }

    /// Gives kernels that print without calling the host what they print to, and what reads it a place behind them.
    fn let_print(&mut self) -> Result<()> {
        if !self.codes.values().any(KernelCode::prints) {
            return Ok(());
        }
        let prints = |unit: &Unit| unit.kernel().is_some_and(|dispatch| dispatch.code.prints());
        for device in self.devices.clone() {
            let own = DevicePlacement::on(&device);
            let here = |n: &usize| self.placements[*n].device == own.device && prints(&self.units[*n]);
            let printing: Vec<usize> = (0..self.units.len()).filter(here).collect();
            if printing.is_empty() {
                continue;
            }
            let fifo = Fifo::new(&device)?;
            for &n in &printing {
                self.units[n].print_to(Some(&fifo))?;
            }
            // CAST: a flat graph has fewer than 2^31 nodes.
            self.preds.push_row(printing.into_iter().map(|n| n as u32));
            self.push(Unit::Host(fifo.reader()), own);
            self.fifos.0.push((own.device, fifo));
        }
        Ok(())
    }
}

/// The number, among the `devices` that take part, of each unit's; nothing if there is but one.
pub(super) fn numbers(devices: &[Device], placements: &[DevicePlacement]) -> Vec<u16> {
    if devices.len() == 1 {
        return Vec::new();
    }
    let number = |placement: &DevicePlacement| {
        let device = devices.iter().position(|device| device.ordinal() == usize::from(placement.device));
        // What no device does is the host's. CAST: there are few devices.
        device.unwrap_or(0) as u16
    };
    placements.iter().map(number).collect()
}

/// The devices of the units: `wanted` first, if it has a packet, then the others with packets, then those of kernels
/// and bodies that the host launches.
fn devices_of(wanted: &Device, units: &Units) -> Result<Vec<Device>> {
    let all = System::get()?.devices();
    // By ordinal: whether the device has packets, and whether it has work at all.
    let mut found = vec![(false, false); all.len()];
    for (n, (class, placement)) in units.classes.iter().zip(&units.placements).enumerate() {
        if let Some((packets, work)) = found.get_mut(usize::from(placement.device)) {
            let packet = *class == Class::Packet;
            let on_device = |unit: &Unit| unit.kernel().is_some() || matches!(unit, Unit::Conditional(_));
            *packets |= packet;
            *work |= packet || on_device(&units.units[n]);
        }
    }
    let rank = |device: &&Device| match found[device.ordinal()] {
        (true, _) if *device == wanted => Some(0),
        (true, _) => Some(1),
        (false, true) => Some(2),
        (false, false) => None,
    };
    let mut devices: Vec<&Device> = all.iter().filter(|device| rank(device).is_some()).collect();
    devices.sort_by_key(rank);
    let has_packets = found.iter().any(|(packets, _)| *packets);
    // Without a packet of the graph's, what brackets the host's steps runs where the graph was made.
    let bracket = (!has_packets).then_some(wanted);
    devices.retain(|device| Some(*device) != bracket);
    Ok(bracket.into_iter().chain(devices).cloned().collect())
}

/// The unit that launches a kernel.
#[inline]
fn kernel_unit(device: &Device, kernel: &Kernel<Function>) -> Result<Unit> {
    let code = kernel.function.code(device)?;
    let dispatch = code.dispatch(kernel)?;
    if !kernel.attributes.is_cooperative() {
        return Ok(Unit::Dispatch(dispatch));
    }
    code.check_cooperative(device.properties(), kernel)?;
    Ok(Unit::Cooperative(dispatch))
}

/// The unit that does a node's work, and the one that must run directly before it.
pub(crate) fn unit_of(device: &Device, node: &Node) -> Result<(Option<Unit>, Unit)> {
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
            | Node::SemaphoreWait(_) => parts::unit_of(device, node)?,
        },
    ))
}

/// What a unit puts into its queue, with its kernel arguments at `kernarg`.
///
/// # Errors
/// As [`Unit::packet`]; [`Error::IllegalState`] for one that is no packet, which would be a defect of the scheduler.
#[inline(always)]
pub(super) fn content(units: &[Unit], unit: u32, fences: Fences, kernarg: u64) -> Result<Content> {
    match units.get(unit as usize) {
        Some(work @ (Unit::Dispatch(_) | Unit::Conditional(_))) => {
            work.packet(fences, kernarg).map(Content::Packet)
        }
        Some(Unit::Record(_)) => Ok(Content::Record),
        Some(Unit::Wait(_)) => Ok(Content::Wait),
        _ => Err(image::Error::NotAPacket { unit }.into()),
    }
}

/// How long units take, by what is `known` of nodes; nothing if that is nothing. `main` are the units of flat nodes.
pub(super) fn durations(
    units: &[Unit],
    flat: &FlatGraph,
    main: &[u32],
    known: &HashMap<NodeId, u32>,
) -> Option<Vec<Option<u32>>> {
    if known.is_empty() {
        return None;
    }
    // A packet that stands for an event does no work.
    let event = |unit: &Unit| matches!(unit, Unit::Record(_) | Unit::Wait(_)).then_some(0);
    let mut durations: Vec<Option<u32>> = units.iter().map(event).collect();
    for (node, &unit) in flat.nodes().iter().zip(main) {
        if let Some(&duration) = known.get(&node.origin) {
            durations[unit as usize] = Some(duration);
        }
    }
    Some(durations)
}

/// Bytes that the kernel arguments of these units' packets take.
pub(super) fn kernarg_bytes(units: &[Unit]) -> usize {
    units.iter().map(Unit::kernarg_bytes).sum()
}

/// The unit that pins memory for another, if one does.
pub(crate) fn pin_of(units: &[Unit], main: u32) -> Option<u32> {
    main.checked_sub(1).filter(|&before| matches!(units[before as usize], Unit::Pin(_)))
}

/// Why a unit, with the one that must run before it, cannot stand where another is: they are of other kinds.
pub(crate) fn misfit(units: &[Unit], main: usize, pin: Option<&Unit>, unit: &Unit) -> Option<String> {
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
pub(crate) fn replace(units: &mut [Unit], main: usize, pin: Option<Unit>, unit: Unit) -> Result<(), String> {
    if let Some(detail) = misfit(units, main, pin.as_ref(), &unit) {
        return Err(detail);
    }
    if let Some(pin) = pin {
        units[main - 1] = pin;
    }
    units[main] = unit;
    Ok(())
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
