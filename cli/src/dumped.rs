//! Graphs as the runtime writes them (`AQLIPSE_DUMP`, docs/trace.md).

use std::{ffi::OsStr, fs, io, path::Path};

use aqlipse::MemoryBuffer;
use serde::Deserialize;

/// An executable graph.
#[derive(Debug, Deserialize)]
pub struct Graph {
    pub process: i32,
    pub executable: u64,
    pub graph: String,
    /// Each behind all that it waits for.
    pub nodes: Vec<Node>,
    /// By places in the list: the second waits for the first.
    pub edges: Vec<(usize, usize)>,
    /// Of each edge, what keeps its order.
    pub kept: Vec<Kept>,
    pub blocks: Vec<Block>,
    pub buffers: Vec<MemoryBuffer>,
    pub plan: Plan,
    /// With fewer queues, and with as many as there may be.
    pub others: Vec<Plan>,
    pub critical_path_ns: u64,
    pub work_ns: u64,
    /// What a launch is.
    pub launch: String,
    /// Why it is not less.
    pub because: Vec<String>,
    pub lanes: usize,
    pub kernel_packets: usize,
    pub barrier_packets: usize,
    pub signals: usize,
    pub exec_bytes: usize,
    pub packet_bytes: usize,
    pub argument_bytes: usize,
    pub memory_bytes: u64,
}

/// One of its nodes.
#[derive(Debug, Deserialize)]
pub struct Node {
    pub id: String,
    /// None of a join.
    pub kind: Option<String>,
    pub name: String,
    /// What it copies or fills.
    pub bytes: Option<u64>,
}

/// What keeps the order of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// A barrier bit of the second node's own.
    Bit,
    /// The queue's order behind a bit of another node.
    Lane,
    Signal,
    /// Other edges.
    Others,
}

/// Nodes that repeat one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Block {
    pub first: usize,
    pub nodes: usize,
    pub times: usize,
}

impl Block {
    /// Whether a graph has as many nodes.
    fn fits(&self, nodes: usize) -> bool {
        let length = self.nodes.checked_mul(self.times).and_then(|length| length.checked_add(self.first));
        self.nodes > 0 && length.is_some_and(|end| end <= nodes)
    }

    pub fn contains(&self, node: usize) -> bool {
        (self.first..self.first + self.nodes * self.times).contains(&node)
    }

    /// Whether the node is in it, but not of its first time.
    pub fn repeats(&self, node: usize) -> bool {
        self.contains(node) && node >= self.first + self.nodes
    }
}

/// A plan in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Plan {
    pub queues: usize,
    /// How it was made.
    pub how: String,
    pub estimate_ns: u64,
}

impl Graph {
    /// The graph in a file.
    ///
    /// # Errors
    /// Those of the file; [`io::ErrorKind::InvalidData`] for one that is no such graph.
    pub fn read(path: &Path) -> io::Result<Self> {
        let invalid =
            |why: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()));
        let text = fs::read(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let graph: Self = serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
        // What is computed of it goes from node to node in this order.
        match graph.edges.iter().find(|(before, after)| before >= after || *after >= graph.nodes.len()) {
            Some(edge) => Err(invalid(format!("the edge {edge:?} leads to no later node"))),
            None if graph.kept.len() != graph.edges.len() => Err(invalid("not each edge is kept".into())),
            None => match graph.blocks.iter().find(|block| !block.fits(graph.nodes.len())) {
                Some(block) => Err(invalid(format!("{block:?} ends behind the last node"))),
                None => Ok(graph),
            },
        }
    }

    /// The graphs in a folder, in the order of their names.
    ///
    /// # Errors
    /// Those of the folder and as for [`Graph::read`].
    pub fn all_in(folder: &Path) -> io::Result<Vec<Self>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension() == Some(OsStr::new("json")) {
                paths.push(path);
            }
        }
        let mut graphs = paths.iter().map(|path| Self::read(path)).collect::<io::Result<Vec<_>>>()?;
        graphs.sort_by_key(|graph| (graph.process, graph.executable));
        Ok(graphs)
    }

    /// Of each node, those that it waits for.
    pub fn before(&self) -> Vec<Vec<usize>> {
        let mut before = vec![Vec::new(); self.nodes.len()];
        self.edges.iter().for_each(|&(from, to)| before[to].push(from));
        before
    }
}
