//! Conditional nodes, compiled: with everything nested in one, it is a single unit of the graph around it.
//!
//! If all that its bodies do is packets, and the packet processor branches, they lie in an indirect buffer and the unit
//! is a packet that branches to them. Otherwise a thread of the host drives them. A compiled node never changes: new
//! parameters make a new one, and launches in flight keep theirs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`structure`] | what stays while parameters change |
//! | [`program`] | the order of a body's work |
//! | [`link`] | bodies as packets that branch |
//! | [`drive`] | bodies that the host drives |

mod drive;
mod link;
mod program;
mod structure;

use std::sync::Arc;

use hsa::packet::{Branch, Fences, Packet};

use self::{
    link::Layout,
    program::Step,
    structure::{Compiled, Place, Structure},
};
use super::{
    place_arguments,
    units::{self, Unit},
    update::{Reason, Refusal},
};
use crate::{
    GraphNode, condition,
    device::{Device, slabs::Block},
    error::{Error, Result},
    event::Event,
    graph::{self, Condition, GraphId, Node, NodeId},
    module::Function,
    stream::Word,
};

/// The environment variable that keeps packet processors from branching: `auto` or `host`.
pub const CONDITIONAL_VARIABLE: &str = "AQLIPSE_CONDITIONAL";

/// A conditional node with its parameters in place.
pub(crate) struct Conditional {
    structure: Arc<Structure>,
    /// By site.
    conditions: Vec<Condition>,
    /// Those of all bodies.
    units: Vec<Unit>,
    arena: Arc<Block>,
    offsets: Vec<u32>,
    /// What the structure's order says, with nothing to signal.
    packets: Vec<Packet>,
    /// If the packet processor takes the bodies.
    linked: Option<Arc<Linked>>,
}

struct Linked {
    _buffer: Block,
    entry: Branch,
}

/// New parameters of a node.
pub(super) struct Change<'g> {
    /// The node inside of the conditional node; nothing for that itself.
    pub(super) node: Option<NodeId>,
    /// How a refusal names it.
    pub(super) named: NodeId,
    pub(super) parameters: &'g GraphNode,
}

impl Conditional {
    /// Compiles a node.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for nodes that a body cannot have; what a launch of a node's work on a stream would be
    /// refused for; [`Error::Graph`] for a cycle.
    pub(super) fn new(device: &Device, node: &graph::Conditional<Function, Event>) -> Result<Self> {
        let Compiled { structure, conditions, units } = structure::compile(device, node)?;
        let mut steps = structure.bodies.iter().flat_map(|body| &body.steps);
        let on_host = steps.any(|step| matches!(step, Step::Host { .. }));
        let branches = !on_host && structure.depth <= branch_depth(device)?;
        Self::place(device, Arc::new(structure), conditions, units, branches)
    }

