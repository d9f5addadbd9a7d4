//! The memory of a graph as data: for reports and files.
//!
//! As JSON it is an object:
//!
//! ```json
//! {
//!   "nodes": ["alloc a", "fill a", "free a", "alloc b"],
//!   "edges": [[0, 1], [1, 2], [2, 3]],
//!   "buffers": [
//!     { "name": "a", "bytes": 4096, "align": 256, "alloc": 0, "free": 2 },
//!     { "name": "b", "bytes": 1024, "alloc": 3 }
//!   ]
//! }
//! ```
//!
//! | field | what it says |
//! |---|---|
//! | `nodes` | what each node is called; others name it by its place in the list, from 0 |
//! | `edges` | pairs of nodes: the second waits for the first |
//! | `buffers` | `name`; `bytes`; `align`, a power of two, 256 if it is missing; `alloc`, the node that allocates it; `free`, the node that frees it, missing or `null` if it outlives the graph |

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::template::{Error, Graph, Node, flatten::flatten};

/// What graph memory is aligned to unless a file says otherwise.
const ALIGN: u64 = 256;

/// A graph as far as its memory goes; see the module for the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryGraph {
    /// What each node is called.
    pub nodes: Vec<String>,
    /// Pairs of nodes, of which the second waits for the first.
    pub edges: Vec<(u32, u32)>,
    /// The memory that nodes allocate.
    pub buffers: Vec<MemoryBuffer>,
}

/// Memory that a node of a graph allocates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryBuffer {
    /// What it is called.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A power of two.
    #[serde(default = "usual_alignment")]
    pub align: u64,
    /// The node that allocates it.
    pub alloc: u32,
    /// The node that frees it, if there is one in the graph.
    #[serde(default)]
    pub free: Option<u32>,
}

fn usual_alignment() -> u64 {
    ALIGN
}

impl MemoryGraph {
    /// The memory of a graph, nested ones included. Kernels are called as `kernel` says, other nodes by their kinds.
    ///
    /// # Errors
    /// [`Error::Cycle`].
    pub fn of<K, E, S>(graph: &Graph<K, E, S>, kernel: impl Fn(&K) -> String) -> Result<Self, Error> {
        let flat = flatten(graph, |_, _| true)?;
        let mut it = Self::default();
        // An address may be used again behind its free: nodes come in an order that respects the edges.
        let mut open: HashMap<u64, usize> = HashMap::new();
        for (at, work) in flat.work.iter().enumerate() {
            // CAST: graphs hold fewer than 2^32 nodes.
            let at = at as u32;
            it.edges.extend(flat.graph.preds().row(at).iter().map(|&before| (before, at)));
            it.nodes.push(match work {
                None => format!("join {at}"),
                Some(Node::Kernel(node)) => format!("{} {at}", kernel(&node.function)),
                Some(node) => format!("{:?} {at}", node.kind()),
            });
            match work {
                Some(Node::MemAlloc(node)) => {
                    open.insert(node.address, it.buffers.len());
                    let name = format!("{:#x}", node.address);
                    it.buffers.push(MemoryBuffer {
                        name,
                        bytes: node.bytes,
                        align: ALIGN,
                        alloc: at,
                        free: None,
                    });
                }
                // What another graph has allocated is none of this one's.
                Some(Node::MemFree(node)) => {
                    if let Some(buffer) = open.remove(&node.address) {
                        it.buffers[buffer].free = Some(at);
                    }
                }
                _ => {}
            }
        }
        Ok(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_uses_an_address_again_has_two_buffers() {
        use crate::template::{MemAlloc, MemFree};
        let mut graph: Graph<(), (), ()> = Graph::new();
        let alloc = |bytes| Node::MemAlloc(MemAlloc { address: 0x1000, bytes, device: 0 });
        let free = || Node::MemFree(MemFree { address: 0x1000 });
        let mut last = graph.add(alloc(64), &[]).unwrap();
        for node in [free(), alloc(32), free()] {
            last = graph.add(node, &[last]).unwrap();
        }
        graph.add(Node::MemFree(MemFree { address: 0x9000 }), &[]).unwrap();
        let memory = MemoryGraph::of(&graph, |()| String::new()).unwrap();
        let lives: Vec<_> = memory.buffers.iter().map(|it| (it.bytes, it.alloc, it.free)).collect();
        assert_eq!(lives, [(64, 0, Some(1)), (32, 2, Some(3))]);
    }
}
