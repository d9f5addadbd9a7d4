//! Graphs of this runtime: the templates of [`aqlipse_graph`], whose nodes refer to the kernels, events and semaphores of
//! this crate.

pub use aqlipse_graph::template::*;

pub use crate::stream::{Conditional, Graph, Node};
