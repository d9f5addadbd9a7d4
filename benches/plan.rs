//! How long does planning a graph take, and how long the proof of the plan?
//!
//! Nanoseconds a node, for the shapes of `aqlipse bench` with durations that nobody knows, as when a program's graph is
//! instantiated; and for random layers, with compute units, which graphs of up to 512 nodes are planned with more care for.
//!
//! What was tried for plans, in the simulator (`aqlipse bench --simulate`), and left out:
//! - A list schedule that knows that nodes of a lane run concurrently: it fills one lane, where each node holds back the
//!   next one.
//! - List schedules of perturbed durations, or of counted compute units: no better.
//! - Random changes of a plan: better, but far too slow.
//!
//! The order inside a level (first the node with more nodes behind it, of equal ones the one that fills fewer units) halves
//! the losses of chains that are spread level by level. The tests `table_of_distances_from_the_best_plan` and
//! `table_of_bytes` of the crate `aqlipse` (ignored; run them in a release build with `--nocapture`) print how far plans of
//! small graphs are from the best of all plans, in time and in bytes.

use std::{hint::black_box, time::Instant};

use aqlipse::{
    graph::Csr,
    schedule::{Class, CostTable, Problem, check, plan},
};
use aqlipse_bench::shape::Shape;

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
            let mut preds = Csr::with_capacity(nodes, nodes * 4);
            for node in 0..nodes {
                // CAST: 100,000 nodes.
                preds.push_row(shape.dependencies(node, nodes).map(|before| before as u32));
            }
            measure(&shape.name(), &preds);
        }
    }
    for nodes in [32, 145, 500, 1_024, 100_000] {
        measure("random", &random_layers(nodes));
    }
}

/// Layers of 1 to 8 nodes, each behind up to three nodes of the layer before. Recorded times are of these graphs: the
/// generator stays as it is.
fn random_layers(nodes: usize) -> Csr {
    let mut state = 1u32;
    let mut below = |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % bound
    };
    let mut preds = Csr::with_capacity(nodes, nodes * 3);
    let (mut before, mut left) = (0..0, 1 + below(8));
    let mut start = 0;
    // CAST: 100,000 nodes.
    for node in 0..nodes as u32 {
        let width = before.end - before.start;
        let mut row: Vec<u32> = (0..3u32.min(width)).map(|_| before.start + below(width)).collect();
        row.sort_unstable();
        row.dedup();
        preds.push_row(row);
        left -= 1;
        if left == 0 {
            (before, start) = (start..node + 1, node + 1);
            left = 1 + below(8);
        }
    }
    preds
}

fn measure(name: &str, preds: &Csr) {
    let nodes = preds.len();
    let (succs, table) = (preds.transposed(), CostTable::default());
    let (classes, costs) = (vec![Class::Packet; nodes], vec![table.kernel_ns; nodes]);
    // Kernels of a few compute units to two thirds of the device.
    let units: Vec<u32> = (0..nodes as u32).map(|node| 1 + node.wrapping_mul(0x9e37_79b1) % 200).collect();
    let problem = Problem::new(preds, &succs, &classes, &costs).and_then(|it| it.with_units(&units));
    let Ok(problem) = problem.map(Problem::with_guessed_durations) else { return };
    let mut times: Vec<f64> = (0..(NODES / nodes).min(1_000))
        .map(|_| per_node(nodes, || drop(black_box(plan(&problem, LANES, &table)))))
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    let made = plan(&problem, LANES, &table);
    let proof = per_node(nodes, || assert_eq!(check(&problem, &made), Ok(())));
    println!(
        "{:<12} {nodes:>7} {:>10} {:>9} {:>9.1} {:>9.1} {proof:>9.1}",
        name,
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
