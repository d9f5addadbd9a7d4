//! What stays of a conditional node while parameters change: its bodies' nodes, and the order of their work.

use std::{collections::HashMap, ops::Range, sync::Arc};

use aqlipse_graph::{
    compile::allocations::is_memory,
    schedule::body::{self, PacketStep, Step},
};

use crate::{
    check::Unordered,
    device::Device,
    error::{Error, Result},
    exec::{
        failure::Failure,
        placement::DevicePlacement,
        shape::Fixed,
        unit::Unit,
        units::{Fifos, Units},
    },
    graph::{
        Condition, Conditional, ConditionalKind, FlatGraph, Graph, GraphId, Node, NodeId, WordStep, flatten,
    },
};

/// A conditional node and those nested in it.
pub(super) struct Structure {
    /// The outermost first.
    pub(super) sites: Vec<Site>,
    /// Those of one site follow each other.
    pub(super) bodies: Vec<Body>,
    /// What all bodies' packets run, body by body.
    pub(super) order: Vec<PacketStep>,
    /// The body of each graph, and of each graph inlined into one.
    body_of: HashMap<GraphId, u32>,
    /// How deep branches nest, at most, if a packet processor takes them.
    pub(super) depth: u32,
    /// The ordinal of the device that all of it works on.
    pub(super) device: u16,
    /// Of all bodies' units: what work can take their places.
    pub(super) placements: Vec<DevicePlacement>,
}

/// One conditional node.
pub(super) struct Site {
    pub(super) kind: ConditionalKind,
    /// Its bodies.
    pub(super) bodies: Range<u32>,
}

/// One body.
pub(super) struct Body {
    flat: FlatGraph,
    /// Unit of each flat node, counted over all bodies.
    main: Vec<u32>,
    /// Of the flat nodes that are conditional.
    sites: HashMap<u32, u32>,
    /// What must stay of each flat node.
    fixed: Box<[Option<Fixed>]>,
    pub(super) steps: Vec<Step>,
    /// What its edges leave unordered of the flat nodes, where launches are checked and it has not too many.
    order: Option<Arc<Unordered>>,
    /// What its kernels print to that do not call the host.
    pub(super) fifos: Fifos,
}

/// What a template's node is here.
pub(super) enum Place {
    /// A unit, of this body.
    Unit { unit: u32, body: u32 },
    /// A conditional node.
    Site(u32),
}

/// A structure with its parameters.
pub(super) struct Compiled {
    pub(super) structure: Structure,
    /// By site.
    pub(super) conditions: Vec<Condition>,
    /// Those of all bodies.
    pub(super) units: Vec<Unit>,
}

/// Takes a conditional node and all that is nested in it apart, without recursion.
///
/// # Errors
/// [`Error::NotSupported`] for nodes that a body cannot have; what a launch of a node's work would be refused for;
/// [`Error::Graph`] for a cycle.
pub(super) fn compile(device: &Device, outermost: &Conditional) -> Result<Compiled, Failure> {
    let mut found = vec![(outermost, 0)];
    let mut this = Compiled {
        structure: Structure {
            sites: Vec::new(),
            bodies: Vec::new(),
            order: Vec::new(),
            body_of: HashMap::new(),
            depth: 0,
            device: DevicePlacement::on(device).device,
            placements: Vec::new(),
        },
        conditions: Vec::new(),
        units: Vec::new(),
    };
    while let Some(&(conditional, around)) = found.get(this.structure.sites.len()) {
        let kind = conditional.kind();
        let depth = around + levels(kind, conditional.bodies().len());
        let first = index(this.structure.bodies.len())?;
        for graph in conditional.bodies() {
            this.add_body(device, graph, |nested| {
                found.push((nested, depth));
                index(found.len() - 1)
            })?;
        }
        let structure = &mut this.structure;
        structure.depth = structure.depth.max(depth);
        structure.sites.push(Site { kind, bodies: first..index(structure.bodies.len())? });
        this.conditions.push(conditional.condition().clone());
    }
    Ok(this)
}

