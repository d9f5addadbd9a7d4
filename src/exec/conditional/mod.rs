//! Conditional nodes, compiled: with everything nested in one, it is a single unit of the graph around it.
//!
//! If all that its bodies do is packets, and the packet processor branches, they lie in an indirect buffer and the unit
//! is a packet that branches to them. Otherwise a thread of the host drives them. [`Conditionals`] is all that launches
//! know of this.
//!
//! | module | what it holds |
//! |---|---|
//! | [`structure`] | what stays while parameters change |
//! | [`link`] | bodies as packets that branch |
//! | [`node`] | a node with its parameters |
//! | [`drive`] | bodies that the host drives |

#![forbid(unsafe_code)]

mod drive;
mod link;
mod node;
mod structure;

pub(super) use self::drive::Drive;

use std::sync::Arc;

use self::node::Conditional;
use super::{
    Exec, State,
    failure::Failure,
    shape::Refusal,
    unit::{Unit, packet_in_place_of},
    units::ConditionalUnits,
};
use crate::{
    check,
    device::{
        Device,
        fence::{Alive, Keep},
    },
    error::{Error, Result},
    graph::{Condition, FlatGraph, Node, NodeId},
};

/// The environment variable that keeps packet processors from branching: `auto` or `host`.
pub const CONDITIONAL_VARIABLE: &str = "AQLIPSE_CONDITIONAL";

/// The conditional nodes of an executable, by the numbers that their units have; those nested in them are theirs.
#[derive(Clone, Default)]
pub(super) struct Conditionals(Vec<Arc<Conditional>>);

impl Conditionals {
    /// Compiles the conditional nodes among a graph's work, in an `order` of the flat nodes. With `on_host` the host drives
    /// them all.
    ///
    /// # Errors
    /// As [`Conditional::new`].
    pub(super) fn compile(
        order: &[u32],
        flat: &FlatGraph,
        work: &[Option<&Node>],
        on_host: bool,
    ) -> Result<Self, Failure> {
        let mut these = Vec::new();
        for &index in order {
            let Some(Node::Conditional(node)) = work[index as usize] else { continue };
            let device = Device::get(flat.nodes()[index as usize].device() as usize)?;
            let compiled = Conditional::new(&device, node, on_host);
            // What is inside is not the caller's to find: the node around it is named.
            let named = |failure| Failure { node: flat.path(index).first().copied(), ..failure };
            these.push(Arc::new(compiled.map_err(named)?));
        }
        Ok(Self(these))
    }

    /// What each is among the units of the graph.
    ///
    /// # Errors
    /// As [`Conditionals::resets`].
    pub(super) fn units(&self) -> Result<Vec<ConditionalUnits>> {
        let units = |(number, node): (u32, &Arc<Conditional>)| {
            Ok(ConditionalUnits {
                placement: node.placement(),
                resets: node.resets()?,
                main: self.unit(number),
            })
        };
        (0u32..).zip(&self.0).map(units).collect()
    }

    /// The unit of a node.
    fn unit(&self, number: u32) -> Unit {
        Unit::Conditional { number, branch: self.0[number as usize].branch() }
    }

    /// The units that a launch begins with: each gives one condition its default.
    ///
    /// # Errors
    /// What a launch of a kernel is refused for.
    pub(super) fn resets(&self) -> Result<Vec<Unit>> {
        let resets = self.0.iter().map(|node| node.resets()).collect::<Result<Vec<_>>>()?;
        Ok(resets.into_iter().flatten().collect())
    }

    /// What the bodies do.
    pub(super) fn work(&self) -> impl Iterator<Item = &Unit> {
        self.0.iter().flat_map(|node| &node.units)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many the packet processor takes, and how many the host drives.
    pub(super) fn counts(&self) -> (usize, usize) {
        let branching = self.0.iter().filter(|node| node.branch().is_some()).count();
        (branching, self.0.len() - branching)
    }

    /// Bytes that all hold on host and device.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|node| node.bytes()).sum()
    }

