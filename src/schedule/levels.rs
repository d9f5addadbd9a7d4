//! The order of a one-lane plan: antichains by longest path from the roots.
//!
//! A path of `n` packets needs `n - 1` barrier bits in any order on one queue, and level order needs no more than the
//! longest path does: it is optimal in barrier bits.

use super::{Class, Problem};

/// The place of a node: how many host nodes hold it back, then its level among those.
type Rank = (u32, u32);

/// Levels after its own that a node is tried in by [`balanced`].
const MAX_DELAY: u32 = 64;

/// The nodes other than joins, level by level.
pub(super) fn order(problem: &Problem<'_>) -> Vec<u32> {
    sorted(problem, &ranks(problem, false))
}

/// The nodes other than joins: what fewer host nodes hold back first, then level by level.
pub(super) fn by_host_depth(problem: &Problem<'_>) -> Vec<u32> {
    sorted(problem, &ranks(problem, true))
}

/// The nodes other than joins, level by level; a node that alone makes its level long moves to a later level that is as
/// long already, if its successors allow it.
pub(super) fn balanced(problem: &Problem<'_>) -> Vec<u32> {
    let mut ranks = ranks(problem, false);
    let levels = ranks.iter().map(|&(_, level)| level + 1).max().unwrap_or(0);
    // The two longest durations of each level.
    let mut longest = vec![[0u32; 2]; levels as usize];
    let scheduled = |node: &u32| problem.class(*node) != Class::Join;
    for node in problem.nodes().filter(scheduled) {
        insert(&mut longest[ranks[node as usize].1 as usize], problem.cost(node));
    }
    // By node: its level, or of a join the first level behind it.
    let mut bound = vec![levels; problem.len()];
    for node in problem.nodes().rev() {
        let before = problem.succs.row(node).iter().map(|&succ| bound[succ as usize]).min().unwrap_or(levels);
        bound[node as usize] = before;
        if !scheduled(&node) {
            continue;
        }
        let (_, level) = &mut ranks[node as usize];
        let cost = problem.cost(node);
        let [first, second] = longest[*level as usize];
        if cost == first && second < first {
            let later = (*level + 1..before.min(*level + 1 + MAX_DELAY))
                .find(|&later| longest[later as usize][0] >= cost);
            if let Some(later) = later {
                // What is third longest is not known; the second, counted twice, errs towards moving less.
                longest[*level as usize] = [second, second];
                insert(&mut longest[later as usize], cost);
                *level = later;
            }
        }
        bound[node as usize] = *level;
    }
    sorted(problem, &ranks)
}

fn insert(longest: &mut [u32; 2], cost: u32) {
    if cost > longest[0] {
        *longest = [cost, longest[0]];
    } else {
        longest[1] = longest[1].max(cost);
    }
}

/// Whether all nodes take equally long.
pub(super) fn uniform(problem: &Problem<'_>) -> bool {
    problem.costs.windows(2).all(|pair| pair[0] == pair[1])
}

/// The nodes other than joins by ascending rank, and within a rank in a good order for launching.
fn sorted(problem: &Problem<'_>, ranks: &[Rank]) -> Vec<u32> {
    let mut order = sorted_by_rank(problem, ranks);
    let has_host = problem.classes.contains(&Class::Host);
    if has_host || !uniform(problem) {
        // Host calls first, as they start off the lane; what waits for one last, as it holds the lane back; of the
        // rest the longest first.
        let key = |&node: &u32| {
            let phase = match problem.class(node) {
                Class::Host => 0,
                _ if has_host && waits_for_host(problem, node) => 2,
                _ => 1,
            };
            (phase, std::cmp::Reverse(problem.cost(node)))
        };
        for level in order.chunk_by_mut(|&a, &b| ranks[a as usize] == ranks[b as usize]) {
            level.sort_by_key(key);
        }
    }
    order
}

/// The earliest rank of each node; of a join, the earliest rank of what follows it.
fn ranks(problem: &Problem<'_>, by_host_depth: bool) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::with_capacity(problem.len());
    for node in problem.nodes() {
        let after = |&pred: &u32| {
            let (depth, level) = ranks[pred as usize];
            match problem.class(pred) {
                Class::Join => (depth, level),
                Class::Host if by_host_depth && problem.class(node) != Class::Host => (depth + 1, 0),
                _ => (depth, level + 1),
            }
        };
        let rank = problem.preds.row(node).iter().map(after).max();
        ranks.push(rank.unwrap_or((0, 0)));
    }
    ranks
}

/// The nodes other than joins by ascending rank, equal ranks by number: a counting sort.
fn sorted_by_rank(problem: &Problem<'_>, ranks: &[Rank]) -> Vec<u32> {
    // The levels of one host depth follow those of the depth before.
    let mut first_level = vec![0u32];
    for &(depth, level) in ranks {
        if first_level.len() < depth as usize + 2 {
            first_level.resize(depth as usize + 2, 0);
        }
        let levels = &mut first_level[depth as usize + 1];
        *levels = (*levels).max(level + 1);
    }
    for depth in 1..first_level.len() {
        first_level[depth] += first_level[depth - 1];
    }
    let bucket = |node: u32| {
        let (depth, level) = ranks[node as usize];
        (first_level[depth as usize] + level) as usize
    };
    let mut starts = vec![0u32; *first_level.last().unwrap_or(&0) as usize + 1];
    let scheduled = || problem.nodes().filter(|&node| problem.class(node) != Class::Join);
    for node in scheduled() {
        starts[bucket(node) + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut order = vec![0; *starts.last().unwrap_or(&0) as usize];
    for node in scheduled() {
        let place = &mut starts[bucket(node)];
        order[*place as usize] = node;
        *place += 1;
    }
    order
}

/// Whether a node has a host node among its predecessors, looking through one join.
fn waits_for_host(problem: &Problem<'_>, node: u32) -> bool {
    let is_host = |&pred: &u32| problem.class(pred) == Class::Host;
    problem.preds.row(node).iter().any(|pred| {
        is_host(pred) || problem.class(*pred) == Class::Join && problem.preds.row(*pred).iter().any(is_host)
    })
}
