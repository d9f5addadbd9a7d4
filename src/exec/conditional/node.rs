//! One compiled conditional node: its parameters, where the packet processor or the host finds them.
//!
//! A compiled node never changes: new parameters make a new one, and launches in flight keep theirs.

#![forbid(unsafe_code)]

use std::{collections::HashSet, sync::Arc};

use aqlipse_graph::schedule::body::{PacketStep, Step};
use hsa::packet::{Branch, Packet};

use super::{
    CONDITIONAL_VARIABLE, Change,
    link::{self, Layout},
    structure::{self, Compiled, Place, Structure},
};
use crate::{
    condition,
    device::{Device, slabs::Block},
    error::{Error, Result},
    exec::{
        arena::Arena,
        failure::Failure,
        placement::DevicePlacement,
        shape::{Reason, Refusal, moved_to, not_changed, refuse_elsewhere},
        unit::{self, Unit, place_of},
    },
    graph::{self, Condition, Node, NodeId},
    stream::Word,
};

/// A conditional node with its parameters in place.
#[derive(Clone)]
pub(super) struct Conditional {
    /// Where all of it works.
    pub(super) device: Device,
    pub(super) structure: Arc<Structure>,
    /// By site.
    pub(super) conditions: Vec<Condition>,
    /// Those of all bodies.
    pub(super) units: Vec<Unit>,
    /// Those that do not run.
    pub(super) disabled: HashSet<u32>,
    arena: Arc<Arena>,
    offsets: Vec<u32>,
    /// What the structure's order says, with nothing to signal.
    pub(super) packets: Vec<Packet>,
    /// If the packet processor takes the bodies.
    linked: Option<Arc<Linked>>,
}

struct Linked {
    _buffer: Block,
    entry: Branch,
}

impl Conditional {
    /// Compiles a node that was placed on `device`; with `on_host` the host drives it even if the packet processor branches.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for nodes that a body cannot have; what a launch of a node's work on a stream would be
    /// refused for; [`Error::Graph`] for a cycle.
    pub(super) fn new(device: &Device, node: &graph::Conditional, on_host: bool) -> Result<Self, Failure> {
        let Compiled { structure, conditions, units } = structure::compile(device, node)?;
        let mut steps = structure.bodies.iter().flat_map(|body| &body.steps);
        let host_steps = steps.any(|step| matches!(step, Step::Host { .. }));
        let branches = !host_steps && structure.depth <= branch_depth(device)? && !on_host;
        Self::place(device.clone(), Arc::new(structure), conditions, units, HashSet::new(), branches)
            .map_err(Failure::from)
    }

    /// Puts parameters where the device, or the driver, finds them.
    fn place(
        device: Device,
        structure: Arc<Structure>,
        conditions: Vec<Condition>,
        units: Vec<Unit>,
        disabled: HashSet<u32>,
        branches: bool,
    ) -> Result<Self> {
        let bytes = unit::kernarg_bytes(&units);
        let (arena, offsets) = Arena::place(std::slice::from_ref(&device), &[], &units, bytes, false)?;
        let packet = |step: &PacketStep| {
            let address = arena.address(offsets[step.unit as usize]);
            match disabled.contains(&step.unit) {
                true => Ok(place_of(step.fences)),
                false => units[step.unit as usize].packet(step.fences, address),
            }
        };
        let packets = structure.order.iter().map(packet).collect::<Result<Vec<_>>>()?;
        let linked = if branches {
            let layout = Layout::of(&structure)?;
            let buffer = device.0.kernargs.take(layout.len as usize * size_of::<Packet>())?;
            let signals = conditions.iter().map(condition::signal).collect::<Result<Vec<_>>>()?;
            let (image, entry) = link::link(&structure, &layout, &signals, &packets, buffer.address());
            for (number, packet) in image.iter().enumerate() {
                let words = packet.words().map(u32::to_le_bytes);
                buffer.write(number * size_of::<Packet>(), words.as_flattened());
            }
            Some(Arc::new(Linked { _buffer: buffer, entry }))
        } else {
            None
        };
        let arena = Arc::new(arena);
        Ok(Self { device, structure, conditions, units, disabled, arena, offsets, packets, linked })
    }

    /// The same node with other parameters.
    fn with(&self, conditions: Vec<Condition>, units: Vec<Unit>, disabled: HashSet<u32>) -> Result<Self> {
        let (device, structure) = (self.device.clone(), self.structure.clone());
        Self::place(device, structure, conditions, units, disabled, self.linked.is_some())
    }

    /// The packet that branches to its bodies, without fences; nothing if the host drives them.
    pub(super) fn branch(&self) -> Option<Branch> {
        self.linked.as_ref().map(|linked| linked.entry)
    }

    /// Where all of it works.
    pub(super) fn placement(&self) -> DevicePlacement {
        DevicePlacement::on(&self.device)
    }

    /// The node's condition, then those of the nodes nested in it.
    pub(super) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Bytes that it holds on host and device.
    pub(super) fn bytes(&self) -> usize {
        let units = self.units.iter().map(Unit::bytes).sum::<usize>();
        let packets = 2 * size_of_val(&self.packets[..]);
        self.structure.bytes() + units + packets + self.arena.len() + size_of_val(&self.offsets[..])
    }

