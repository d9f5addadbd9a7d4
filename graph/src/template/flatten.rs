//! From a template to the graph that is scheduled: child graphs inlined, disabled nodes emptied, cycles refused,
//! empty nodes contracted away.
//!
//! An empty node with `n` predecessors and `m` successors becomes up to `n * m` edges. Where that is more than the
//! `n + m` edges it has, it stays as a [`Join`](FlatNode::is_join): a point in the order that costs nothing at launch
//! (the scheduler gives it no packet) and keeps the edges few. Everything is linear in nodes and edges.

use super::csr::Csr;
use super::topology::{IN, Neighbours};
use super::{Error, Graph, GraphId, Node, NodeId, Topology};

const NONE: u32 = u32::MAX;

/// An empty node with more effective predecessors than this is kept as a join even if contracting it would save
/// edges, so that a ladder of empty nodes cannot copy ever longer lists.
const MAX_CONTRACTED: usize = 64;

/// A node of a flat graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlatNode {
    /// The template node that this one stands for.
    pub origin: NodeId,
    /// The graph in which that node lies, as an index for [`FlatGraph::path`].
    graph: u32,
    device: u16,
    join: bool,
}

impl FlatNode {
    /// Whether the node is only a meeting point of edges: an empty node too expensive to contract.
    pub fn is_join(&self) -> bool {
        self.join
    }

    /// The ordinal of the device that the node was placed on.
    pub fn device(&self) -> u32 {
        self.device.into()
    }
}

/// A graph inlined into a flat graph.
#[derive(Debug, Clone)]
struct Inlined {
    id: GraphId,
    /// The graph around it and the child node there.
    parent: Option<(u32, NodeId)>,
    /// So many nodes have their own `NodeId::index` as flat index; the others are listed.
    same: u32,
    /// `NodeId::index` of each node with its flat index, ascending; contracted nodes are not listed.
    nodes: Vec<(u32, u32)>,
}

/// A graph without nesting. Its nodes are numbered in a topological order: every edge leads from a smaller index to a
/// greater one.
#[derive(Debug, Clone)]
pub struct FlatGraph {
    nodes: Vec<FlatNode>,
    preds: Csr,
    /// The outermost graph first, parents before children.
    inlined: Vec<Inlined>,
    /// Indices into `inlined`, by ascending graph identity.
    by_id: Vec<u32>,
    /// Whether the nodes are those of one graph in the order of their insertion.
    in_order: bool,
}

impl FlatGraph {
    /// The number of nodes, joins included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes that the graph holds.
    pub fn bytes(&self) -> usize {
        let tables = self.inlined.iter().map(|graph| size_of_val(&graph.nodes[..])).sum::<usize>();
        size_of_val(&self.nodes[..]) + size_of_val(&self.inlined[..]) + tables + self.preds.bytes()
    }

    /// Whether nothing is left to run.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The nodes, in topological order.
    pub fn nodes(&self) -> &[FlatNode] {
        &self.nodes
    }

    /// The predecessors of every node.
    pub fn preds(&self) -> &Csr {
        &self.preds
    }

    /// The successors of every node, ascending.
    pub fn succs(&self) -> Csr {
        self.preds.transposed()
    }

    /// Keeps the nodes alone, where the order is not needed any more: no node has predecessors then.
    pub fn forget_edges(&mut self) {
        self.preds = Csr::default();
    }

    /// The flat index of a template node of the outermost graph or of any nested one; nothing if it was contracted.
    pub fn find(&self, node: NodeId) -> Option<u32> {
        let at = self.by_id.binary_search_by_key(&node.graph(), |&at| self.inlined[at as usize].id).ok()?;
        let Inlined { same, nodes, .. } = &self.inlined[self.by_id[at] as usize];
        if node.index() < *same {
            return Some(node.index());
        }
        let place = match nodes.get(node.index() as usize) {
            Some(&(index, _)) if index == node.index() => node.index() as usize,
            _ => nodes.binary_search_by_key(&node.index(), |&(index, _)| index).ok()?,
        };
        Some(nodes[place].1)
    }

    /// Whether its nodes are those of one graph, in their order, and as many as `topology` has.
    pub fn is_laid_out_like(&self, topology: &Topology) -> bool {
        self.in_order && self.nodes.len() == topology.node_count()
    }

    /// The identities of the graph and of those inlined into it.
    pub fn graphs(&self) -> impl Iterator<Item = GraphId> {
        self.inlined.iter().map(|graph| graph.id)
    }

