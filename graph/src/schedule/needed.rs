//! Which packets of a level to launch first if it is unknown how long they take.
//!
//! What more nodes are behind comes first: the time that it costs them is lost to more. Of equal ones, the one that takes
//! fewer compute units: it leaves more to those that start beside it, and ends no later for having started early.

use std::cmp::Reverse;

use super::Problem;
use super::urgency::reached;

/// The order in which nodes of a level should be launched, ascending.
pub(super) type Rank = (Reverse<u32>, u32);

/// By node. Quadratic in the nodes, with a small constant.
pub(super) fn ranks(problem: &Problem<'_>) -> Vec<Rank> {
    let behind = reached(problem, true);
    problem.nodes().map(|node| (Reverse(behind.count(node)), problem.units(node))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Candidate, Class, candidate, cost};
    use super::*;
    use crate::template::Csr;

    #[test]
    fn what_more_nodes_need_and_then_what_takes_less_of_the_device_is_launched_first() {
        // Of the roots, the last has two nodes behind it, the one before it one, and the others differ in units.
        let preds = Csr::from_pairs(7, [(5, 3), (5, 2), (6, 3)].into_iter());
        let succs = preds.transposed();
        let problem = Problem::new(&preds, &succs, &[Class::Packet; 7], &[5_000; 7]).unwrap();
        let problem = problem.with_units(&[80, 9, 4, 70, 30, 1, 1]).unwrap().with_guessed_durations();
        for kind in [Candidate::LevelLanes, Candidate::Turns] {
            let plan = candidate(&problem, kind, 2, &cost::CDNA3.table);
            let place = |node: u32| plan.order().iter().position(|&at| plan.place(node) == Some(at));
            assert!([3, 2, 1, 4, 0].windows(2).all(|pair| place(pair[0]) < place(pair[1])), "{kind:?}");
        }
    }
}
