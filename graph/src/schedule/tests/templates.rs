//! Random templates of all that graphs are made of, through every plan, to the checker and the executor.

use super::*;
use crate::template::{MemAlloc, MemFree};
use fastrand::Rng;

/// A graph with nested graphs two deep; events stand for packets and copies by engines, and allocations only for order.
fn template(random: &mut Rng, nodes: usize, depth: usize) -> Graph<u32, u32, ()> {
    let mut graph: Graph<u32, u32, ()> = Graph::new();
    let mut ids: Vec<NodeId> = Vec::new();
    for _ in 0..nodes {
        let mut dependencies: Vec<NodeId> = Vec::new();
        for _ in 0..random.usize(..4).min(ids.len()) {
            let id = ids[random.usize(..ids.len())];
            if !dependencies.contains(&id) {
                dependencies.push(id);
            }
        }
        let node = match random.usize(..12) {
            0 if depth > 0 => {
                let nested = 1 + random.usize(..6);
                Node::Child(Box::new(template(random, nested, depth - 1)))
            }
            1 => Node::Empty,
            2 => Node::Host(HostFn::new(|| ())),
            3 => Node::MemAlloc(MemAlloc { address: 0x1000, bytes: 64, device: 0 }),
            4 => Node::MemFree(MemFree { address: 0x1000 }),
            5 => Node::EventWait(1),
            _ => Node::EventRecord(0),
        };
        ids.push(graph.add(node, &dependencies).unwrap());
    }
    graph
}

/// Plans one random template in every way, proves the plans, and runs them in a random legal order.
fn try_template(random: &mut Rng) -> Result<usize, String> {
    let nodes = 1 + random.usize(..40);
    let graph = template(random, nodes, 2);
    // Some nodes are disabled.
    let (modulus, rest) = (2 + random.usize(..12) as u32, random.usize(..12) as u32);
    let enabled = |node: NodeId| node.index() % modulus != rest;
    let flat = flatten(&graph, |node, _| enabled(node)).map_err(|error| error.to_string())?;
    let engine = random.usize(..3) == 0;
    let classes = flat.work.iter().map(|work| match work {
        Some(Node::EventWait(_)) if engine => Class::Engine(0),
        None => Class::Join,
        Some(Node::Host(_)) => Class::Host,
        Some(Node::MemAlloc(_) | Node::MemFree(_)) => Class::Join,
        Some(_) => Class::Packet,
    });
    let equal = random.usize(..2) == 0;
    let dag = Dag {
        preds: flat.graph.preds().clone(),
        succs: flat.graph.succs().clone(),
        classes: classes.collect(),
        costs: (0..flat.graph.len()).map(|_| if equal { 5_000 } else { 100 << random.usize(..10) }).collect(),
        devices: Vec::new(),
    };
    let devices = 1 + random.usize(..6).saturating_sub(3) as u16;
    let dag = dag.spread(|node| (node as u16).wrapping_mul(7) % devices);
    let (problem, table) = (dag.problem(), cost::CDNA3.table);
    let lanes = 1 + random.usize(..4);
    let plans = CANDIDATES.iter().map(|&kind| candidate(&problem, kind, lanes, &table));
    let units: Vec<u32> = (0..dag.classes.len()).map(|_| 1 + random.usize(..400) as u32).collect();
    let guessed = problem.with_guessed_durations();
    let with_units =
        [problem, guessed].map(|problem| problem.with_units(&units).expect("units of each node"));
    let chosen = [problem, guessed, with_units[0], with_units[1]].map(|it| plan(&it, lanes, &table));
    for plan in plans.chain(chosen) {
        check(&problem, &plan).map_err(|fault| format!("{fault}: {dag:?} {plan:?}"))?;
        executor::run(&dag, &plan, random.usize(..1 << 30) as u64)
            .map_err(|wrong| format!("{wrong}: {dag:?} {plan:?}"))?;
    }
    Ok(dag.preds.entries())
}

fn try_templates(count: usize, seed: u64) -> usize {
    let mut random = Rng::with_seed(seed);
    (0..count).map(|at| try_template(&mut random).unwrap_or_else(|wrong| panic!("{at}: {wrong}"))).sum()
}

#[test]
fn plans_of_templates_enforce_every_edge() {
    assert!(try_templates(2_000, 1) > 10_000);
}

#[test]
#[ignore = "takes minutes"]
fn plans_of_a_hundred_thousand_templates_enforce_every_edge() {
    let edges = try_templates(100_000, 2);
    println!("{edges} edges, in {} plans each", CANDIDATES.len() + 4);
}
