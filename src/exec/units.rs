//! The units of a flat graph: their order, their devices, and what its kernels print to.

#![forbid(unsafe_code)]

use std::{collections::HashMap, sync::Arc};

use super::{
    failure::Failure,
    node_work::{kernel_unit, unit_of},
    placement::DevicePlacement,
    unit::{Unit, pin_of},
};
use crate::{
    device::{Device, System},
    error::{Error, Result},
    graph::{FlatGraph, Memcpy, Node, NodeId, csr::Csr},
    hostcall::fifo::Fifo,
    memory::EngineCopy,
    module::{Dispatch, KernelCode},
    schedule::{Class, engines},
};

/// The units of a graph with their order.
#[derive(Default)]
pub(super) struct Units {
    pub(super) units: Vec<Unit>,
    /// What the scheduler is told of each.
    pub(super) classes: Vec<Class>,
    pub(super) preds: Csr,
    /// Unit of each flat node that does the node's work.
    pub(super) main: Vec<u32>,
    /// The copies that engines could do, by unit: those that are large enough.
    pub(super) copies: HashMap<u32, EngineCopy>,
    /// Where each unit works.
    pub(super) placements: Vec<DevicePlacement>,
    /// The devices that take part: first that on which launches begin and end, then those with packets, then others.
    pub(super) devices: Vec<Device>,
    /// By device, what its kernels print to that do not call the host; the last units read it.
    pub(super) fifos: Fifos,
    /// The different kernels, by their objects.
    pub(super) codes: HashMap<u64, KernelCode>,
    /// Whether one of them waits for what packets may bring about that are published later.
    pub(super) waits: bool,
    /// The object of the latest kernel.
    latest: Option<u64>,
    /// Bytes that the units hold.
    pub(super) bytes: usize,
    /// Bytes that the kernel arguments of their packets take.
    pub(super) kernarg_bytes: usize,
}

/// A conditional node among the units.
pub(super) struct ConditionalUnits {
    pub(super) placement: DevicePlacement,
    /// The units that a launch begins with: each gives one condition its default.
    pub(super) resets: Vec<Unit>,
    pub(super) main: Unit,
}

/// What an executable's kernels print to that do not call the host: a buffer of each device that has such kernels, by
/// ordinal. Devices cannot share one, as kernels reserve room in it at the scope of their own device.
#[derive(Clone, Default)]
pub(super) struct Fifos(Vec<(u16, Arc<Fifo>)>);

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

