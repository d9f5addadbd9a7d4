//! A command, and what it comes behind.

#![forbid(unsafe_code)]

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use aqlipse_graph::schedule::{Class, CostTable};
use emulator::{How, Page};

use super::{captured::CaptureLog, drawing::Drawing, finding::Party, order::Unordered};
use crate::device::clocks::Moment;

/// A command that was submitted, which the device dispatches or which is about memory alone.
pub(super) struct Command {
    pub(super) moment: Moment,
    pub(super) place: Place,
    pub(super) what: String,
}

/// What a command is part of.
pub(super) enum Place {
    /// A call of the host's, which is over when it returns.
    Host,
    Stream,
    /// Of a launch, the node, by its place in the order and as it is called.
    Node {
        launch: Arc<Launch>,
        place: u32,
        node: String,
        inside: Inside,
    },
}

/// A launch of an executable.
pub(crate) struct Launch {
    pub executable: u64,
    pub order: Arc<Order>,
    /// Its place in what was submitted, from when it is announced.
    pub moment: OnceLock<Moment>,
}

/// Where a node is within the conditional node of the launch that has it in a body; nowhere, for all others.
#[derive(Clone, Default)]
pub(crate) struct Inside {
    /// From the outside in: which turn of any body of the conditional node it is, and the place there of the node or of the
    /// conditional node that it is in.
    path: Vec<(u64, u32)>,
    /// What the edges of these bodies leave unordered.
    orders: Vec<Arc<Unordered>>,
}

impl Inside {
    /// Goes into a body's turn, to a node there.
    pub(crate) fn enter(&mut self, turn: u64, order: &Arc<Unordered>, place: u32) {
        self.path.push((turn, place));
        self.orders.push(order.clone());
    }

    /// Whether it is before another one in the same conditional node. Turns come one behind the other.
    fn is_before(&self, later: &Self) -> bool {
        let both = self.path.iter().zip(&later.path).zip(&self.orders);
        let mut apart = both.skip_while(|((one, other), _)| one == other);
        apart.next().is_some_and(|((&(turn, place), &(next, other)), order)| {
            turn < next || turn == next && place < other && !order.has(place, other)
        })
    }
}

/// A node that a launch is about to dispatch.
pub(crate) struct NodeDispatch {
    /// The address of its arguments.
    pub arguments: u64,
    /// Its place in the [`Order`].
    pub place: u32,
    /// As it is called.
    pub node: String,
    pub what: String,
    pub inside: Inside,
    /// What it is known to read and write.
    pub touches: Vec<(How, Range<u64>)>,
}

/// The nodes of an executable, those included that are about memory alone and not dispatched, numbered so that each edge leads
/// to a greater number.
pub(crate) struct Order {
    pub unordered: Unordered,
    /// Where the nodes of the flat graph are.
    pub places: Box<[u32]>,
    /// How nodes are called, by their places.
    pub names: Box<[String]>,
    pub memory: Box<[MemoryNode]>,
    /// Its edges, if those are looked at.
    pub edges: Option<Edges>,
    /// The captures that the graph is of.
    pub captures: Box<[Arc<CaptureLog>]>,
    /// The graph, if findings are to draw it.
    pub drawing: Option<Drawing>,
}

/// The edges of an executable whose nodes are told apart by their places in the [`Order`].
pub(crate) struct Edges {
    /// Of each node, those that an edge leads from.
    pub preds: Box<[Box<[u32]>]>,
    /// Nodes that only stand for edges.
    pub joins: Box<[bool]>,
    /// What plans of the graph are compared by; nothing for a graph of several devices.
    pub plans: Option<Plans>,
}

/// What plans of a graph are compared by.
pub(crate) struct Plans {
    /// How nodes are executed.
    pub classes: Box<[Class]>,
    /// How long they take, in nanoseconds.
    pub durations: Box<[u32]>,
    pub table: CostTable,
}

