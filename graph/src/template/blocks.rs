//! Parts of a graph that repeat one behind the other, such as the layers of a network: what pictures and tables show once.
//!
//! ```
//! use aqlipse_graph::{Csr, blocks::{Block, blocks}};
//!
//! // Copy, then four times scan and add, each behind the one before.
//! let labels = ["copy", "scan", "add", "scan", "add", "scan", "add", "scan", "add"];
//! let preds = Csr::from_pairs(9, (1..9).map(|node| (node, node - 1)));
//! assert_eq!(blocks(&labels, &preds, 6), [Block { first: 1, nodes: 2, times: 4 }]);
//! ```

use super::Csr;

/// Nodes of the longest block that is looked for.
const LONGEST: usize = 512;

/// A part that is there several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Block {
    /// Its first node, of the first time.
    pub first: u32,
    /// How many nodes it has.
    pub nodes: u32,
    /// How many times it is there, one behind the other.
    pub times: u32,
}

impl Block {
    /// The node of the first time that is in the place of a node of any time; `None` for a node that is not in the block.
    pub fn shown(&self, node: u32) -> Option<u32> {
        let place = node.checked_sub(self.first)?;
        (place < self.nodes * self.times).then(|| self.first + place % self.nodes)
    }
}

/// The blocks of a graph whose nodes stand behind what they wait for, each of which saves at least so many nodes.
///
/// Nodes with the same place in a block have the same label. They wait for nodes of the same places, of the same time or the one
/// before, and for the same nodes before the block. What the first time waits for before the block may be anything.
pub fn blocks<L: Eq>(labels: &[L], preds: &Csr, saves: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < labels.len() {
        // Of those that save as many nodes, the shortest one.
        let (mut best, mut saved) = (1, 0);
        for nodes in 1..=LONGEST.min((labels.len() - at) / 2) {
            let times = times(labels, preds, at, nodes);
            if (times - 1) * nodes > saved {
                (best, saved) = (nodes, (times - 1) * nodes);
            }
            if at + saved + 2 * best > labels.len() {
                // It goes on to the end.
                break;
            }
        }
        if saved >= saves.max(1) {
            // CAST: graphs hold fewer than 2^32 nodes.
            let (first, nodes, times) = (at as u32, best as u32, (saved / best + 1) as u32);
            blocks.push(Block { first, nodes, times });
            at += saved + best;
        } else {
            at += 1;
        }
    }
    blocks
}

/// How many times the nodes from `at` on are there, one behind the other.
fn times<L: Eq>(labels: &[L], preds: &Csr, at: usize, nodes: usize) -> usize {
    // CAST: graphs hold fewer than 2^32 nodes.
    let (start, length) = (at as u32, nodes as u32);
    let row = |node: usize| preds.row(node as u32);
    // The nodes of the next time that are in the places of those that a node waits for.
    let next = |node: usize| row(node).iter().map(|&pred| if pred < start { pred } else { pred + length });
    let same = |node: &usize| {
        let later = node + nodes;
        if labels[*node] != labels[later] {
            return false;
        }
        if later < at + 2 * nodes {
            // The second time: as the first, and beside that it may wait for the first.
            let inside = next(*node).filter(|pred| *pred >= start);
            let known: Vec<u32> = next(*node).collect();
            let is_known = |pred: &u32| known.contains(pred) || (start..start + length).contains(pred);
            return inside.clone().all(|pred| row(later).contains(&pred)) && row(later).iter().all(is_known);
        }
        row(*node).len() == row(later).len() && next(*node).all(|pred| row(later).contains(&pred))
    };
    1 + (at..labels.len() - nodes).take_while(same).count() / nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(labels: &str, edges: &[(u32, u32)], saves: usize) -> Vec<(u32, u32, u32)> {
        let labels: Vec<char> = labels.chars().collect();
        let preds = Csr::from_pairs(labels.len(), edges.iter().map(|&(from, to)| (to, from)));
        let found = blocks(&labels, &preds, saves);
        found.into_iter().map(|Block { first, nodes, times }| (first, nodes, times)).collect()
    }

    fn chain(nodes: u32) -> Vec<(u32, u32)> {
        (1..nodes).map(|node| (node - 1, node)).collect()
    }

    #[test]
    fn layers_are_one_block_between_what_comes_before_and_after() {
        // A fork of two in each layer of four.
        let layer =
            |start: u32| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(from, to)| (start + from, start + to));
        let mut edges: Vec<_> = (0..48).flat_map(|n| layer(1 + 4 * n)).collect();
        edges.extend((0..48).map(|n| (4 * n, 4 * n + 1)));
        edges.push((192, 193));
        assert_eq!(of(&format!("c{}r", "abbd".repeat(48)), &edges, 8), [(1, 4, 48)]);
        // With another edge in one of them, two blocks are around it.
        edges.push((4 * 20 + 1, 4 * 20 + 4));
        let found = of(&format!("c{}r", "abbd".repeat(48)), &edges, 8);
        assert_eq!(found[0], (1, 4, 20));
        assert_eq!(found.iter().map(|(_, nodes, times)| nodes * times).sum::<u32>(), 192 - 4);
    }

    #[test]
    fn stages_that_begin_with_nodes_alike_are_whole_blocks() {
        // Five times: four behind what joins the four before.
        let stage =
            |n: u32| (0..4).flat_map(move |fork| [(5 * n - 1, 5 * n + fork), (5 * n + fork, 5 * n + 4)]);
        let edges: Vec<_> = (0..4).map(|fork| (fork, 4)).chain((1..5).flat_map(stage)).collect();
        assert_eq!(of(&"a".repeat(25), &edges, 8), [(0, 5, 5)]);
    }

    #[test]
    fn a_block_saves_as_much_as_is_asked_for() {
        assert_eq!(of("aaaa", &chain(4), 3), [(0, 1, 4)]);
        assert_eq!(of("aaaa", &chain(4), 4), []);
        assert_eq!(of("abcd", &chain(4), 1), []);
        assert_eq!(of("", &[], 0), []);
    }

    #[test]
    fn branches_are_a_block_if_they_wait_for_the_same() {
        // Four branches of two behind the first node, and one behind all of them.
        let mut edges: Vec<_> =
            (0..4).flat_map(|n| [(0, 1 + 2 * n), (1 + 2 * n, 2 + 2 * n), (2 + 2 * n, 9)]).collect();
        assert_eq!(of("xabababab.", &edges, 1), [(1, 2, 4)]);
        // The third waits for the first, too: two branches are the block, of which the second time waits for the first.
        edges.push((1, 5));
        assert_eq!(of("xabababab.", &edges, 1), [(1, 4, 2)]);
        // Nodes without edges are alike.
        assert_eq!(of("aaaaaaaa", &[], 1), [(0, 1, 8)]);
    }

    #[test]
    fn a_node_of_any_time_is_shown_as_that_of_the_first() {
        let block = Block { first: 3, nodes: 4, times: 2 };
        assert_eq!(
            [2, 3, 6, 7, 10, 11].map(|node| block.shown(node)),
            [None, Some(3), Some(6), Some(3), Some(6), None]
        );
    }
}
