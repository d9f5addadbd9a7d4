//! Graphs as files: each one that is made executable, if `AQLIPSE_DUMP` names a folder.

#![forbid(unsafe_code)]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::LazyLock,
};

use serde::Serialize;

use super::Exec;
use crate::{
    MemoryBuffer,
    graph::{Node, NodeKind, dot, flatten},
    template::Template,
};

/// The environment variable with the folder for graphs that are made executable: as `PROCESS-EXECUTABLE.json` and `.dot`.
pub const DUMP_VARIABLE: &str = "AQLIPSE_DUMP";

static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folder = env::var_os(DUMP_VARIABLE).filter(|folder| !folder.is_empty())?;
    Some(folder.into())
});

/// An executable graph as JSON (docs/trace.md).
#[derive(Serialize)]
struct Dump {
    process: u32,
    executable: u64,
    /// The number of the graph, which its nodes have before the point.
    graph: String,
    nodes: Vec<DumpedNode>,
    /// Pairs of nodes, by their places: the second waits for the first.
    edges: Vec<(u32, u32)>,
    /// What nodes allocate.
    buffers: Vec<MemoryBuffer>,
    lanes: usize,
    kernel_packets: usize,
    barrier_packets: usize,
    signals: usize,
    exec_bytes: usize,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct DumpedNode {
    /// As records of launches have it.
    id: String,
    /// None of a join, which stands for empty nodes.
    kind: Option<NodeKind>,
    name: String,
    /// The lane of the plan, if a packet does its work.
    lane: Option<u32>,
    device: Option<usize>,
}

/// The folder for graphs, if there is one.
pub(super) fn folder() -> Option<&'static Path> {
    FOLDER.as_deref()
}

impl Exec {
    /// Writes the graph of the executable into the folder, if there is one. That it cannot is said in the log.
    pub(super) fn dump(&self, template: &Template) {
        let Some(folder) = &*FOLDER else { return };
        std::hint::cold_path();
        let path = folder.join(format!("{}-{}", process::id(), self.number()));
        if let Err(error) = self.write(template, path) {
            tracing::error!("{DUMP_VARIABLE}: {}: {error}", folder.display());
        }
    }

    fn write(&self, template: &Template, path: PathBuf) -> io::Result<()> {
        let dump = self.dumped(template).map_err(io::Error::other)?;
        let mut json = serde_json::to_string(&dump)?;
        json.push('\n');
        fs::write(path.with_extension("json"), json)?;
        fs::write(path.with_extension("dot"), template.dot(dot::Detail::VERBOSE))
    }

    fn dumped(&self, template: &Template) -> crate::Result<Dump> {
        let flat = flatten::flatten(template.graph(), |_, _| true)?;
        let memory = template.memory_graph()?;
        let (state, report) = (self.state(), self.report());
        let node = |place: usize| {
            let origin = flat.graph.nodes()[place].origin;
            let unit = self.0.flat.find(origin).map(|flat| state.main[flat as usize]);
            let work = flat.work[place];
            DumpedNode {
                id: origin.to_string(),
                kind: work.map(Node::kind),
                name: match work {
                    Some(Node::Kernel(kernel)) => dot::readable(kernel.function.name()),
                    Some(node) => format!("{:?}", node.kind()).to_lowercase(),
                    None => "join".into(),
                },
                lane: unit.and_then(|unit| state.image.places[unit as usize]).map(|(lane, _)| lane),
                device: unit.map(|unit| usize::from(self.0.placements[unit as usize].device)),
            }
        };
        Ok(Dump {
            process: process::id(),
            executable: self.number(),
            graph: template.graph().id().to_string(),
            nodes: (0..flat.graph.len()).map(node).collect(),
            edges: memory.edges,
            buffers: memory.buffers,
            lanes: report.lanes,
            kernel_packets: report.kernel_packets,
            barrier_packets: report.barrier_packets,
            signals: report.signals,
            exec_bytes: report.exec_bytes,
            memory_bytes: report.memory_bytes,
        })
    }
}
