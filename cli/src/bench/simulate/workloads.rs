//! Graphs to simulate: shapes of benchmarks, and what programs do, with durations.
//!
//! Durations and compute units are chosen, not measured: short and long kernels, narrow and wide ones, in the proportions
//! that the programs have.

use aqlipse_bench::shape::Shape;

use super::{
    random::Family,
    workload::{Builder, Workload},
};

/// All workloads.
pub fn all() -> Vec<Workload> {
    let mut all = Vec::new();
    for (what, duration) in [("empty", 0), ("20 us", 20_000)] {
        for shape in Shape::ALL {
            all.push(shaped(shape, 1024, what, |_| duration));
        }
    }
    let uneven = |node: usize| if node.is_multiple_of(3) { 60_000 } else { 8_000 };
    for shape in [Shape::ForkJoin, Shape::Branches(8), Shape::Paths(4), Shape::Full(4)] {
        all.push(shaped(shape, 145, "8 to 60 us", uneven));
    }
    all.push(tree("tree, root first", 9, false));
    all.push(tree("tree, root last", 9, true));
    all.extend((0..6).map(|seed| Family::Layers.workload(seed)));
    all.push(transformer(12));
    all.push(conjugate_gradient(20));
    all.push(stencil(4, 20));
    all
}

/// A graph of a benchmark's shape.
pub fn shaped(shape: Shape, nodes: usize, what: &str, duration_ns: impl Fn(usize) -> u32) -> Workload {
    let mut builder = Builder::default();
    for node in 0..nodes {
        builder.preds.push_row(shape.dependencies(node, nodes).map(|before| before as u32));
        builder.durations.push(duration_ns(node));
        builder.units.push(4);
    }
    builder.build(format!("{} of {nodes}, {what}", shape.name()))
}

/// A binary tree, whose kernels take longer the nearer they are to the root.
fn tree(name: &str, levels: u32, root_last: bool) -> Workload {
    let last = (1u32 << levels) - 2;
    let mut builder = Builder::default();
    for at in 0..=last {
        let from_root = if root_last { last - at } else { at };
        let us = 40 / (1 + (from_root + 1).ilog2());
        let after: Vec<u32> = match root_last {
            false => at.checked_sub(1).map(|at| at / 2).into_iter().collect(),
            true if 2 * from_root + 2 <= last => vec![last - 2 * from_root - 2, last - 2 * from_root - 1],
            true => Vec::new(),
        };
        builder.kernel(us, 8, &after);
    }
    builder.build(format!("{name}, {levels} levels"))
}

/// Layers of a decoder with grouped attention, unrolled.
fn transformer(layers: u32) -> Workload {
    let mut b = Builder::default();
    let mut hidden = b.kernel(4, 40, &[]);
    for _ in 0..layers {
        let norm = b.kernel(5, 40, &[hidden]);
        let query = b.kernel(40, 128, &[norm]);
        let key = b.kernel(15, 48, &[norm]);
        let value = b.kernel(15, 48, &[norm]);
        let turned_query = b.kernel(4, 40, &[query]);
        let turned_key = b.kernel(4, 16, &[key]);
        let kept_key = b.kernel(3, 8, &[turned_key]);
        let kept_value = b.kernel(3, 8, &[value]);
        let attention: Vec<u32> =
            (0..8).map(|_| b.kernel(60, 38, &[turned_query, kept_key, kept_value])).collect();
        let projected = b.kernel(40, 152, &attention);
        let sum = b.kernel(4, 40, &[hidden, projected]);
        let norm = b.kernel(5, 40, &[sum]);
        let gate = b.kernel(70, 200, &[norm]);
        let up = b.kernel(70, 200, &[norm]);
        let activated = b.kernel(6, 60, &[gate, up]);
        let down = b.kernel(70, 200, &[activated]);
        hidden = b.kernel(4, 40, &[sum, down]);
    }
    b.build(format!("transformer, {layers} layers"))
}

/// Iterations of the preconditioned method of conjugate gradients.
fn conjugate_gradient(iterations: u32) -> Workload {
    let mut b = Builder::default();
    let (mut direction, mut residual) = (b.kernel(20, 150, &[]), b.kernel(20, 150, &[]));
    let (mut solution, mut weight) = (b.kernel(20, 150, &[]), b.kernel(3, 1, &[residual]));
    for _ in 0..iterations {
        let product = b.kernel(120, 304, &[direction]);
        let partial = b.kernel(10, 80, &[product, direction]);
        let curvature = b.kernel(3, 1, &[partial]);
        let step = b.kernel(2, 1, &[curvature, weight]);
        solution = b.kernel(20, 150, &[solution, step, direction]);
        residual = b.kernel(20, 150, &[residual, step, product]);
        let norm = b.kernel(10, 80, &[residual]);
        b.kernel(3, 1, &[norm]);
        let preconditioned = b.kernel(30, 150, &[residual]);
        let partial = b.kernel(10, 80, &[preconditioned, residual]);
        let next_weight = b.kernel(3, 1, &[partial]);
        let ratio = b.kernel(2, 1, &[next_weight, weight]);
        weight = next_weight;
        direction = b.kernel(20, 150, &[direction, ratio, preconditioned]);
    }
    b.kernel(5, 150, &[solution]);
    b.build(format!("conjugate gradients, {iterations} iterations"))
}

/// Steps of a stencil on subdomains in a ring, each of which exchanges its edges with two others.
fn stencil(domains: usize, steps: u32) -> Workload {
    let mut b = Builder::default();
    let mut done: Vec<[u32; 2]> =
        (0..domains).map(|_| [b.kernel(10, 60, &[]), b.kernel(3, 8, &[])]).collect();
    for _ in 0..steps {
        let packed: Vec<[u32; 2]> =
            done.iter().map(|done| [b.kernel(4, 4, done), b.kernel(4, 4, done)]).collect();
        let mut next = Vec::new();
        for (at, done) in done.iter().enumerate() {
            let west = packed[(at + domains - 1) % domains][1];
            let east = packed[(at + 1) % domains][0];
            let received = [b.kernel(6, 4, &[west]), b.kernel(6, 4, &[east])];
            let inner = b.kernel(60 + 10 * at as u32, 60, done);
            let edge = b.kernel(8, 8, &[received[0], received[1], done[0], done[1]]);
            next.push([inner, edge]);
        }
        done = next;
    }
    b.build(format!("stencil with halos, {domains} x {steps}"))
}
