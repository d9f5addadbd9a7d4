//! How long does planning a graph take, and how long the proof of the plan?
//!
//! Nanoseconds a node, for the shapes of `aqlipse bench` with durations that nobody knows, as when a program's graph is
//! instantiated.

use std::{hint::black_box, time::Instant};

use aqlipse::schedule::{Class, CostTable, Problem, check, plan};
use shape::Shape;

// The benchmark does not check when nodes ran.
#[allow(dead_code)]
#[path = "../src/command/bench/shape.rs"]
mod shape;

/// Queues that a plan may use.
const LANES: usize = 4;
const SIZES: [usize; 3] = [145, 1_024, 100_000];
/// Nodes that are planned for each figure.
const NODES: usize = 4_000_000;

fn main() {
    println!(
        "{:<12} {:>7} {:>10} {:>9} {:>9} {:>9} {:>9}",
        "shape", "nodes", "plan", "lanes", "fastest", "median", "proof"
    );
    for shape in Shape::ALL {
        for nodes in SIZES {
            measure(shape, nodes);
        }
    }
}

fn measure(shape: Shape, nodes: usize) {
    let mut preds = aqlipse::graph::Csr::with_capacity(nodes, nodes * 4);
    for node in 0..nodes {
        // CAST: 100,000 nodes.
        preds.push_row(shape.dependencies(node, nodes).map(|before| before as u32));
    }
    let (succs, table) = (preds.transposed(), CostTable::default());
    let (classes, costs) = (vec![Class::Packet; nodes], vec![table.kernel_ns; nodes]);
    let Ok(problem) = Problem::new(&preds, &succs, &classes, &costs) else { return };
    let problem = problem.with_guessed_durations();
    let mut times: Vec<f64> = (0..(NODES / nodes).min(1_000))
        .map(|_| per_node(nodes, || drop(black_box(plan(&problem, LANES, &table)))))
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    let made = plan(&problem, LANES, &table);
    let proof = per_node(nodes, || assert_eq!(check(&problem, &made), Ok(())));
    println!(
        "{:<12} {nodes:>7} {:>10} {:>9} {:>9.1} {:>9.1} {proof:>9.1}",
        shape.name(),
        format!("{:?}", made.candidate),
        made.lanes.len(),
        times[0],
        times[times.len() / 2],
    );
}

fn per_node(nodes: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / nodes as f64
}