    /// The child nodes around a flat node, outermost first, then the node itself.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn path(&self, flat: u32) -> Vec<NodeId> {
        let node = &self.nodes[flat as usize];
        let mut path = vec![node.origin];
        let mut graph = node.graph;
        while let Some((parent, child)) = self.inlined[graph as usize].parent {
            path.push(child);
            graph = parent;
        }
        path.reverse();
        path
    }
}

/// A flat graph beside the parameters that its nodes run with.
#[derive(Debug)]
pub struct Flattened<'g, K, E, S> {
    /// The flat graph.
    pub graph: FlatGraph,
    /// The parameters of each node; `None` for a join. Never [`Node::Child`].
    pub work: Vec<Option<&'g Node<K, E, S>>>,
}

/// Flattens a template; nodes of which `works` is false count as empty.
///
/// # Errors
/// [`Error::Cycle`] with a node on a cycle, which may lie in a nested graph; [`Error::TooLarge`].
pub fn flatten<'g, K, E, S>(
    graph: &'g Graph<K, E, S>,
    works: impl Fn(NodeId, &Node<K, E, S>) -> bool,
) -> Result<Flattened<'g, K, E, S>, Error> {
    if let Some(flat) = as_it_is(graph, &works) {
        return Ok(flat);
    }
    let expanded = Expanded::new(graph, works)?;
    let preds = Csr::from_pairs(expanded.nodes.len(), expanded.edges.iter().map(|&(from, to)| (to, from)));
    let order = expanded.order(&preds)?;
    Ok(expanded.contract(&preds, order.as_deref()))
}

/// The flat graph of one that is flat already: nothing nested nor empty in it, nothing removed from it, and each node
/// added behind all that it depends on. Most graphs are like that.
fn as_it_is<'g, K, E, S>(
    graph: &'g Graph<K, E, S>,
    works: &impl Fn(NodeId, &Node<K, E, S>) -> bool,
) -> Option<Flattened<'g, K, E, S>> {
    let topology = &graph.topology;
    let (count, edges) = (topology.node_count(), topology.edge_count());
    if !topology.is_dense() || count >= NONE as usize - 2 || edges >= NONE as usize {
        return None;
    }
    let mut nodes = Vec::with_capacity(count);
    let mut work = Vec::with_capacity(count);
    let mut preds = Csr::with_capacity(count, edges);
    for slot in 0..count as u32 {
        let (node, origin) = (graph.in_slot(slot)?, topology.id_of(slot));
        let mut ascending = true;
        let before = Neighbours::new(topology, slot, IN).slots();
        preds.push_row(before.inspect(|&before| ascending &= before < slot));
        if !ascending || matches!(node, Node::Empty | Node::Child(_)) || !works(origin, node) {
            return None;
        }
        // CAST: no machine has 2^16 devices.
        let device = graph.device_of(origin) as u16;
        nodes.push(FlatNode { origin, graph: 0, device, join: false });
        work.push(Some(node));
    }
    let inlined = vec![Inlined { id: topology.id(), parent: None, same: count as u32, nodes: Vec::new() }];
    Some(Flattened { graph: FlatGraph { nodes, preds, inlined, by_id: vec![0], in_order: true }, work })
}

/// A node before contraction.
struct Raw<'g, K, E, S> {
    origin: NodeId,
    graph: u32,
    /// `None` for what is empty: empty and disabled nodes, entries and exits of child graphs.
    work: Option<&'g Node<K, E, S>>,
    /// Where edges that leave the node start: itself, or the exit of a child graph.
    exit: u32,
}

/// All graphs inlined, each child graph between an entry and an exit.
struct Expanded<'g, K, E, S> {
    nodes: Vec<Raw<'g, K, E, S>>,
    edges: Vec<(u32, u32)>,
    graphs: Vec<Nested<'g, K, E, S>>,
}

struct Nested<'g, K, E, S> {
    graph: &'g Graph<K, E, S>,
    parent: Option<(u32, NodeId)>,
    /// The expanded index of the entry in the parent.
    entry: u32,
    /// Expanded index by slot.
    expanded: Vec<u32>,
}

/// A child graph to be placed before the rest of the graph around it.
struct ChildFound<'g, K, E, S> {
    child: &'g Graph<K, E, S>,
    node: NodeId,
    /// The slot at which to go on afterwards.
    resume: u32,
}

