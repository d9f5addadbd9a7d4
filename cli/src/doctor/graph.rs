//! `aqlipse doctor graph`: what an executable graph is made of, and how it differs from another.

use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    ffi::OsString,
    fmt,
    path::PathBuf,
};

use aqlipse::DUMP_VARIABLE;
use aqlipse_graph::antichain::bits::Bits;
use clap::Args;

use crate::{
    dumped::{Block, Graph, Kept, Node, Plan},
    run::on_this_library,
};

/// Edges, nodes and differences that are listed at most.
const LISTED: usize = 10;

/// Pairs of nodes that are looked at to find counterparts, at most: 4 bytes each.
const MOST_PAIRS: usize = 1 << 28;

/// What to look at.
#[derive(Args)]
pub struct Request {
    /// A graph that `AQLIPSE_DUMP` has had written; with a second one, what differs
    #[arg(num_args = 1..=2, required_unless_present = "program", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run this program, and those that it starts, and look at each graph that they make executable; the log says why
    /// captures end early and updates are refused
    #[arg(last = true, conflicts_with = "files", value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Says it on stdout.
pub fn run(request: &Request) -> Result<(), Box<dyn Error>> {
    match &request.files[..] {
        [] => of_program(&request.program),
        [one] => {
            print!("{}", Examined::of(&Graph::read(one)?));
            Ok(())
        }
        [one, other, ..] => {
            let (one, other) = (Graph::read(one)?, Graph::read(other)?);
            if one.nodes.len().saturating_mul(other.nodes.len()) > MOST_PAIRS {
                return Err("the graphs have too many nodes to be compared".into());
            }
            print!("{}", difference(&one, &other));
            Ok(())
        }
    }
}

fn of_program(program: &[OsString]) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let Some(mut command) = on_this_library(program) else { return Err("the library is not there".into()) };
    command.env(DUMP_VARIABLE, folder.path());
    // The program may have asked for more.
    if std::env::var_os("AQLIPSE_LOG").is_none() {
        command.env("AQLIPSE_LOG", "warn");
    }
    let status = command.status()?;
    for graph in Graph::all_in(folder.path())? {
        println!("process {}, executable {}:", graph.process, graph.executable);
        print!("{}", Examined::of(&graph));
    }
    if status.success() { Ok(()) } else { Err(format!("the program: {status}").into()) }
}

/// A graph in numbers, and what it does not need.
struct Examined<'g> {
    graph: &'g Graph,
    /// How many nodes there are of each kind.
    kinds: BTreeMap<&'g str, usize>,
    /// Nodes of which each waits for the one before, as many as there can be.
    chain: usize,
    /// Edges that others say already.
    needless: Vec<(usize, usize)>,
}

impl<'g> Examined<'g> {
    fn of(graph: &'g Graph) -> Self {
        let mut kinds = BTreeMap::new();
        for node in &graph.nodes {
            *kinds.entry(kind(node)).or_default() += 1;
        }
        let before = graph.before();
        let mut depth = vec![1; graph.nodes.len()];
        for (node, before) in before.iter().enumerate() {
            depth[node] = before.iter().map(|&other| depth[other] + 1).max().unwrap_or(1);
        }
        Self { graph, kinds, chain: depth.into_iter().max().unwrap_or_default(), needless: needless(&before) }
    }
}

/// Edges between nodes that a longer path connects, too.
fn needless(before: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut needless = Vec::new();
    let mut reached: Vec<Bits> = Vec::with_capacity(before.len());
    for (node, before) in before.iter().enumerate() {
        let mut here = Bits::new(before.len().max(node + 1));
        let mut latest_first = before.clone();
        latest_first.sort_unstable_by_key(|&other| std::cmp::Reverse(other));
        for other in latest_first {
            if here.contains(other) {
                needless.push((other, node));
            } else {
                here.unite(&reached[other]);
                here.insert(other);
            }
        }
        reached.push(here);
    }
    needless.sort_unstable();
    needless
}

fn kind(node: &Node) -> &str {
    node.kind.as_deref().unwrap_or("Join")
}