impl Units {
    /// Makes the units of `flat`, whose nodes do `work`, in an `order` in which each node comes behind those that it
    /// depends on; launches begin and end on `device`, if it has any packet. `conditionals` are the conditional nodes in
    /// that order.
    ///
    /// # Errors
    /// What a launch of the node's work on a stream would be refused for.
    pub(super) fn new(
        device: &Device,
        flat: &FlatGraph,
        work: &[Option<&Node>],
        order: &[u32],
        conditionals: Vec<ConditionalUnits>,
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
        let all = System::get()?.devices();
        let at = |ordinal: usize| all.get(ordinal).ok_or(Error::InvalidDevice(ordinal as i64));
        let mut nested = Vec::with_capacity(conditionals.len());
        for ConditionalUnits { placement, resets, main } in conditionals {
            for reset in resets {
                own.get_or_insert_default().push_row([]);
                these.push(reset, placement);
            }
            nested.push(main);
        }
        if these.units.len() > 1 {
            own.get_or_insert_default().push_row(0..these.units.len() as u32);
            these.push(Unit::Join, DevicePlacement::on(device));
        }
        // Kernels anywhere in the graph may store to a condition, so its default comes before all of them.
        let entry = these.units.len().checked_sub(1).map(|entry| entry as u32);
        let mut nested = nested.into_iter();
        for (done, &index) in order.iter().enumerate() {
            let failed = |error| Failure::of_node(flat.path(index).first().copied(), error);
            let placed = at(flat.nodes()[index as usize].device() as usize).map_err(failed)?;
            let (placement, before, unit) = match work[index as usize] {
                None => (DevicePlacement::on(placed), None, Unit::Join),
                Some(Node::Kernel(kernel)) => {
                    (DevicePlacement::on(placed), None, kernel_unit(placed, kernel).map_err(failed)?)
                }
                Some(node @ Node::Conditional(_)) => {
                    these.waits |= waits(node);
                    // PANIC: there is one for each conditional node, in this order.
                    (DevicePlacement::on(placed), None, nested.next().expect("a compiled node"))
                }
                Some(node) => {
                    these.waits |= waits(node);
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
            let main = these.units.len() as u32;
            these.main[index as usize] = main;
            if let (Some(Node::Memcpy(copy)), Unit::Dispatch(_)) = (work[index as usize], &unit) {
                let device = at(usize::from(placement.device)).map_err(failed)?;
                these.copies.extend(large_copy(device, copy).map_err(failed)?.map(|copy| (main, copy)));
            }
            these.push(unit, placement);
        }
        these.preds = own.unwrap_or_else(|| flat.preds().clone());
        if these.waits {
            // No engine would do them: see `Exec::publish`.
            these.copies.clear();
        }
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

/// Whether a node waits for what packets may bring about that are published later, or one does that is nested in it.
fn waits(node: &Node) -> bool {
    node.waits() || node.nested().iter().any(|graph| graph.nodes().any(|(_, node)| waits(node)))
}

/// A copy as an engine of `device` would do it, if it is one for an engine and large enough beside kernels.
fn large_copy(device: &Device, copy: &Memcpy) -> Result<Option<EngineCopy>> {
    match copy {
        Memcpy::Linear { bytes, .. } if device.costs()?.prefers_engine(*bytes, true) => {
            EngineCopy::of(device, copy)
        }
        _ => Ok(None),
    }
}

/// What the scheduler is told of copies, ascending by unit.
pub(super) fn engine_copies(copies: &HashMap<u32, EngineCopy>) -> Vec<engines::EngineCopy> {
    let of = |(&unit, copy): (&u32, &EngineCopy)| engines::EngineCopy {
        unit,
        engine: copy.engine(),
        bytes: copy.bytes(),
    };
    let mut copies: Vec<_> = copies.iter().map(of).collect();
    copies.sort_unstable_by_key(|copy| copy.unit);
    copies
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
            let on_device = |unit: &Unit| unit.kernel().is_some() || matches!(unit, Unit::Conditional { .. });
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

/// The order of units that [`Units::new`] has made of `flat`, in the order of its nodes.
pub(super) fn preds(flat: &FlatGraph, units: &[Unit], main: &[u32], placements: &[DevicePlacement]) -> Csr {
    let first_of = |&unit: &u32| pin_of(units, unit).unwrap_or(unit);
    // What resets conditions comes first, and a join behind it if there are several.
    let resets = main.first().map_or(0, first_of);
    let entry = resets.checked_sub(1);
    let mut preds = Csr::with_capacity(units.len(), flat.preds().entries() + units.len());
    for reset in 0..resets {
        preds.push_row(if reset > 0 && reset + 1 == resets { 0..reset } else { 0..0 });
    }
    // CAST: a flat graph numbers its nodes in 32 bits, here and below.
    for (node, &unit) in (0u32..).zip(main) {
        let row = flat.preds().row(node);
        preds.push_row(row.iter().map(|&pred| main[pred as usize]).chain(entry.filter(|_| row.is_empty())));
        if let Some(pin) = pin_of(units, unit) {
            preds.push_row([pin]);
        }
    }
    // What is left reads what the kernels of a device print.
    for reader in preds.len()..units.len() {
        let prints = |&unit: &u32| {
            let at = unit as usize;
            let kernel = units[at].kernel();
            placements[at].device == placements[reader].device
                && kernel.is_some_and(|dispatch| dispatch.code.prints())
        };
        preds.push_row((0..reader as u32).filter(prints));
    }
    preds
}
