//! A command, and what it comes behind.

#![forbid(unsafe_code)]

use std::sync::Arc;

use emulator::{How, Page};

use super::{finding::Party, order::Unordered};
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
    },
}

/// A launch of an executable.
pub(crate) struct Launch {
    pub executable: u64,
    pub order: Arc<Order>,
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
}

/// The nodes of an executable, those included that are about memory alone and not dispatched, numbered so that each edge leads
/// to a greater number.
pub(crate) struct Order {
    pub unordered: Unordered,
    /// Where the nodes of the flat graph are.
    pub places: Box<[u32]>,
    pub memory: Box<[MemoryNode]>,
    /// Its edges, if those are looked at.
    pub edges: Option<Edges>,
}

/// The edges of an executable whose nodes are told apart by their places in the [`Order`].
pub(crate) struct Edges {
    /// Of each node, those that an edge leads from.
    pub preds: Box<[Box<[u32]>]>,
    /// How nodes are called.
    pub names: Box<[String]>,
    /// Nodes that only stand for edges.
    pub joins: Box<[bool]>,
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
    pub(super) fn rank(&self) -> (u64, u32) {
        let place = match &self.place {
            Place::Host | Place::Stream => 0,
            Place::Node { place, .. } => *place,
        };
        (self.moment.number, place)
    }

    pub(super) fn shares_launch_with(&self, other: &Self) -> bool {
        // A launch is one command, of several dispatches.
        self.moment.number == other.moment.number
    }

    /// Whether both are dispatches of one launch, by a path of edges, or of two commands that streams, events and waits of
    /// the host put in this order.
    pub(super) fn is_before(&self, later: &Self) -> bool {
        match (&self.place, &later.place) {
            (Place::Node { launch, place, .. }, Place::Node { place: other, .. })
                if self.shares_launch_with(later) =>
            {
                place < other && !launch.order.unordered.has(*place, *other)
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
