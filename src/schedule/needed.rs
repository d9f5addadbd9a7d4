//! Which packets of a level to launch first if nobody knows how long they take.
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
