//! Nodes and edges of one graph, in insertion order, without their parameters.
//!
//! Edges live in one vector and are threaded through two intrusive doubly linked lists, one per end. Adding an edge
//! is a push, removing one is four stores, both directions iterate in insertion order, and cloning or dropping a
//! graph of a million nodes is a handful of block operations: there is no allocation per node.
//!
//! A [`NodeId`] is never reused. Its node's *slot* (position in the vectors) is the id's own number until removed nodes
//! are compacted away, which moves those behind them down; ids ascend with slots, so one is found by binary search then.

use std::collections::HashMap;

use super::{Error, GraphId, NodeId};

/// No edge: the end of an intrusive list.
const NONE: u32 = u32::MAX;
/// Lists up to this length are searched by walking; longer ones through the edge index.
const WALK: u32 = 16;
/// Fewer holes than this are not worth a compaction.
const MIN_HOLES: usize = 64;

/// One end's view of an edge list; its last edge is the one before its first.
#[derive(Debug, Clone, Copy)]
struct List {
    first: u32,
    len: u32,
}

impl List {
    const EMPTY: Self = Self { first: NONE, len: 0 };
}

/// The two edge lists of a node. Index 0: edges that end here; index 1: edges that start here.
#[derive(Debug, Clone, Copy)]
struct Links {
    lists: [List; 2],
}

impl Links {
    /// Of a node without edges.
    const NEW: Self = Self { lists: [List::EMPTY; 2] };
    /// Of a slot whose node was removed. No list is as long: there are fewer edges.
    const REMOVED: Self = Self { lists: [List { first: NONE, len: NONE }; 2] };

    fn is_alive(&self) -> bool {
        self.lists[IN].len != NONE
    }
}

/// The list of edges that end at a node.
pub(super) const IN: usize = 0;
/// The list of edges that start at a node.
pub(super) const OUT: usize = 1;

#[derive(Debug, Clone, Copy)]
struct Edge {
    /// Slots of the nodes at the end and at the start, in the order of [`IN`] and [`OUT`]; `NONE` twice when removed.
    ends: [u32; 2],
    /// What follows in the lists; `NONE` behind the last.
    next: [u32; 2],
    /// What comes before in the lists; the last one before the first.
    prev: [u32; 2],
}

/// The nodes and edges of one graph.
#[derive(Debug)]
pub struct Topology {
    graph: GraphId,
    /// The graph that this one was cloned from, and how many ids that graph had given out by then.
    origin: Option<(GraphId, u32)>,
    next_index: u32,
    links: Vec<Links>,
    /// `NodeId::index` of each slot, ascending, once it is not the slot's own number.
    indices: Option<Vec<u32>>,
    live_nodes: usize,
    edges: Vec<Edge>,
    live_edges: usize,
    /// Edge by slots, once some edge joined two nodes of high degree.
    by_ends: Option<HashMap<[u32; 2], u32>>,
}

impl Default for Topology {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Topology {
    /// Copies the topology under a new identity; [`Topology::counterpart`] maps nodes to their copies.
    fn clone(&self) -> Self {
        Self {
            graph: GraphId::next(),
            origin: Some((self.graph, self.next_index)),
            next_index: self.next_index,
            links: self.links.clone(),
            indices: self.indices.clone(),
            live_nodes: self.live_nodes,
            edges: self.edges.clone(),
            live_edges: self.live_edges,
            by_ends: self.by_ends.clone(),
        }
    }
}

impl Topology {
    /// Makes a topology without nodes.
    pub fn new() -> Self {
        Self {
            graph: GraphId::next(),
            origin: None,
            next_index: 0,
            links: Vec::new(),
            indices: None,
            live_nodes: 0,
            edges: Vec::new(),
            live_edges: 0,
            by_ends: None,
        }
    }

    /// A copy under the same identity, which stays as it is when this graph changes.
    pub fn snapshot(&self) -> Self {
        Self { graph: self.graph, origin: self.origin, ..self.clone() }
    }

    /// Bytes of nodes and edges; the index of long edge lists is not counted.
    pub fn bytes(&self) -> usize {
        let indices = self.indices.as_deref().unwrap_or_default();
        size_of_val(&self.links[..]) + size_of_val(indices) + size_of_val(&self.edges[..])
    }

    /// The identity that this graph's node ids carry.
    pub fn id(&self) -> GraphId {
        self.graph
    }

    /// The id that the next added node gets.
    pub fn next_id(&self) -> NodeId {
        NodeId::new(self.graph, self.next_index)
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.live_nodes
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.live_edges
    }

