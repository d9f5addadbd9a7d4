//! Graphs as files: each one that is made executable, if `AQLIPSE_DUMP` names a folder.

#![forbid(unsafe_code)]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::LazyLock,
};

use serde::Serialize;

use super::{
    Exec, Options, Residence, State, folded,
    kept::{Kept, Order},
    lanes,
};
use crate::{
    MemoryBuffer,
    graph::{
        Node, NodeKind,
        blocks::{Block, blocks},
        dot, flatten,
    },
    schedule::LaneKind,
    template::Template,
};

/// Nodes that a repeated block saves at least where it is shown once.
const SAVES: usize = 8;

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
    /// Of each edge, what keeps it.
    kept: Vec<Kept>,
    /// Nodes that repeat one behind the other.
    blocks: Vec<Block>,
    /// What nodes allocate.
    buffers: Vec<MemoryBuffer>,
    /// The plan that was taken.
    plan: DumpedPlan,
    /// The plans that would be taken with so many queues at most.
    others: Vec<DumpedPlan>,
    /// What no plan can beat.
    critical_path_ns: u64,
    work_ns: u64,
    /// What a launch is.
    launch: &'static str,
    /// Why it is more than a copy of packets into one queue.
    because: Vec<String>,
    lanes: usize,
    kernel_packets: usize,
    barrier_packets: usize,
    signals: usize,
    exec_bytes: usize,
    packet_bytes: usize,
    argument_bytes: usize,
    memory_bytes: u64,
}

/// A plan in numbers.
#[derive(Serialize, PartialEq, Eq)]
struct DumpedPlan {
    queues: usize,
    how: String,
    /// By the scheduler's costs.
    estimate_ns: u64,
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
    /// What it copies or fills.
    bytes: Option<u64>,
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
        let picture = if dump.blocks.is_empty() {
            template.dot(dot::Detail::VERBOSE)
        } else {
            let label = |node: u32| {
                let node = &dump.nodes[node as usize];
                format!("{}\n{}", node.id, node.name)
            };
            // CAST: graphs hold fewer than 2^32 nodes.
            let nodes = dump.nodes.len() as u32;
            folded::dot(&format!("graph {}", dump.graph), nodes, label, &dump.edges, &dump.blocks)
        };
        fs::write(path.with_extension("dot"), picture)
    }

    fn dumped(&self, template: &Template) -> crate::Result<Dump> {
        let flat = flatten::flatten(template.graph(), |_, _| true)?;
        let memory = template.memory_graph()?;
        let (state, report) = (self.state(), self.report());
        let unit = |place: usize| {
            let origin = flat.graph.nodes()[place].origin;
            self.0.flat.find(origin).map(|flat| state.main[flat as usize])
        };
        let order = Order::of(&state.image);
        let kept = memory.edges.iter().map(|&(from, to)| match (unit(from as usize), unit(to as usize)) {
            (Some(from), Some(to)) => order.keeps(from, to),
            _ => Kept::Others,
        });
        let node = |place: usize| {
            let (origin, unit) = (flat.graph.nodes()[place].origin, unit(place));
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
                bytes: match work {
                    Some(Node::Memcpy(copy)) => copy.bytes(),
                    Some(Node::Memset(fill)) => fill.bytes(),
                    _ => None,
                },
            }
        };
        let nodes: Vec<_> = (0..flat.graph.len()).map(node).collect();
        let labels: Vec<_> = nodes.iter().map(|node| (node.kind, &node.name)).collect();
        let blocks = blocks(&labels, flat.graph.preds(), SAVES);
        let others = self.other_plans(&state)?;
        let (launch, because) = self.launches(&state);
        Ok(Dump {
            process: process::id(),
            executable: self.number(),
            graph: template.graph().id().to_string(),
            kept: kept.collect(),
            blocks,
            nodes,
            edges: memory.edges,
            buffers: memory.buffers,
            plan: DumpedPlan {
                queues: report.lanes,
                how: report.candidate.to_string(),
                estimate_ns: report.estimate_ns,
            },
            others,
            critical_path_ns: report.bounds.critical_path_ns,
            work_ns: report.bounds.work_ns,
            launch,
            because,
            lanes: report.lanes,
            kernel_packets: report.kernel_packets,
            barrier_packets: report.barrier_packets,
            signals: report.signals,
            exec_bytes: report.exec_bytes,
            packet_bytes: state.image.bytes(),
            argument_bytes: state.arena.len(),
            memory_bytes: report.memory_bytes,
        })
    }

    /// The plans with fewer queues, and with as many as there may be.
    fn other_plans(&self, state: &State) -> crate::Result<Vec<DumpedPlan>> {
        let known = self.0.instance.durations().known();
        let flat = self.flatten_again()?;
        let mut plans = Vec::new();
        for most in 1..=lanes(self.0.options) {
            let options = Options { lanes: most, ..self.0.options };
            let plan = self.schedule_again(state, &flat, &known, options)?.plan;
            let plan = DumpedPlan {
                queues: plan.lanes.iter().filter(|lane| lane.kind == LaneKind::Queue).count(),
                how: plan.candidate.to_string(),
                estimate_ns: plan.estimate_ns(),
            };
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        Ok(plans)
    }

    /// What a launch of the executable is, and why it is not less.
    fn launches(&self, state: &State) -> (&'static str, Vec<String>) {
        let image = &state.image;
        let count = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let (on_device, on_host) = self.report().conditionals;
        let more = |count: usize, what: &str| (count > 1).then(|| format!("{count} {what}"));
        let because = [
            more(image.queues(), "queues"),
            more(self.0.devices.len(), "devices"),
            count(image.signals as usize, "signals between packets"),
            count(image.host.len(), "calls on the host"),
            count(image.engine_steps().count(), "copies by copy engines"),
            count(image.events.len(), "events"),
            count(on_device, "conditional nodes that the packet processor takes"),
            count(on_host, "conditional nodes that the host drives"),
        ];
        let launch = match self.report().residence {
            Some(Residence::IndirectBuffer) => {
                "one packet: the packet processor takes the packets from where they lie"
            }
            Some(Residence::Launcher) => "a kernel that copies the packets into queues of the device's own",
            None if state.is_plain => "a copy of the packets into the stream's queue",
            None => "packets that the host fills in and publishes",
        };
        (launch, because.into_iter().flatten().collect())
    }
}
