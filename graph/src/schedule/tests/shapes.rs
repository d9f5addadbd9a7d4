//! Graphs of known shape.

use super::{Class, Csr, Dag};

pub(super) fn chain(nodes: u32) -> Dag {
    paths(1, nodes)
}

pub(super) fn independent(nodes: usize) -> Dag {
    Dag::new(nodes, &[])
}

/// `width` chains side by side, numbered across.
pub(super) fn paths(width: u32, length: u32) -> Dag {
    let nodes = width * length;
    Dag::new(nodes as usize, &(width..nodes).map(|to| (to - width, to)).collect::<Vec<_>>())
}

/// Layers in which every node depends on the whole layer before.
pub(super) fn full(width: u32, layers: u32) -> Dag {
    let nodes = width * layers;
    let layer = |to: u32| (to / width - 1) * width..to / width * width;
    let edges: Vec<_> = (width..nodes).flat_map(|to| layer(to).map(move |from| (from, to))).collect();
    Dag::new(nodes as usize, &edges)
}

/// A root, then `stages` times a fork of `width` nodes joined by one.
pub(super) fn fork_join(width: u32, stages: u32) -> Dag {
    let mut edges = Vec::new();
    for stage in 0..stages {
        let fork = stage * (width + 1);
        let join = fork + width + 1;
        edges.extend((fork + 1..join).flat_map(|node| [(fork, node), (node, join)]));
    }
    Dag::new((1 + stages * (width + 1)) as usize, &edges)
}

/// A binary tree of this many levels with its root first.
pub(super) fn tree_out(levels: u32) -> Dag {
    let nodes = (1u32 << levels) - 1;
    Dag::new(nodes as usize, &(1..nodes).map(|node| ((node - 1) / 2, node)).collect::<Vec<_>>())
}

/// A binary tree of this many levels with its root last.
pub(super) fn tree_in(levels: u32) -> Dag {
    let last = (1u32 << levels) - 2;
    Dag::new(
        last as usize + 1,
        &(1..=last).map(|node| (last - node, last - (node - 1) / 2)).collect::<Vec<_>>(),
    )
}

/// Packets on the longest path.
pub(super) fn longest_path(dag: &Dag) -> usize {
    let mut length: Vec<usize> = Vec::new();
    for node in 0..dag.preds.len() as u32 {
        let before = dag.preds.row(node).iter().map(|&pred| length[pred as usize]).max().unwrap_or(0);
        length.push(before + usize::from(dag.classes[node as usize] == Class::Packet));
    }
    length.into_iter().max().unwrap_or(0)
}

/// Which nodes each node reaches.
pub(super) fn reachability(preds: &Csr) -> Vec<Vec<bool>> {
    let nodes = preds.len();
    let mut reach = vec![vec![false; nodes]; nodes];
    for to in 0..nodes as u32 {
        for &from in preds.row(to) {
            for row in &mut reach[..from as usize] {
                row[to as usize] |= row[from as usize];
            }
            reach[from as usize][to as usize] = true;
        }
    }
    reach
}
