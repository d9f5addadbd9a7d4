//! Graphs of this runtime: the templates of [`aqlipse_graph`], whose nodes refer to the kernels, events and semaphores of
//! this crate.

pub use aqlipse_graph::template::*;

use crate::{event::Event, external::ExternalSemaphore, module::Function};

/// A graph template.
pub type Graph = aqlipse_graph::Graph<Function, Event, ExternalSemaphore>;
/// A node of a graph.
pub type Node = aqlipse_graph::Node<Function, Event, ExternalSemaphore>;
/// A node whose graphs run as a value says.
pub type Conditional = aqlipse_graph::Conditional<Function, Event, ExternalSemaphore>;