impl<'g, K, E, S> Expanded<'g, K, E, S> {
    fn new(graph: &'g Graph<K, E, S>, works: impl Fn(NodeId, &Node<K, E, S>) -> bool) -> Result<Self, Error> {
        let count = graph.topology.node_count();
        let mut this = Self {
            nodes: Vec::with_capacity(count),
            edges: Vec::with_capacity(graph.topology.edge_count()),
            graphs: vec![Nested { graph, parent: None, entry: NONE, expanded: Vec::with_capacity(count) }],
        };
        // Child graphs are placed where their node stands, so that insertion order stays topological if it was.
        let mut stack = vec![(0u32, 0u32)];
        while let Some((at, slot)) = stack.pop() {
            match this.place(at, slot, &works)? {
                Some(ChildFound { child, node, resume }) => {
                    let entry = this.nodes.len() as u32 - 1;
                    let inner = this.graphs.len() as u32;
                    let expanded = Vec::with_capacity(child.topology.node_count());
                    this.graphs.push(Nested { graph: child, parent: Some((at, node)), entry, expanded });
                    stack.push((at, resume));
                    stack.push((inner, 0));
                }
                None => this.close(at),
            }
        }
        for at in 0..this.graphs.len() {
            this.connect(at);
        }
        if this.edges.len() >= NONE as usize { Err(Error::TooLarge) } else { Ok(this) }
    }