fn named(node: &Node) -> String {
    match node.kind.as_deref() {
        Some("Kernel") => format!("{} (kernel {})", node.id, node.name),
        _ => format!("{} ({})", node.id, node.name),
    }
}

impl fmt::Display for Examined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { graph, kinds, chain, needless } = self;
        let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
        let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        writeln!(f, "graph {}: {nodes} nodes ({}), {edges} edges", graph.graph, kinds.join(", "))?;
        for block in &graph.blocks {
            let named = |place: usize| named(&graph.nodes[block.first + place]);
            let nodes = if block.nodes == 1 { "node" } else { "nodes" };
            writeln!(
                f,
                "  {} times: {} {nodes}, {} to {}",
                block.times,
                block.nodes,
                named(0),
                named(block.nodes - 1)
            )?;
        }
        let at_once = nodes as f64 / (*chain).max(1) as f64;
        writeln!(f, "  the longest chain has {chain} nodes: {at_once:.1} at once if all take as long")?;
        writeln!(
            f,
            "  {} lanes, {} kernel packets, {} barrier packets, {} signals, {} bytes",
            graph.lanes, graph.kernel_packets, graph.barrier_packets, graph.signals, graph.exec_bytes
        )?;
        writeln!(f, "  of these {} in packets, {} in arguments", graph.packet_bytes, graph.argument_bytes)?;
        explain_plan(graph, f)?;
        explain_order(graph, f)?;
        writeln!(f, "  a launch is {}", graph.launch)?;
        if !graph.because.is_empty() {
            writeln!(f, "    the plan has {}", graph.because.join(", "))?;
        }
        let moved: u64 = graph.nodes.iter().filter_map(|node| node.bytes).fold(0, u64::saturating_add);
        if moved > 0 {
            writeln!(f, "  copies and fills of {moved} bytes")?;
        }
        if !graph.buffers.is_empty() {
            let asked: u64 = graph.buffers.iter().map(|buffer| buffer.bytes).sum();
            let (count, has) = (graph.buffers.len(), graph.memory_bytes);
            writeln!(f, "  {count} allocations of {asked} bytes, in {has} bytes")?;
        }
        if !needless.is_empty() {
            writeln!(f, "  {} edges order what others order already:", needless.len())?;
        }
        list(graph, needless, "to", f)
    }
}

/// Names some edges; of those of a block, the ones of its first time and from there.
fn list(graph: &Graph, edges: &[(usize, usize)], verb: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_shown = |&(from, to): &(usize, usize)| {
        let is_first = |block: &Block| !block.repeats(from) && (!block.repeats(to) || block.contains(from));
        graph.blocks.iter().all(is_first)
    };
    let shown: Vec<_> = edges.iter().copied().filter(is_shown).take(LISTED).collect();
    for &(from, to) in &shown {
        writeln!(f, "    {} {verb} {}", named(&graph.nodes[from]), named(&graph.nodes[to]))?;
    }
    match edges.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(f, "    and {more} more"),
    }
}

/// Says why the plan is this one: what others would take, and what none can beat.
fn explain_plan(graph: &Graph, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let time = |nanoseconds: u64| format!("{:.1} us", nanoseconds as f64 / 1e3);
    let queues =
        |plan: &Plan| format!("{} {}", plan.queues, if plan.queues == 1 { "queue" } else { "queues" });
    let plan = &graph.plan;
    writeln!(
        f,
        "  plan: {}: {}; {} by the scheduler's costs",
        queues(plan),
        plan.how,
        time(plan.estimate_ns)
    )?;
    let (path, work) = (time(graph.critical_path_ns), time(graph.work_ns));
    writeln!(f, "    its longest path takes {path}, and its packets {work} one after the other")?;
    for other in graph.others.iter().filter(|other| *other != plan) {
        writeln!(f, "    instead: {}: {}; {}", queues(other), other.how, time(other.estimate_ns))?;
    }
    Ok(())
}