    /// The conditions of all, and of the nodes nested in them.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        self.0.iter().flat_map(|node| node.conditions()).cloned().collect()
    }

    /// The nodes inside of them that do not run.
    pub(super) fn disabled(&self) -> impl Iterator<Item = NodeId> {
        self.0.iter().flat_map(|node| node.disabled())
    }

    /// What a launch keeps of them until it is over.
    pub(super) fn keep(&self) -> Vec<Keep> {
        self.0.iter().map(|node| Keep::Other(node.clone())).collect()
    }

    /// What it takes to drive a node in a launch of an epoch of its device; `checked` has the launch and the node's place in
    /// its order, if that is checked.
    ///
    /// # Errors
    /// As [`Drive::new`].
    pub(super) fn drive(
        &self,
        number: u32,
        epoch: u64,
        checked: Option<(Arc<check::Launch>, u32)>,
    ) -> Result<Drive> {
        Drive::new(self.0[number as usize].clone(), epoch, checked)
    }

    /// Changes what is inside of a node, or the node itself; returns its unit.
    ///
    /// # Errors
    /// As [`Conditional::changed`].
    pub(super) fn change(&mut self, number: u32, changes: &[Change<'_>]) -> Result<Unit, Refusal> {
        self.0[number as usize] = Arc::new(self.0[number as usize].changed(changes)?);
        Ok(self.unit(number))
    }
}

/// New parameters of a node.
pub(super) struct Change<'g> {
    /// The node inside of the conditional node; nothing for that itself.
    pub(super) node: Option<NodeId>,
    /// How a refusal names it.
    pub(super) named: NodeId,
    pub(super) parameters: &'g Node,
    /// The ordinal of the device that the node with the parameters was placed on.
    pub(super) placed: u32,
}

/// Refuses other parameters for a conditional node: it has none to give.
pub(super) fn refuse(parameters: &Node) -> Result<()> {
    let refused = Error::NotSupported("other parameters for a conditional node");
    if matches!(parameters, Node::Conditional(_)) { Err(refused) } else { Ok(()) }
}

impl Exec {
    /// As [`Exec::set_node_with`] for a node in a body of a conditional node.
    pub(super) fn set_in_body(&self, node: NodeId, parameters: &Node, objects: &[Alive]) -> Result<()> {
        let flat = self.around(node)?;
        refuse(parameters)?;
        // What the node had is the caller's: it is dropped behind the lock.
        let _had;
        let mut state = self.state();
        let changed = state.conditional(flat)?.set(node, parameters)?;
        let had = state.replace_conditional(flat, changed)?;
        state.parameters.set(node, parameters.clone());
        _had = (had, state.replace_alive(node, objects));
        Ok(())
    }

    /// The place, among the flat nodes, of the conditional node that has a node in its bodies.
    pub(super) fn around(&self, node: NodeId) -> Result<u32> {
        let unknown = Error::InvalidValue("not a node of the executable graph");
        self.0.bodies.get(&node.graph()).copied().ok_or(unknown)
    }

    /// As [`Exec::set_enabled`] for a node in a body of a conditional node.
    pub(super) fn enable_in_body(&self, node: NodeId, enabled: bool) -> Result<()> {
        let flat = self.around(node)?;
        let mut state = self.state();
        let changed = state.conditional(flat)?.with_enabled(node, enabled)?;
        // What a launch in flight uses of it, that keeps.
        let had = state.replace_conditional(flat, changed)?;
        drop(state);
        drop(had);
        Ok(())
    }

    /// As [`Exec::is_enabled`] for a node in a body of a conditional node.
    pub(super) fn is_enabled_in_body(&self, node: NodeId) -> Result<bool> {
        self.state().conditional(self.around(node)?)?.is_enabled(node)
    }
}

impl State {
    /// The number of the conditional node at a place among the flat nodes.
    fn conditional_number(&self, flat: u32) -> Result<u32> {
        match self.units[self.main[flat as usize] as usize] {
            Unit::Conditional { number, .. } => Ok(number),
            _ => Err(Error::IllegalState("a body belongs to no conditional node")),
        }
    }

    /// The conditional node at a place among the flat nodes.
    fn conditional(&self, flat: u32) -> Result<&Conditional> {
        Ok(&self.conditionals.0[self.conditional_number(flat)? as usize])
    }

    /// Puts a changed conditional node in place; returns what was there, which a launch in flight keeps by itself.
    fn replace_conditional(&mut self, flat: u32, changed: Conditional) -> Result<Arc<Conditional>> {
        let (number, main) = (self.conditional_number(flat)?, self.main[flat as usize] as usize);
        let unit = Unit::Conditional { number, branch: changed.branch() };
        // A launch that is publishing holds the state's lock; the image is ours.
        if let Some((lane, packet)) = self.image.places[main] {
            let old = &self.image.lanes[lane as usize].packets[packet as usize];
            let new = packet_in_place_of(old, true, |fences| unit.packet(fences, 0))?;
            self.replace_packet(lane, packet, new);
        }
        self.units[main] = unit;
        Ok(std::mem::replace(&mut self.conditionals.0[number as usize], Arc::new(changed)))
    }
}