    /// Adds a node that runs after `dependencies`.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`], [`Error::DuplicateEdge`] for the first bad dependency,
    /// [`Error::TooLarge`]; the graph is then unchanged.
    // Always: it returns through memory what its callers take apart.
    #[inline(always)]
    pub fn add(&mut self, dependencies: impl IntoIterator<Item = NodeId>) -> Result<NodeId, Error> {
        if self.next_index == NONE {
            return Err(Error::TooLarge);
        }
        let id = self.next_id();
        // CAST: slots never outnumber the ids given out, which fit 32 bits.
        let slot = self.links.len() as u32;
        let edges_before = self.edges.len();
        self.links.push(Links::NEW);
        for from in dependencies {
            if let Err(error) = self.depend(slot, from) {
                self.unlink_from(edges_before);
                self.links.pop();
                return Err(error);
            }
        }
        if let Some(indices) = &mut self.indices {
            indices.push(id.index());
        }
        self.next_index += 1;
        self.live_nodes += 1;
        Ok(id)
    }

    /// Lets the node that is being added in a slot run after another.
    #[inline]
    fn depend(&mut self, slot: u32, on: NodeId) -> Result<(), Error> {
        let from = self.slot(on)?;
        if from == slot {
            // The half-added node was in this graph for the length of this call only.
            return Err(Error::UnknownNode(on));
        }
        // Nothing else is linked meanwhile, so an edge between the two would be the last one that starts there.
        let list = self.links[from as usize].lists[OUT];
        if list.len > 0 && self.edges[self.last(list, OUT) as usize].ends[IN] == slot {
            return Err(Error::DuplicateEdge { from: on, to: self.next_id() });
        }
        self.push([slot, from])
    }

    /// Adds the edges `from -> to`, all or none.
    ///
    /// A cycle is not an error here: it is found by [`Topology::order`].
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`], [`Error::SelfEdge`], [`Error::DuplicateEdge`] for the first
    /// bad edge, [`Error::TooLarge`].
    pub fn add_edges(&mut self, edges: impl IntoIterator<Item = (NodeId, NodeId)>) -> Result<(), Error> {
        let before = self.edges.len();
        for (from, to) in edges {
            let added = self.slot(from).and_then(|from| self.link(from, self.slot(to)?));
            if let Err(error) = added {
                self.unlink_from(before);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes the edges `from -> to`, all or none.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`], [`Error::MissingEdge`] for the first bad edge; an edge that
    /// stands twice in the list is missing the second time.
    pub fn remove_edges(&mut self, edges: impl IntoIterator<Item = (NodeId, NodeId)>) -> Result<(), Error> {
        let mut found = Vec::new();
        let mut listed = std::collections::HashSet::new();
        for (from, to) in edges {
            let ends = [self.slot(to)?, self.slot(from)?];
            let edge = self.find(ends).filter(|edge| listed.insert(*edge));
            found.push(edge.ok_or(Error::MissingEdge { from, to })?);
        }
        for edge in found {
            self.unlink(edge);
        }
        self.compact_edges_if_sparse();
        Ok(())
    }