/// Says what keeps the order of edges.
fn explain_order(graph: &Graph, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if graph.edges.is_empty() {
        return Ok(());
    }
    let all = [
        (Kept::Bit, "by a barrier bit of their own"),
        (Kept::Lane, "by the order that a queue has already"),
        (Kept::Signal, "by a signal"),
        (Kept::Others, "by other edges"),
    ];
    let count = |kept: Kept| graph.kept.iter().filter(|&&by| by == kept).count();
    let counted = all.iter().map(|&(kept, what)| (count(kept), what)).filter(|(count, _)| *count > 0);
    let counted: Vec<_> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    writeln!(f, "  edges are kept: {}", counted.join(", "))?;
    let by_signals = graph.edges.iter().zip(&graph.kept).filter(|(_, kept)| **kept == Kept::Signal);
    let by_signals: Vec<_> = by_signals.map(|(&edge, _)| edge).collect();
    list(graph, &by_signals, "signals", f)
}

/// What one graph has and another has not: nodes that have no counterpart, and edges between those that have.
fn difference(one: &Graph, other: &Graph) -> String {
    let pairs = counterparts(one, other);
    let paired: HashMap<usize, usize> = pairs.iter().copied().collect();
    let back: HashMap<usize, usize> = pairs.iter().map(|&(here, there)| (there, here)).collect();
    let mut lines = Vec::new();
    let mut alone = |sign: &str, graph: &Graph, pairs: &HashMap<usize, usize>| {
        let nodes = graph.nodes.iter().enumerate().filter(|(node, _)| !pairs.contains_key(node));
        lines.extend(nodes.map(|(_, node)| format!("{sign} node {}", named(node))));
    };
    alone("-", one, &paired);
    alone("+", other, &back);
    let mut edges = |sign: &str, graph: &Graph, pairs: &HashMap<usize, usize>, against: &Graph| {
        for &(from, to) in &graph.edges {
            let (Some(&other_from), Some(&other_to)) = (pairs.get(&from), pairs.get(&to)) else { continue };
            if !against.edges.contains(&(other_from, other_to)) {
                lines.push(format!(
                    "{sign} edge {} to {}",
                    named(&graph.nodes[from]),
                    named(&graph.nodes[to])
                ));
            }
        }
    };
    edges("-", one, &paired, other);
    edges("+", other, &back, one);
    let counts = (pairs.len(), one.nodes.len(), other.nodes.len());
    lines.insert(0, format!("{} of {} and {} nodes have a counterpart", counts.0, counts.1, counts.2));
    lines.push(String::new());
    lines.join("\n")
}