impl Compiled {
    fn add_body<'g>(
        &mut self,
        device: &Device,
        graph: &'g Graph,
        mut site: impl FnMut(&'g Conditional) -> Result<u32>,
    ) -> Result<(), Failure> {
        // Memory is mapped as long as the executable lives: to a body, its nodes are only order.
        let mut flattened = flatten::flatten(graph, |_, node| !is_memory(node))
            .map_err(|error| Failure::of_structure(graph, error))?;
        let fixed = flattened.work.iter().map(|work| work.map(Fixed::of)).collect();
        let mut sites = HashMap::new();
        for (flat, work) in (0u32..).zip(&mut flattened.work) {
            match work {
                Some(Node::EventRecord(_) | Node::EventWait(_)) => {
                    let refused = Error::NotSupported("an event node in the body of a conditional node");
                    return Err(refused.into());
                }
                // Bodies of several launches may share a queue, and must not wait there for each other.
                Some(Node::BatchMemOp(steps)) if steps.iter().any(WordStep::waits) => {
                    let refused = Error::NotSupported("a wait for memory in the body of a conditional node");
                    return Err(refused.into());
                }
                Some(Node::Conditional(conditional)) => {
                    if flattened.graph.nodes()[flat as usize].device() != u32::from(self.structure.device) {
                        return Err(ELSEWHERE.into());
                    }
                    sites.insert(flat, site(conditional)?);
                    // To the units of its body it is a place in the order.
                    *work = None;
                }
                _ => {}
            }
        }
        // CAST: a flat graph numbers its nodes in 32 bits.
        let order: Vec<u32> = (0..flattened.graph.len() as u32).collect();
        let Units { units, classes, preds, main, placements, fifos, .. } =
            Units::new(device, &flattened.graph, &flattened.work, &order, Vec::new())?;
        let elsewhere = |(unit, placement): (&Unit, &DevicePlacement)| {
            unit.kernel().is_some() && placement.device != self.structure.device
        };
        if units.iter().zip(&placements).any(elsewhere) {
            return Err(ELSEWHERE.into());
        }
        let base = index(self.units.len())?;
        let places: HashMap<u32, u32> =
            sites.iter().map(|(&flat, &site)| (main[flat as usize], site)).collect();
        let steps = body::order(&preds, &classes, &places, base, &mut self.structure.order);
        let order = device
            .0
            .system
            .is_checked()
            .then(|| Unordered::new(flattened.graph.len(), flattened.graph.preds()).map(Arc::new));
        let number = index(self.structure.bodies.len())?;
        self.structure.body_of.extend(flattened.graph.graphs().map(|graph| (graph, number)));
        self.structure.bodies.push(Body {
            main: main.iter().map(|unit| base + unit).collect(),
            flat: flattened.graph,
            sites,
            fixed,
            steps,
            order: order.flatten(),
            fifos,
        });
        self.units.extend(units);
        self.structure.placements.extend(placements);
        index(self.units.len())?;
        Ok(())
    }
}

/// Why a body is refused one of whose nodes does its work on another device than the conditional node.
const ELSEWHERE: Error = Error::NotSupported("a body of a conditional node that works on another device");

impl Body {
    /// What its edges leave unordered, if that is known, and the place there of the node that is a conditional one, with this
    /// number, or else of the one that has a unit.
    pub(super) fn place_of(&self, site: Option<u32>, unit: u32) -> Option<(&Arc<Unordered>, u32)> {
        let place = match site {
            Some(site) => *self.sites.iter().find(|(_, other)| **other == site)?.0,
            // CAST: a flat graph numbers its nodes in 32 bits.
            None => self.main.iter().position(|main| *main == unit)? as u32,
        };
        Some((self.order.as_ref()?, place))
    }

    /// The nodes that have a unit, with that.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (u32, NodeId)> {
        self.main.iter().copied().zip(self.flat.nodes().iter().map(|node| node.origin))
    }
}

impl Structure {
    /// What must stay of a node of a body.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no such node, or it is only a place in the order.
    pub(super) fn fixed(&self, node: NodeId) -> Result<&Fixed> {
        let body = self.body_of.get(&node.graph()).map(|&body| &self.bodies[body as usize]);
        let fixed = body.and_then(|body| body.fixed[body.flat.find(node)? as usize].as_ref());
        fixed.ok_or(Error::InvalidValue("not a node of the executable graph"))
    }

    /// Where a node of a body, or of a graph inlined into one, is; nothing if it was contracted.
    pub(super) fn find(&self, node: NodeId) -> Option<Place> {
        let body = *self.body_of.get(&node.graph())?;
        let Body { flat, main, sites, .. } = &self.bodies[body as usize];
        let at = flat.find(node)?;
        Some(match sites.get(&at) {
            Some(&site) => Place::Site(site),
            None => Place::Unit { unit: main[at as usize], body },
        })
    }

    /// Bytes that the structure holds.
    pub(super) fn bytes(&self) -> usize {
        let body = |body: &Body| {
            let units = size_of_val(&body.main[..]) + size_of_val(&body.fixed[..]);
            body.flat.bytes() + units + size_of_val(&body.steps[..]) + size_of::<Body>() + body.fifos.bytes()
        };
        self.bodies.iter().map(body).sum::<usize>()
            + size_of_val(&self.sites[..])
            + size_of_val(&self.order[..])
            + size_of_val(&self.placements[..])
    }
}

/// Branches from a conditional node to its bodies, one within the other.
fn levels(kind: ConditionalKind, bodies: usize) -> u32 {
    match kind {
        ConditionalKind::If | ConditionalKind::While => 1,
        // A tree of comparisons.
        ConditionalKind::Switch => 1 + bodies.next_power_of_two().trailing_zeros(),
    }
}

fn index(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| crate::graph::Error::TooLarge.into())
}
