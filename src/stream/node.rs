//! Nodes and graphs with the kernels, events and semaphores of this runtime.

#![forbid(unsafe_code)]

use super::Event;
use crate::{external::ExternalSemaphore, module::Function};

/// A graph template.
pub type Graph = aqlipse_graph::Graph<Function, Event, ExternalSemaphore>;
/// A node of a graph.
pub type Node = aqlipse_graph::Node<Function, Event, ExternalSemaphore>;
/// A node whose graphs run as a value says.
pub type Conditional = aqlipse_graph::Conditional<Function, Event, ExternalSemaphore>;