    /// Places the nodes of a graph from a slot on, up to and including the first child graph.
    fn place(
        &mut self,
        at: u32,
        slot: u32,
        works: &impl Fn(NodeId, &Node<K, E, S>) -> bool,
    ) -> Result<Option<ChildFound<'g, K, E, S>>, Error> {
        let nested = &mut self.graphs[at as usize];
        let graph = nested.graph;
        for slot in slot..graph.topology.slot_count() as u32 {
            let Some(node) = graph.in_slot(slot) else {
                nested.expanded.push(NONE);
                continue;
            };
            let origin = graph.topology.id_of(slot);
            // Two more than this one: the exit of the last child graph must fit too.
            let index = u32::try_from(self.nodes.len())
                .ok()
                .filter(|&index| index < NONE - 2)
                .ok_or(Error::TooLarge)?;
            nested.expanded.push(index);
            let work = (!matches!(node, Node::Empty | Node::Child(_)) && works(origin, node)).then_some(node);
            self.nodes.push(Raw { origin, graph: at, work, exit: index });
            if let Node::Child(child) = node {
                return Ok(Some(ChildFound { child, node: origin, resume: slot + 1 }));
            }
        }
        Ok(None)
    }

    /// Places the exit of a nested graph.
    fn close(&mut self, at: u32) {
        if let Nested { parent: Some((parent, node)), entry, .. } = self.graphs[at as usize] {
            let exit = self.nodes.len() as u32;
            self.nodes.push(Raw { origin: node, graph: parent, work: None, exit });
            self.nodes[entry as usize].exit = exit;
        }
    }

    /// Adds the edges of a graph, and those between it and its entry and exit.
    fn connect(&mut self, at: usize) {
        let Self { nodes, edges, graphs } = self;
        let Nested { graph, ref expanded, entry, parent } = graphs[at];
        let exit = |slot: u32| nodes[expanded[slot as usize] as usize].exit;
        edges.extend(graph.topology.slot_edges().map(|(from, to)| (exit(from), expanded[to as usize])));
        if parent.is_none() {
            return;
        }
        let last = nodes[entry as usize].exit;
        for slot in graph.topology.slots() {
            let [incoming, outgoing] = graph.topology.degrees(slot);
            if incoming == 0 {
                edges.push((entry, expanded[slot as usize]));
            }
            if outgoing == 0 {
                edges.push((exit(slot), last));
            }
        }
        if graph.topology.node_count() == 0 {
            edges.push((entry, last));
        }
    }

    /// A topological order, or nothing if the nodes stand in one already.
    fn order(&self, preds: &Csr) -> Result<Option<Vec<u32>>, Error> {
        if self.edges.iter().all(|(from, to)| from < to) {
            return Ok(None);
        }
        let succs = Csr::from_pairs(self.nodes.len(), self.edges.iter().copied());
        let all = 0..self.nodes.len() as u32;
        let mut pending: Vec<u32> = all.clone().map(|node| preds.row(node).len() as u32).collect();
        let mut order: Vec<u32> = all.clone().filter(|&node| pending[node as usize] == 0).collect();
        let mut head = 0;
        while let Some(&node) = order.get(head) {
            head += 1;
            for &next in succs.row(node) {
                pending[next as usize] -= 1;
                if pending[next as usize] == 0 {
                    order.push(next);
                }
            }
        }
        let Some(mut node) = all.clone().find(|&node| pending[node as usize] > 0) else {
            return Ok(Some(order));
        };
        // Every pending node has a pending predecessor; walking back along those comes round.
        let mut seen = vec![false; self.nodes.len()];
        while !std::mem::replace(&mut seen[node as usize], true) {
            // PANIC: a node is pending because one of its predecessors is.
            node = *preds
                .row(node)
                .iter()
                .find(|&&pred| pending[pred as usize] > 0)
                .expect("a pending predecessor");
        }
        Err(Error::Cycle(self.nodes[node as usize].origin))
    }

    /// Whether anything runs after each node (or is it).
    fn useful(&self, preds: &Csr, order: Option<&[u32]>) -> Vec<bool> {
        let mut useful: Vec<bool> = self.nodes.iter().map(|node| node.work.is_some()).collect();
        for at in (0..self.nodes.len()).rev() {
            let node = order.map_or(at as u32, |order| order[at]);
            if useful[node as usize] {
                for &pred in preds.row(node) {
                    useful[pred as usize] = true;
                }
            }
        }
        useful
    }

    /// Builds the flat graph, walking in topological order.
    fn contract(self, preds: &Csr, order: Option<&[u32]>) -> Flattened<'g, K, E, S> {
        let count = self.nodes.len();
        let hollow = self.nodes.iter().any(|node| node.work.is_none());
        let useful = if hollow { self.useful(preds, order) } else { Vec::new() };
        // How many useful successors an empty node has.
        let mut fan_out = vec![0u32; if hollow { count } else { 0 }];
        if hollow {
            for &(from, to) in &self.edges {
                fan_out[from as usize] += u32::from(useful[to as usize]);
            }
        }

        let mut nodes = Vec::with_capacity(count);
        let mut work = Vec::with_capacity(count);
        let mut rows = Csr::with_capacity(count, self.edges.len());
        // What an edge that starts at an expanded node starts at in the flat graph.
        let mut place = vec![Place::Gone(0, 0); count];
        let mut lists: Vec<u32> = Vec::new();
        let mut row: Vec<u32> = Vec::new();
        let mut last_seen_by = vec![NONE; if hollow { count } else { 0 }];
        for at in 0..count {
            let node = order.map_or(at as u32, |order| order[at]);
            let raw = &self.nodes[node as usize];
            if hollow && !useful[node as usize] {
                continue;
            }
            row.clear();
            for &pred in preds.row(node) {
                match place[pred as usize] {
                    Place::Kept(flat) => row.push(flat),
                    Place::Gone(start, len) => row.extend(&lists[start as usize..(start + len) as usize]),
                }
            }
            if hollow {
                row.retain(|&pred| std::mem::replace(&mut last_seen_by[pred as usize], node) != node);
            }
            if raw.work.is_none() && contracts(row.len(), fan_out[node as usize] as usize) {
                place[node as usize] = Place::Gone(lists.len() as u32, row.len() as u32);
                lists.extend(&row);
                continue;
            }
            place[node as usize] = Place::Kept(nodes.len() as u32);
            // CAST: no machine has 2^16 devices.
            let device = self.graphs[raw.graph as usize].graph.device_of(raw.origin) as u16;
            nodes.push(FlatNode { origin: raw.origin, graph: raw.graph, device, join: raw.work.is_none() });
            work.push(raw.work);
            rows.push_row(row.iter().copied());
        }
        let inlined: Vec<Inlined> = self.graphs.iter().map(|nested| nested.inlined(&place)).collect();
        let mut by_id: Vec<u32> = (0..inlined.len() as u32).collect();
        by_id.sort_unstable_by_key(|&at| inlined[at as usize].id);
        let in_order = order.is_none() && inlined.len() == 1;
        Flattened { graph: FlatGraph { nodes, preds: rows, inlined, by_id, in_order }, work }
    }
}

/// Where an expanded node went.
#[derive(Clone, Copy)]
enum Place {
    /// To this flat node.
    Kept(u32),
    /// Away; its effective predecessors are this start and length in the lists.
    Gone(u32, u32),
}

/// Whether an empty node with these effective degrees is contracted.
fn contracts(preds: usize, succs: usize) -> bool {
    preds <= MAX_CONTRACTED && preds * succs <= preds + succs
}

impl<K, E, S> Nested<'_, K, E, S> {
    /// The lookup table of the graph's nodes.
    fn inlined(&self, place: &[Place]) -> Inlined {
        let topology = &self.graph.topology;
        let nodes = topology.slots().filter_map(|slot| match place[self.expanded[slot as usize] as usize] {
            Place::Kept(flat) => Some((topology.id_of(slot).index(), flat)),
            Place::Gone(..) => None,
        });
        Inlined { id: topology.id(), parent: self.parent, same: 0, nodes: nodes.collect() }
    }
}