    /// Removes a node and its edges.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn remove(&mut self, node: NodeId) -> Result<(), Error> {
        let slot = self.slot(node)?;
        for side in [IN, OUT] {
            while self.links[slot as usize].lists[side].len > 0 {
                self.unlink(self.links[slot as usize].lists[side].first);
            }
        }
        self.links[slot as usize] = Links::REMOVED;
        self.live_nodes -= 1;
        self.compact_edges_if_sparse();
        Ok(())
    }

    /// Whether removed nodes outnumber the live ones, so that [`Topology::compact`] pays.
    pub(super) fn is_sparse(&self) -> bool {
        self.links.len() - self.live_nodes > self.live_nodes.max(MIN_HOLES)
    }

    /// Closes the holes that removed nodes left; slots change, ids do not.
    pub(super) fn compact(&mut self) {
        let mut moved = vec![NONE; self.links.len()];
        let mut next = 0;
        for (slot, links) in self.links.iter().enumerate() {
            if links.is_alive() {
                moved[slot] = next;
                next += 1;
            }
        }
        // CAST: slots fit 32 bits.
        let indices = (0..moved.len() as u32).filter(|&slot| moved[slot as usize] != NONE);
        self.indices = Some(indices.map(|slot| self.index_of(slot)).collect());
        self.links.retain(Links::is_alive);
        for edge in &mut self.edges {
            for end in &mut edge.ends {
                if *end != NONE {
                    *end = moved[*end as usize];
                }
            }
        }
        self.by_ends = None;
    }

    /// Whether every slot has a node, with the slot's number, and every place of an edge an edge.
    #[inline]
    pub(super) fn is_dense(&self) -> bool {
        let nodes = self.live_nodes == self.links.len() && self.next_index as usize == self.live_nodes;
        nodes && self.live_edges == self.edges.len()
    }

    /// Whether as many slots have edges with the same ends in the same places.
    pub(super) fn has_ends_of(&self, other: &Self) -> bool {
        self.links.len() == other.links.len()
            && self.edges.len() == other.edges.len()
            && self.edges.iter().zip(&other.edges).all(|(one, other)| one.ends == other.ends)
    }

    /// The slot of a live node.
    ///
    /// # Errors
    /// [`Error::ForeignNode`] when the id carries another graph, [`Error::UnknownNode`] when the node was removed.
    #[inline]
    pub(super) fn slot(&self, node: NodeId) -> Result<u32, Error> {
        if node.graph() != self.graph {
            return Err(Error::ForeignNode(node));
        }
        let slot = match &self.indices {
            None => node.index() as usize,
            Some(indices) => indices.binary_search(&node.index()).map_err(|_| Error::UnknownNode(node))?,
        };
        match self.links.get(slot) {
            // CAST: slots fit 32 bits.
            Some(links) if links.is_alive() => Ok(slot as u32),
            _ => Err(Error::UnknownNode(node)),
        }
    }

    /// The id of the node in a slot.
    #[inline]
    pub(super) fn id_of(&self, slot: u32) -> NodeId {
        NodeId::new(self.graph, self.index_of(slot))
    }

    #[inline]
    fn index_of(&self, slot: u32) -> u32 {
        self.indices.as_ref().map_or(slot, |indices| indices[slot as usize])
    }

    /// The number of slots, holes included.
    pub(super) fn slot_count(&self) -> usize {
        self.links.len()
    }

    /// The live edges as `(from, to)` slots, in insertion order.
    pub(super) fn slot_edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.edges.iter().filter(|edge| edge.ends[IN] != NONE).map(|edge| (edge.ends[OUT], edge.ends[IN]))
    }

    /// The live slots, in insertion order.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.links.iter().enumerate().filter(|(_, links)| links.is_alive()).map(|(slot, _)| slot as u32)
    }

    /// The numbers of edges that end and that start at a slot.
    pub(super) fn degrees(&self, slot: u32) -> [u32; 2] {
        self.links[slot as usize].lists.map(|list| list.len)
    }

    /// Whether the node exists in this graph.
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        self.slot(node).is_ok()
    }

    /// The nodes, in insertion order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.slots().map(|slot| self.id_of(slot))
    }

    /// The nodes without dependencies, in insertion order.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.slots().filter(|&slot| self.degrees(slot)[IN] == 0).map(|slot| self.id_of(slot))
    }

    /// The edges as `(from, to)`, in insertion order.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.slot_edges().map(|(from, to)| (self.id_of(from), self.id_of(to)))
    }

    /// The nodes that `node` waits for, in the order in which the edges were added.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn dependencies(&self, node: NodeId) -> Result<Neighbours<'_>, Error> {
        Ok(Neighbours::new(self, self.slot(node)?, IN))
    }

    /// The nodes that wait for `node`, in the order in which the edges were added.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn dependents(&self, node: NodeId) -> Result<Neighbours<'_>, Error> {
        Ok(Neighbours::new(self, self.slot(node)?, OUT))
    }

    /// The copy in this graph of `original`, a node of the graph that this one was cloned from.
    ///
    /// # Errors
    /// [`Error::ForeignNode`] when this graph is no clone of the node's graph, [`Error::UnknownNode`] when the node
    /// was added there after the cloning, had been removed before it, or has been removed here.
    pub fn counterpart(&self, original: NodeId) -> Result<NodeId, Error> {
        match self.origin {
            Some((graph, given_out)) if graph == original.graph() => {
                let copy = NodeId::new(self.graph, original.index());
                if copy.index() < given_out && self.contains(copy) {
                    Ok(copy)
                } else {
                    Err(Error::UnknownNode(original))
                }
            }
            _ => Err(Error::ForeignNode(original)),
        }
    }

    /// Appends the edge, unless it exists.
    fn link(&mut self, from: u32, to: u32) -> Result<(), Error> {
        if from == to {
            return Err(Error::SelfEdge(self.id_of(to)));
        }
        if self.find([to, from]).is_some() {
            return Err(Error::DuplicateEdge { from: self.id_of(from), to: self.id_of(to) });
        }
        self.push([to, from])
    }

    /// Appends an edge that does not exist.
    #[inline]
    fn push(&mut self, ends: [u32; 2]) -> Result<(), Error> {
        let edge =
            u32::try_from(self.edges.len()).ok().filter(|&edge| edge != NONE).ok_or(Error::TooLarge)?;
        self.edges.push(Edge { ends, next: [NONE; 2], prev: [edge; 2] });
        self.live_edges += 1;
        self.append(edge);
        if let Some(by_ends) = &mut self.by_ends {
            by_ends.insert(ends, edge);
        }
        Ok(())
    }

    /// The last edge of a list that has one.
    fn last(&self, list: List, side: usize) -> u32 {
        self.edges[list.first as usize].prev[side]
    }

    /// Hangs a stored edge, which follows and precedes none but itself, at the end of both its lists.
    fn append(&mut self, edge: u32) {
        for side in [IN, OUT] {
            let slot = self.edges[edge as usize].ends[side] as usize;
            let list = &mut self.links[slot].lists[side];
            list.len += 1;
            if list.len == 1 {
                list.first = edge;
                continue;
            }
            let last = std::mem::replace(&mut self.edges[list.first as usize].prev[side], edge);
            self.edges[last as usize].next[side] = edge;
            self.edges[edge as usize].prev[side] = last;
        }
    }

    /// Takes an edge out of both its lists.
    fn unlink(&mut self, edge: u32) {
        let Edge { ends, next, prev } = self.edges[edge as usize];
        for side in [IN, OUT] {
            let list = &mut self.links[ends[side] as usize].lists[side];
            list.len -= 1;
            if list.first == edge {
                list.first = next[side];
            } else {
                self.edges[prev[side] as usize].next[side] = next[side];
            }
            // What follows; behind the last, the first one looks back.
            let behind = if next[side] == NONE { list.first } else { next[side] };
            if behind != NONE {
                self.edges[behind as usize].prev[side] = prev[side];
            }
        }
        self.edges[edge as usize].ends = [NONE; 2];
        self.live_edges -= 1;
        if let Some(by_ends) = &mut self.by_ends {
            by_ends.remove(&ends);
        }
    }

    /// Undoes the additions since the edge vector had this length.
    fn unlink_from(&mut self, len: usize) {
        for edge in (len..self.edges.len()).rev() {
            self.unlink(edge as u32);
        }
        self.edges.truncate(len);
    }

    /// The edge with these ends, in time independent of the size of the graph.
    fn find(&mut self, ends: [u32; 2]) -> Option<u32> {
        let [incoming, outgoing] = [IN, OUT].map(|side| self.links[ends[side] as usize].lists[side]);
        let (side, list) = if incoming.len <= outgoing.len { (IN, incoming) } else { (OUT, outgoing) };
        if list.len > WALK {
            return self.edge_index().get(&ends).copied();
        }
        // The latest edges are the likeliest to be asked for: from the last one back, round the list.
        let mut edge = list.first;
        for _ in 0..list.len {
            edge = self.edges[edge as usize].prev[side];
            if self.edges[edge as usize].ends == ends {
                return Some(edge);
            }
        }
        None
    }

    /// The index of edges by ends, built when it is first needed and kept up to date from then on.
    fn edge_index(&mut self) -> &HashMap<[u32; 2], u32> {
        self.by_ends.get_or_insert_with(|| {
            let live = self.edges.iter().zip(0..).filter(|(edge, _)| edge.ends[IN] != NONE);
            live.map(|(edge, at)| (edge.ends, at)).collect()
        })
    }

    /// Closes the holes that removed edges left, when they outnumber the live edges.
    fn compact_edges_if_sparse(&mut self) {
        if self.edges.len() - self.live_edges <= self.live_edges.max(MIN_HOLES) {
            return;
        }
        self.edges.retain(|edge| edge.ends[IN] != NONE);
        for links in self.links.iter_mut().filter(|links| links.is_alive()) {
            *links = Links::NEW;
        }
        for at in 0..self.edges.len() {
            // CAST: edges fit 32 bits.
            let edge = at as u32;
            (self.edges[at].next, self.edges[at].prev) = ([NONE; 2], [edge; 2]);
            self.append(edge);
        }
        self.by_ends = None;
    }
}

/// Neighbours of a node on one side, in insertion order of the edges.
#[derive(Debug, Clone)]
pub struct Neighbours<'a> {
    topology: &'a Topology,
    edge: u32,
    left: u32,
    side: usize,
}

impl<'a> Neighbours<'a> {
    #[inline]
    pub(super) fn new(topology: &'a Topology, slot: u32, side: usize) -> Self {
        let list = topology.links[slot as usize].lists[side];
        Self { topology, edge: list.first, left: list.len, side }
    }

    /// The neighbours as slots.
    #[inline]
    pub(super) fn slots(mut self) -> impl Iterator<Item = u32> + 'a {
        std::iter::from_fn(move || self.next_slot())
    }

    #[inline]
    fn next_slot(&mut self) -> Option<u32> {
        let edge = self.topology.edges.get(self.edge as usize)?;
        self.edge = edge.next[self.side];
        self.left -= 1;
        Some(edge.ends[1 - self.side])
    }
}

impl Iterator for Neighbours<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        self.next_slot().map(|slot| self.topology.id_of(slot))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Neighbours<'_> {}