    /// Puts parameters where the device, or the driver, finds them.
    fn place(
        device: &Device,
        structure: Arc<Structure>,
        conditions: Vec<Condition>,
        units: Vec<Unit>,
        branches: bool,
    ) -> Result<Self> {
        let (arena, offsets) = place_arguments(device, &units)?;
        let packet = |step: &program::PacketStep| match &units[step.unit as usize] {
            Unit::Dispatch(dispatch) => {
                dispatch.packet(step.fences, arena.address() + u64::from(offsets[step.unit as usize]))
            }
            _ => Err(Error::IllegalState("a body takes for a packet what is none")),
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
        Ok(Self { structure, conditions, units, arena: Arc::new(arena), offsets, packets, linked })
    }

    /// The same node, driven by the host.
    pub(super) fn on_host(&self) -> Self {
        Self {
            structure: self.structure.clone(),
            conditions: self.conditions.clone(),
            units: self.units.clone(),
            arena: self.arena.clone(),
            offsets: self.offsets.clone(),
            packets: self.packets.clone(),
            linked: None,
        }
    }

    /// Whether the packet processor takes its bodies.
    pub(crate) fn branches(&self) -> bool {
        self.linked.is_some()
    }

    /// The packet that runs it, with nothing to signal.
    ///
    /// # Errors
    /// [`Error::IllegalState`] if the host drives it.
    pub(super) fn packet(&self, fences: Fences) -> Result<Packet> {
        let linked = self.linked.as_ref();
        let linked = linked.ok_or(Error::IllegalState("a packet for what the host drives"))?;
        Ok(Branch { fences, ..linked.entry }.packet())
    }

    /// The node's condition, then those of the nodes nested in it.
    pub(super) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The identities of all graphs inside.
    pub(super) fn graphs(&self) -> impl Iterator<Item = GraphId> {
        self.structure.graphs()
    }

    /// Bytes that it holds on host and device.
    pub(super) fn bytes(&self) -> usize {
        let units = self.units.iter().map(Unit::bytes).sum::<usize>();
        let packets = 2 * size_of_val(&self.packets[..]);
        self.structure.bytes() + units + packets + self.arena.len() + size_of_val(&self.offsets[..])
    }

    /// Where a unit's kernel arguments are.
    fn arguments_of(&self, unit: u32) -> Option<(Arc<Block>, usize)> {
        self.offsets.get(unit as usize).map(|&offset| (self.arena.clone(), offset as usize))
    }

    /// The same node with other parameters.
    ///
    /// # Errors
    /// A [`Refusal`] if a node would need another kind of work, or its work is refused.
    pub(super) fn changed(&self, device: &Device, changes: &[Change<'_>]) -> Result<Self, Refusal> {
        let mut conditions = self.conditions.clone();
        let mut units = self.units.clone();
        for &Change { node, named, parameters } in changes {
            let refused = |reason: Reason| Refusal { reason, node: Some(named) };
            let place = match node {
                None => Some(Place::Site(0)),
                Some(node) => self.structure.find(node),
            };
            match (place, parameters) {
                // A place in the order has no parameters.
                (None, _) => {}
                (Some(Place::Site(site)), Node::Conditional(new)) => {
                    conditions[site as usize] = new.condition().clone();
                }
                (Some(Place::Site(_)), _) => return Err(refused(Reason::Kind)),
                (Some(Place::Unit { unit, body }), parameters) => {
                    let (pin, mut new) =
                        units::unit_of(device, parameters).map_err(|error| refused(error.into()))?;
                    let fifo = self.structure.bodies[body as usize].fifo.as_ref();
                    new.print_to(fifo).map_err(|error| refused(error.into()))?;
                    if !units::replace(&mut units, unit as usize, pin, new) {
                        return Err(refused(Reason::Parameters));
                    }
                }
            }
        }
        let placed = Self::place(device, self.structure.clone(), conditions, units, self.branches());
        placed.map_err(|error| Refusal { reason: error.into(), node: None })
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

/// The conditional nodes among a graph's work, compiled, by flat node.
pub(super) fn compile_all(
    device: &Device,
    work: &[Option<&Node<Function, Event>>],
) -> Result<Vec<Arc<Conditional>>> {
    let conditionals = work.iter().filter_map(|node| match node {
        Some(Node::Conditional(conditional)) => Some(conditional),
        _ => None,
    });
    conditionals.map(|conditional| Conditional::new(device, conditional).map(Arc::new)).collect()
}

/// The units that a launch begins with: each gives one condition its default.
pub(super) fn resets<'c>(
    device: &Device,
    conditionals: impl Iterator<Item = &'c Arc<Conditional>>,
) -> Result<Vec<Unit>> {
    let conditions = conditionals.flat_map(|conditional| &conditional.conditions);
    let reset = |condition: &Condition| {
        let value = Word::U64(condition.default_value());
        Ok(Unit::Dispatch(device.blit()?.write_value(condition.address(), value)))
    };
    conditions.map(reset).collect()
}

/// The conditional nodes among units.
pub(super) fn among(units: &[Unit]) -> impl Iterator<Item = &Arc<Conditional>> {
    units.iter().filter_map(|unit| match unit {
        Unit::Conditional(conditional) => Some(conditional),
        _ => None,
    })
}

/// Gives the units at a launch's beginning the conditions that its conditional nodes have now.
pub(super) fn renew_resets(device: &Device, units: &mut [Unit]) -> Result<()> {
    let resets = resets(device, among(units))?;
    for (unit, reset) in units.iter_mut().zip(resets) {
        *unit = reset;
    }
    Ok(())
}