/// A node that begins or ends an allocation.
pub(crate) struct MemoryNode {
    /// Where the allocation is.
    pub address: u64,
    /// Its bytes, if it begins.
    pub begins: Option<u64>,
    /// The node's place in the [`Order`].
    pub place: u32,
    /// As it is called.
    pub node: String,
}

/// What a command has touched of a page.
pub(super) struct Touch {
    pub(super) command: Arc<Command>,
    pub(super) page: Page,
}

impl Command {
    pub(super) fn party(&self, how: How) -> Party {
        Party { place: self.place(), what: self.what.clone(), how }
    }

    /// Whether it is a kernel of the program's.
    pub(super) fn is_of_kernel(&self) -> bool {
        self.what.starts_with("kernel ")
    }

    /// Where it is, in words.
    pub(super) fn place(&self) -> String {
        match &self.place {
            Place::Host => "the host".into(),
            Place::Stream => format!("stream {}", self.moment.place.0),
            Place::Node { launch, node, .. } => format!("node {node} of executable {}", launch.executable),
        }
    }

    /// How many commands there were with it.
    pub(super) fn number(&self) -> u64 {
        self.moment.number
    }

    /// Where it stands among all that was submitted, and nodes of a launch in an order of theirs.
    pub(super) fn rank(&self) -> (u64, u32, &[(u64, u32)]) {
        let (place, path) = match &self.place {
            Place::Host | Place::Stream => (0, &[][..]),
            Place::Node { place, inside, .. } => (*place, &inside.path[..]),
        };
        (self.moment.number, place, path)
    }

    pub(super) fn shares_launch_with(&self, other: &Self) -> bool {
        // A launch is one command, of several dispatches.
        self.moment.number == other.moment.number
    }

    /// Whether both are dispatches of one launch, by a path of edges, or of two commands that streams, events and waits of
    /// the host put in this order.
    pub(super) fn is_before(&self, later: &Self) -> bool {
        match (&self.place, &later.place) {
            (Place::Node { launch, place, inside, .. }, Place::Node { place: other, inside: next, .. })
                if self.shares_launch_with(later) =>
            {
                match place == other {
                    true => inside.is_before(next),
                    false => place < other && !launch.order.unordered.has(*place, *other),
                }
            }
            _ => {
                let (stream, count) = self.moment.place;
                later.moment.clock.is_behind(stream, count)
            }
        }
    }

    pub(super) fn is_unordered_with(&self, other: &Self) -> bool {
        !self.is_before(other) && !other.is_before(self) && self.rank() != other.rank()
    }
}

#[cfg(test)]
mod tests {
    use aqlipse_graph::Csr;

    use super::*;

    #[test]
    fn turns_come_one_behind_the_other_and_nodes_of_a_turn_as_the_edges_of_its_body_say() {
        // 0 before 1, and 2 beside both.
        let order = Arc::new(Unordered::new(3, &Csr::from_pairs(3, [(1, 0)].into_iter())).unwrap());
        let inside = |path: &[(u64, u32)]| {
            let mut inside = Inside::default();
            path.iter().for_each(|&(turn, place)| inside.enter(turn, &order, place));
            inside
        };
        let before = |one: &[(u64, u32)], other: &[(u64, u32)]| inside(one).is_before(&inside(other));
        assert!(before(&[(0, 0)], &[(0, 1)]) && !before(&[(0, 1)], &[(0, 0)]));
        assert!(
            !before(&[(0, 0)], &[(0, 2)]) && !before(&[(0, 2)], &[(0, 0)]) && !before(&[(0, 0)], &[(0, 0)])
        );
        // The next turn of a loop, and a node of a body within another one.
        assert!(before(&[(0, 2)], &[(3, 0)]) && !before(&[(3, 0)], &[(0, 2)]));
        assert!(before(&[(0, 0), (1, 2)], &[(0, 1)]) && !before(&[(0, 2), (1, 2)], &[(0, 1)]));
        assert!(
            before(&[(0, 2), (1, 2)], &[(0, 2), (2, 0)]) && !before(&[(0, 2), (1, 2)], &[(0, 2), (1, 0)])
        );
    }
}
