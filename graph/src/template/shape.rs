//! The shape of a graph as a whole: topological order, cycles, likeness to another graph.

use super::topology::{IN, OUT};
use super::{Error, Neighbours, NodeId, Topology};

/// How two graphs differ in shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// They have different numbers of nodes.
    NodeCount,
    /// This node of the second graph has other dependencies than its partner.
    Dependencies(NodeId),
}

impl Topology {
    /// Pairs the nodes of two graphs by their places in insertion order, if the graphs have the same shape.
    ///
    /// # Errors
    /// [`Mismatch::NodeCount`], or [`Mismatch::Dependencies`] with the first node of `other` whose dependencies are
    /// not the counterparts of those of the node it is paired with.
    pub fn pair(&self, other: &Self) -> Result<Vec<(NodeId, NodeId)>, Mismatch> {
        if self.node_count() != other.node_count() {
            return Err(Mismatch::NodeCount);
        }
        let mut place = vec![u32::MAX; other.slot_count()];
        for (here, there) in self.slots().zip(other.slots()) {
            place[there as usize] = here;
        }
        let (mut mine, mut theirs): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (here, there) in self.slots().zip(other.slots()) {
            mine.clear();
            mine.extend(Neighbours::new(self, here, IN).slots());
            theirs.clear();
            theirs.extend(Neighbours::new(other, there, IN).slots().map(|slot| place[slot as usize]));
            if mine != theirs {
                // The same edges added in another order make the same graph.
                mine.sort_unstable();
                theirs.sort_unstable();
                if mine != theirs {
                    return Err(Mismatch::Dependencies(other.id_of(there)));
                }
            }
        }
        Ok(self.nodes().zip(other.nodes()).collect())
    }

    /// Whether both have their nodes and edges in the same places, and no place is empty: a short way to tell that two
    /// graphs which were built alike have the same shape. Others may have it, too.
    pub fn is_laid_out_like(&self, other: &Self) -> bool {
        self.is_dense() && other.is_dense() && self.has_ends_of(other)
    }

    /// A topological order, first come first served in insertion order.
    ///
    /// # Errors
    /// [`Error::Cycle`] with a node on a cycle.
    pub fn order(&self) -> Result<Vec<NodeId>, Error> {
        let mut pending = vec![0; self.slot_count()];
        for slot in self.slots() {
            pending[slot as usize] = self.degrees(slot)[IN];
        }
        let mut order: Vec<u32> = self.slots().filter(|&slot| pending[slot as usize] == 0).collect();
        order.reserve(self.node_count() - order.len());
        let mut head = 0;
        while let Some(&slot) = order.get(head) {
            head += 1;
            for to in Neighbours::new(self, slot, OUT).slots() {
                pending[to as usize] -= 1;
                if pending[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        if order.len() < self.node_count() {
            return Err(Error::Cycle(self.id_of(self.slot_on_cycle(&pending))));
        }
        Ok(order.into_iter().map(|slot| self.id_of(slot)).collect())
    }

    /// A slot on a cycle, given the slots that a topological sort left with pending dependencies.
    fn slot_on_cycle(&self, pending: &[u32]) -> u32 {
        // PANIC: the caller found fewer ordered nodes than live ones, so one is pending, and every pending node has
        // a pending dependency. Walking back along those must come round.
        let mut slot = self.slots().find(|&slot| pending[slot as usize] > 0).expect("a pending node");
        let mut seen = vec![false; pending.len()];
        while !seen[slot as usize] {
            seen[slot as usize] = true;
            slot = Neighbours::new(self, slot, IN)
                .slots()
                .find(|&from| pending[from as usize] > 0)
                .expect("a pending dependency");
        }
        slot
    }
}