/// Nodes of two graphs that are of the same kind and name, in the order in which both have them: the longest such row.
fn counterparts(one: &Graph, other: &Graph) -> Vec<(usize, usize)> {
    let (rows, columns) = (one.nodes.len(), other.nodes.len());
    let same = |here: usize, there: usize| {
        let (here, there) = (&one.nodes[here], &other.nodes[there]);
        (kind(here), &here.name) == (kind(there), &there.name)
    };
    // The length of the longest row behind each pair of places.
    let mut longest = vec![0u32; (rows + 1) * (columns + 1)];
    let at = |here: usize, there: usize| here * (columns + 1) + there;
    for here in (0..rows).rev() {
        for there in (0..columns).rev() {
            longest[at(here, there)] = match same(here, there) {
                true => longest[at(here + 1, there + 1)] + 1,
                false => longest[at(here + 1, there)].max(longest[at(here, there + 1)]),
            };
        }
    }
    let (mut here, mut there, mut pairs) = (0, 0, Vec::new());
    while here < rows && there < columns {
        if same(here, there) {
            pairs.push((here, there));
            (here, there) = (here + 1, there + 1);
        } else if longest[at(here + 1, there)] >= longest[at(here, there + 1)] {
            here += 1;
        } else {
            there += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: &[(&str, &str)], edges: &[(usize, usize)]) -> Graph {
        let node = |(place, (kind, name)): (usize, &(&str, &str))| Node {
            id: format!("1.{place}"),
            kind: Some((*kind).into()),
            name: (*name).into(),
            bytes: (*kind == "Memset").then_some(4096),
        };
        Graph {
            process: 1,
            executable: 1,
            graph: "1".into(),
            nodes: nodes.iter().enumerate().map(node).collect(),
            edges: edges.to_vec(),
            kept: edges
                .iter()
                .map(|(from, to)| if to - from == 1 { Kept::Bit } else { Kept::Signal })
                .collect(),
            blocks: Vec::new(),
            buffers: Vec::new(),
            plan: Plan { queues: 2, how: "chains".into(), estimate_ns: 4_000 },
            others: vec![Plan { queues: 1, how: "one queue".into(), estimate_ns: 5_300 }],
            critical_path_ns: 3_000,
            work_ns: 4_000,
            launch: "packets".into(),
            because: vec!["2 queues".into(), "1 events".into()],
            lanes: 1,
            kernel_packets: nodes.len(),
            barrier_packets: 0,
            signals: 1,
            exec_bytes: 100,
            packet_bytes: 60,
            argument_bytes: 40,
            memory_bytes: 0,
        }
    }

    const DIAMOND: [(&str, &str); 4] =
        [("Memset", "memset"), ("Kernel", "left"), ("Kernel", "right"), ("Kernel", "join")];

    #[test]
    fn edges_that_a_path_stands_for_are_listed() {
        let graph = graph(&DIAMOND, &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]);
        let expected = "\
graph 1: 4 nodes (3 Kernel, 1 Memset), 5 edges
  the longest chain has 3 nodes: 1.3 at once if all take as long
  1 lanes, 4 kernel packets, 0 barrier packets, 1 signals, 100 bytes
  of these 60 in packets, 40 in arguments
  plan: 2 queues: chains; 4.0 us by the scheduler's costs
    its longest path takes 3.0 us, and its packets 4.0 us one after the other
    instead: 1 queue: one queue; 5.3 us
  edges are kept: 2 by a barrier bit of their own, 3 by a signal
    1.0 (memset) signals 1.2 (kernel right)
    1.1 (kernel left) signals 1.3 (kernel join)
    1.0 (memset) signals 1.3 (kernel join)
  a launch is packets
    the plan has 2 queues, 1 events
  copies and fills of 4096 bytes
  1 edges order what others order already:
    1.0 (memset) to 1.3 (kernel join)
";
        assert_eq!(Examined::of(&graph).to_string(), expected);
    }

    #[test]
    fn a_block_is_told_once() {
        let nodes: Vec<_> =
            (0..12).map(|node| ("Kernel", if node % 2 == 0 { "scan" } else { "add" })).collect();
        let edges: Vec<_> =
            (1..12).map(|node| (node - 1, node)).chain((2..12).map(|node| (node - 2, node))).collect();
        let mut graph = graph(&nodes, &edges);
        graph.blocks = vec![Block { first: 0, nodes: 2, times: 6 }];
        let text = Examined::of(&graph).to_string();
        assert!(text.contains("\n  6 times: 2 nodes, 1.0 (kernel scan) to 1.1 (kernel add)\n"), "{text}");
        let list = text.split("order already:\n").nth(1).unwrap();
        let expected =
            ["1.0 (kernel scan) to 1.2 (kernel scan)", "1.1 (kernel add) to 1.3 (kernel add)", "and 8 more"];
        assert_eq!(list.lines().map(str::trim_start).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn graphs_differ_by_nodes_without_a_counterpart_and_by_edges() {
        let one = graph(&DIAMOND, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let nodes = [("Memset", "memset"), ("Kernel", "left"), ("Memcpy", "memcpy"), ("Kernel", "join")];
        let other = graph(&nodes, &[(0, 1), (0, 2), (2, 3)]);
        let expected = "\
3 of 4 and 4 nodes have a counterpart
- node 1.2 (kernel right)
+ node 1.2 (memcpy)
- edge 1.1 (kernel left) to 1.3 (kernel join)
";
        assert_eq!(difference(&one, &other), expected);
        assert_eq!(difference(&one, &one), "4 of 4 and 4 nodes have a counterpart\n");
    }
}
