//! Which nodes of a graph no path of edges orders.

#![forbid(unsafe_code)]

use aqlipse_graph::Csr;

/// Nodes of a graph that is checked, at most: 32 MiB of bits.
pub const MAX_NODES: usize = 1 << 14;

/// Sets of nodes, a row of bits each.
pub struct Unordered {
    words: usize,
    /// For each node those that are neither before nor behind it.
    rows: Vec<u64>,
}

impl Unordered {
    /// What the edges of a graph leave unordered, whose nodes are numbered so that each edge leads to a greater number;
    /// `None` for a graph of more than [`MAX_NODES`].
    pub fn new(nodes: usize, preds: &Csr) -> Option<Self> {
        if nodes > MAX_NODES {
            return None;
        }
        let words = nodes.div_ceil(64);
        let mut before = vec![0u64; nodes * words];
        for node in 0..nodes {
            let (earlier, rest) = before.split_at_mut(node * words);
            let row = &mut rest[..words];
            for &pred in preds.row(node as u32) {
                let pred = pred as usize;
                let of_pred = &earlier[pred * words..][..words];
                row.iter_mut().zip(of_pred).for_each(|(word, more)| *word |= more);
                row[pred / 64] |= 1 << (pred % 64);
            }
        }
        let mut rows = vec![0u64; nodes * words];
        for node in 0..nodes {
            for other in 0..node {
                if before[node * words + other / 64] >> (other % 64) & 1 == 0 {
                    rows[node * words + other / 64] |= 1 << (other % 64);
                    rows[other * words + node / 64] |= 1 << (node % 64);
                }
            }
        }
        Some(Self { words, rows })
    }

    /// Whether neither of two nodes is before the other.
    pub fn has(&self, one: u32, other: u32) -> bool {
        self.rows[one as usize * self.words + other as usize / 64] >> (other % 64) & 1 != 0
    }
}