    /// Where a unit's kernel arguments are.
    pub(super) fn arguments_of(&self, unit: u32) -> Option<(Arc<Block>, usize)> {
        let (block, offset) = self.arena.at(*self.offsets.get(unit as usize)?);
        Some((block.clone(), offset))
    }

    /// The same node after changes of what is inside, or of itself.
    ///
    /// # Errors
    /// A [`Refusal`] if a node would need another kind of work, or its work is refused.
    pub(super) fn changed(&self, changes: &[Change<'_>]) -> Result<Self, Refusal> {
        let (mut conditions, mut units) = (self.conditions.clone(), self.units.clone());
        for &Change { node, named, parameters, placed } in changes {
            let place = match node {
                None => Some(Place::Site(0)),
                Some(node) => self.structure.find(node),
            };
            match (place, parameters) {
                // A place in the order has no parameters.
                (None, _) => {}
                (Some(Place::Site(site)), Node::Conditional(new)) => {
                    let device = self.structure.device;
                    refuse_elsewhere(device, placed, "conditional node", named)?;
                    conditions[site as usize] = new.condition().clone();
                }
                (Some(Place::Site(_)), _) => return Err(Refusal::at(named, Reason::Kind)),
                (Some(Place::Unit { unit, body }), parameters) => {
                    let placement = self.structure.placements[unit as usize];
                    let (pin, mut new) = moved_to(placement, named, parameters, placed)?;
                    let fifo = self.structure.bodies[body as usize].fifos.of(placement);
                    new.print_to(fifo).map_err(|error| Refusal::at(named, error))?;
                    unit::replace(&mut units, unit as usize, pin, new)
                        .map_err(|detail| Refusal::at(named, Reason::Parameters).because(detail))?;
                }
            }
        }
        self.with(conditions, units, self.disabled.clone()).map_err(Refusal::new)
    }

    /// The same node with other parameters of one node inside.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no such node, or it would need another kind of work; what its work is
    /// refused for.
    pub(super) fn set(&self, node: NodeId, parameters: &Node) -> Result<Self> {
        let fits = self.structure.fixed(node)?.check(parameters, false);
        fits.map_err(|(reason, detail)| not_changed(node, &reason, &detail))?;
        // The caller has found out which device the kernel is for.
        let placed = self.structure.device.into();
        let change = Change { node: Some(node), named: node, parameters, placed };
        self.changed(&[change]).map_err(|refusal| match refusal.reason {
            Reason::Failed(error) => error,
            reason => not_changed(node, &reason, &refusal.detail),
        })
    }

    /// Whether a node inside runs.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no such node, or it is no kernel, copy or fill.
    pub(super) fn is_enabled(&self, node: NodeId) -> Result<bool> {
        Ok(!self.disabled.contains(&self.switchable(node)?))
    }

    /// The same node, with a node inside that runs or does not.
    ///
    /// # Errors
    /// As [`Conditional::is_enabled`].
    pub(super) fn with_enabled(&self, node: NodeId, enabled: bool) -> Result<Self> {
        let main = self.switchable(node)?;
        let mut disabled = self.disabled.clone();
        for unit in [Some(main), unit::pin_of(&self.units, main)].into_iter().flatten() {
            if enabled {
                disabled.remove(&unit);
            } else {
                disabled.insert(unit);
            }
        }
        self.with(self.conditions.clone(), self.units.clone(), disabled)
    }

    /// The unit of a node inside that can be disabled.
    fn switchable(&self, node: NodeId) -> Result<u32> {
        self.structure.fixed(node)?.check_switchable()?;
        match self.structure.find(node) {
            Some(Place::Unit { unit, .. }) => Ok(unit),
            _ => Err(Error::IllegalState("a kernel, copy or fill without a unit")),
        }
    }

    /// The nodes inside that do not run.
    pub(super) fn disabled(&self) -> impl Iterator<Item = NodeId> {
        let nodes = self.structure.bodies.iter().flat_map(|body| body.nodes());
        nodes.filter(|(unit, _)| self.disabled.contains(unit)).map(|(_, node)| node)
    }

    /// The units that a launch begins with: each gives one condition its default.
    pub(super) fn resets(&self) -> Result<Vec<Unit>> {
        let reset = |condition: &Condition| {
            let value = Word::U64(condition.default_value());
            Ok(Unit::Dispatch(self.device.blit()?.write_value(condition.address(), value)))
        };
        self.conditions.iter().map(reset).collect()
    }
}

/// How deep the device's packet processor branches; 0 if it does not, or shall not.
fn branch_depth(device: &Device) -> Result<u32> {
    match std::env::var(CONDITIONAL_VARIABLE).as_deref() {
        Ok("host") => Ok(0),
        // A runtime without such packet processors does not know the attribute.
        Err(std::env::VarError::NotPresent) | Ok("" | "auto") => {
            Ok(device.0.agent.branch_depth().unwrap_or(0))
        }
        _ => Err(Error::InvalidValue("AQLIPSE_CONDITIONAL: expected auto or host")),
    }
}
