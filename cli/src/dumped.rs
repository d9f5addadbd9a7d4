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
    pub buffers: Vec<MemoryBuffer>,
    pub lanes: usize,
    pub kernel_packets: usize,
    pub barrier_packets: usize,
    pub signals: usize,
    pub exec_bytes: usize,
    pub memory_bytes: u64,
}

/// One of its nodes.
#[derive(Debug, Deserialize)]
pub struct Node {
    pub id: String,
    /// None of a join.
    pub kind: Option<String>,
    pub name: String,
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
            None => Ok(graph),
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
