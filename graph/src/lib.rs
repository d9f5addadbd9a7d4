//! Graph templates, and the compiler that turns them into packets, on no device.
//!
//! A [`Graph`] holds nodes and edges; [`compile::compile`] makes AQL packets of it for a [`compile::Target`], which says
//! what each node becomes on its device. `examples/packets.rs` compiles a graph and prints its packets.
//!
//! ```
//! use aqlipse_graph::{Graph, HostFn, Node};
//!
//! let mut graph: Graph<(), (), ()> = Graph::new();
//! let first = graph.add(Node::Host(HostFn::new(|| println!("first"))), &[])?;
//! let second = graph.add(Node::Empty, &[first])?;
//! assert_eq!(graph.topology().order()?, [first, second]);
//! # Ok::<(), aqlipse_graph::Error>(())
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`template`] | nodes, edges, nested graphs |
//! | [`schedule`] | lanes, order, barrier bits and waits for a graph; the checker of plans |
//! | [`image`] | a plan as AQL packets |
//! | [`antichain`] | the heaviest set of buffers that are alive together |
//! | [`memory`] | which buffers of a graph share memory |
//! | [`mod@compile`] | the passes, one behind the other |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `template`, `antichain`
//! 2. `schedule`
//! 3. `image`, `memory`
//! 4. `compile`

#![forbid(unsafe_code)]

pub mod antichain;
pub mod compile;
pub mod image;
pub mod memory;
pub mod schedule;
pub mod template;

pub use template::*;
