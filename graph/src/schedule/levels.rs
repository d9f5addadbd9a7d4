//! The order of one-lane plans, and of others level by level: antichains by longest path from the roots.
//!
//! A path of `n` packets needs `n - 1` barrier bits in any order on one queue, and level order needs no more than the
//! longest path does: it is optimal in barrier bits.

use std::cmp::Reverse;

use crate::template::Csr;

use super::cost::CostTable;
use super::plan::{Action, Candidate, Lane, LaneKind, Plan, Step, StepRef};
use super::{Class, Problem, SEARCHED_FULLY};

/// The nodes other than joins, level by level.
pub(super) struct Levels {
    pub(super) nodes: Vec<u32>,
    /// Where each level ends.
    ends: Vec<u32>,
    ranks: Vec<Rank>,
}

/// The place of a node: how many host nodes hold it back, then its level among those.
type Rank = (u32, u32);

/// Levels after its own that a node is tried in by [`balanced`].
const MAX_DELAY: u32 = 64;

impl Levels {
    /// By the longest path from the roots.
    pub(super) fn of(problem: &Problem<'_>) -> Self {
        sorted(problem, ranks_of(problem))
    }

    /// What fewer host nodes hold back first, then by the longest path.
    pub(super) fn by_host_depth(problem: &Problem<'_>) -> Self {
        sorted(problem, ranks_by_host_depth(problem))
    }

    /// The level of a node, among those that as many host nodes hold back; of a join, that of what follows it.
    pub(super) fn level_of(&self, node: u32) -> u32 {
        self.ranks[node as usize].1
    }

    /// Puts the nodes of each level in the order of a key.
    pub(super) fn sort_each<K: Ord>(&mut self, key: impl Fn(u32) -> K) {
        let mut start = 0;
        for &end in &self.ends {
            self.nodes[start..end as usize].sort_by_key(|&node| key(node));
            start = end as usize;
        }
    }

    /// The nodes of each level.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.nodes[start as usize..end as usize])
    }

    /// Whether each node but the first ones needs all of the level before, so that nothing can start any earlier than
    /// level by level, whatever durations are. Errs towards no in graphs with joins.
    pub(super) fn hold_each_other(&self, problem: &Problem<'_>) -> bool {
        let mut before = 0;
        self.each().all(|level| {
            let needs_all = |&node: &u32| {
                let above = self.level_of(node).wrapping_sub(1);
                problem.preds.row(node).iter().filter(|&&pred| self.level_of(pred) == above).count() == before
            };
            let all = level.iter().all(needs_all);
            before = level.len();
            all
        })
    }

    /// By how much the levels, one after the other, take longer than the longest path, if launching took no time: what
    /// other orders can gain at most.
    pub(super) fn slack_ns(&self, problem: &Problem<'_>) -> u64 {
        // Of a chain the levels are the longest path.
        if self.ends.len() == self.nodes.len() {
            return 0;
        }
        let longest = |level: &[u32]| level.iter().map(|&node| problem.weight(node)).max().unwrap_or(0);
        let levels: u64 = self.each().map(longest).map(u64::from).sum();
        let mut finish = vec![0u64; problem.len()];
        let mut path = 0;
        for node in problem.nodes() {
            let start = problem.preds.row(node).iter().map(|&pred| finish[pred as usize]).max().unwrap_or(0);
            let end = start + u64::from(problem.weight(node));
            finish[node as usize] = end;
            path = path.max(end);
        }
        levels.saturating_sub(path)
    }

    /// About what the levels take, one after the other.
    pub(super) fn time_ns(&self, problem: &Problem<'_>, table: &CostTable) -> u64 {
        let level_ns = |level: &[u32]| {
            let ends = (0u64..)
                .zip(level)
                .map(|(at, &node)| at * u64::from(table.packet_ns) + u64::from(problem.weight(node)));
            ends.max().unwrap_or(0) + u64::from(table.behind_ns())
        };
        self.each().map(level_ns).sum()
    }

    /// The plan of a graph of one device without host nodes: a barrier bit on the first packet of each level, whose last
    /// completion some packet of the level waits for, and a fence behind the last level if it has several.
    pub(super) fn plan(&self, problem: &Problem<'_>) -> Plan {
        let mut lane = Lane::on_device(0, LaneKind::Queue);
        let single = self.each().last().is_some_and(|level| level.len() == 1);
        lane.steps.reserve_exact(self.nodes.len() + usize::from(!single));
        lane.steps.extend(self.nodes.iter().map(|&node| Step::of_node(node)));
        let mut start = 0;
        for &end in &self.ends {
            lane.steps[start].barrier = true;
            start = end as usize;
        }
        if !single {
            lane.push(Action::Fence, true, &[]);
        }
        // CAST: a plan has fewer than 2^32 steps.
        let order: Vec<StepRef> =
            (0..lane.steps.len() as u32).map(|position| StepRef { lane: 0, position }).collect();
        let mut places = vec![None; problem.len()];
        for (&node, &step) in self.nodes.iter().zip(&order) {
            places[node as usize] = Some(step);
        }
        Plan { lanes: vec![lane], candidate: Candidate::Levels, order, places, estimate_ns: 0 }
    }
}

/// The nodes other than joins, in levels that take less time together than those by the longest path.
///
/// On one queue a level takes as long as its longest node, so nodes of like durations should share levels. Some ways to
/// do that are tried; in large graphs only the first.
pub(super) fn balanced(problem: &Problem<'_>, table: &CostTable) -> Levels {
    let mut best = settled(problem, ranks_of(problem));
    if problem.len() <= SEARCHED_FULLY {
        let mut least = best.time_ns(problem, table);
        // By powers of 2, 4, 16 and 256 of the duration, and whatever the duration.
        for classes in [1, 2, 4, 8, u32::BITS] {
            for from_end in [false, true] {
                let levels = settled(problem, shortest_first(problem, classes, from_end));
                let time = levels.time_ns(problem, table);
                if time < least {
                    (best, least) = (levels, time);
                }
            }
        }
    }
    best
}

/// Levels of nodes that are ready and belong to the lowest class of durations there is: longer ones wait until nothing
/// shorter is left, and then run together. With `from_end` the levels are found from the last to the first.
fn shortest_first(problem: &Problem<'_>, classes: u32, from_end: bool) -> Vec<Rank> {
    let class = |node: u32| problem.cost(node).checked_ilog2().unwrap_or(0) / classes;
    let (before, behind) =
        if from_end { (problem.succs, problem.preds) } else { (problem.preds, problem.succs) };
    let mut pending: Vec<usize> = problem.nodes().map(|node| before.row(node).len()).collect();
    let mut ready: Vec<u32> = problem.nodes().filter(|&node| pending[node as usize] == 0).collect();
    let mut ranks = vec![(0, 0); problem.len()];
    let mut level = 0u32;
    while !ready.is_empty() {
        // A join takes no time: what is behind it is ready with it.
        while let Some(at) = ready.iter().position(|&node| problem.class(node) == Class::Join) {
            let join = ready.swap_remove(at);
            ranks[join as usize].1 = level;
            release(join, behind, &mut pending, &mut ready);
        }
        let Some(lowest) = ready.iter().map(|&node| class(node)).min() else { break };
        let (now, later): (Vec<u32>, Vec<u32>) = ready.iter().partition(|&&node| class(node) == lowest);
        ready = later;
        for node in now {
            ranks[node as usize].1 = level;
            release(node, behind, &mut pending, &mut ready);
        }
        level += 1;
    }
    if from_end {
        let last = level.saturating_sub(1);
        ranks.iter_mut().for_each(|(_, level)| *level = last.saturating_sub(*level));
    }
    ranks
}

/// Counts a node off what is behind it, and adds what waits for nothing else.
fn release(node: u32, behind: &Csr, pending: &mut [usize], ready: &mut Vec<u32>) {
    for &next in behind.row(node) {
        pending[next as usize] -= 1;
        if pending[next as usize] == 0 {
            ready.push(next);
        }
    }
}

/// The levels, with each node that alone makes its level long moved to a later level that is as long already, if its
/// successors allow it.
fn settled(problem: &Problem<'_>, mut ranks: Vec<Rank>) -> Levels {
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
    close_gaps(problem, &mut ranks, levels);
    sorted(problem, ranks)
}

/// Numbers the levels that have nodes other than joins without gaps.
fn close_gaps(problem: &Problem<'_>, ranks: &mut [Rank], levels: u32) {
    let mut number = vec![0u32; levels as usize + 1];
    for node in problem.nodes().filter(|&node| problem.class(node) != Class::Join) {
        number[ranks[node as usize].1 as usize + 1] = 1;
    }
    for level in 1..number.len() {
        number[level] += number[level - 1];
    }
    ranks.iter_mut().for_each(|(_, level)| *level = number[*level as usize]);
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
fn sorted(problem: &Problem<'_>, ranks: Vec<Rank>) -> Levels {
    let (mut nodes, ends) = sorted_by_rank(problem, &ranks);
    let has_asides = problem.has_asides();
    if has_asides || !uniform(problem) {
        // Host calls and copies by engines first, as they start off the lane; what waits for one last, as it holds the
        // lane back. Of the rest,
        // what needs the level before comes first: its barrier bit would wait for the others otherwise. Of equal ones,
        // the longest first.
        let ready_earlier = |node: u32| {
            let (_, level) = ranks[node as usize];
            let before =
                |&pred: &u32| ranks[pred as usize].1 + 1 == level || problem.class(pred) == Class::Join;
            !problem.preds.row(node).iter().any(before)
        };
        let key = |&node: &u32| {
            let phase = match problem.class(node) {
                Class::Host | Class::Engine(_) => 0,
                _ if has_asides && waits_for_aside(problem, node) => 2,
                _ => 1,
            };
            (phase, ready_earlier(node), Reverse(problem.cost(node)))
        };
        for level in nodes.chunk_by_mut(|&a, &b| ranks[a as usize] == ranks[b as usize]) {
            level.sort_by_key(key);
        }
    }
    Levels { nodes, ends, ranks }
}

/// The earliest rank of each node of a problem by the longest path alone.
fn ranks_of(problem: &Problem<'_>) -> Vec<Rank> {
    if problem.all_packets {
        return ranks(problem.preds, |_| false);
    }
    ranks(problem.preds, |node| problem.class(node) == Class::Join)
}

/// The earliest rank of each node, none of which a host node holds back; of a join, the earliest rank of what follows it.
#[inline]
pub(super) fn ranks(preds: &Csr, is_join: impl Fn(u32) -> bool) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::with_capacity(preds.len());
    // CAST: rows are of nodes, of which there are fewer than 2^32.
    for node in 0..preds.len() as u32 {
        let after = |&pred: &u32| ranks[pred as usize].1 + u32::from(!is_join(pred));
        let level = preds.row(node).iter().map(after).max();
        ranks.push((0, level.unwrap_or(0)));
    }
    ranks
}

/// As [`ranks`], with the host nodes and the copies by engines that hold a node back.
fn ranks_by_host_depth(problem: &Problem<'_>) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::with_capacity(problem.len());
    for node in problem.nodes() {
        let after = |&pred: &u32| {
            let (depth, level) = ranks[pred as usize];
            match problem.class(pred) {
                Class::Join => (depth, level),
                class @ (Class::Host | Class::Engine(_)) if problem.class(node) != class => (depth + 1, 0),
                _ => (depth, level + 1),
            }
        };
        let rank = problem.preds.row(node).iter().map(after).max();
        ranks.push(rank.unwrap_or((0, 0)));
    }
    ranks
}

/// The nodes other than joins by ascending rank, equal ranks by number, and where each rank ends: a counting sort.
fn sorted_by_rank(problem: &Problem<'_>, ranks: &[Rank]) -> (Vec<u32>, Vec<u32>) {
    // Many graphs are recorded level by level, and all chains are.
    if (problem.all_packets || !problem.classes.contains(&Class::Join)) && ranks.is_sorted() {
        return (problem.nodes().collect(), ends_of_runs(ranks));
    }
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
    // Each start has moved to the end of its level; what is left is the end of all. Of joins alone there is no level.
    starts.pop();
    starts.dedup();
    starts.retain(|&end| end > 0);
    (order, starts)
}

/// Where each run of equal ranks ends.
fn ends_of_runs(ranks: &[Rank]) -> Vec<u32> {
    let Some(last) = ranks.last() else { return Vec::new() };
    // CAST: ranks are of nodes, of which there are fewer than 2^32.
    let inner = (1u32..).zip(ranks.windows(2)).filter(|(_, pair)| pair[0] != pair[1]).map(|(end, _)| end);
    let mut ends = Vec::with_capacity(last.1 as usize + 1);
    ends.extend(inner.chain([ranks.len() as u32]));
    ends
}

/// Whether a node has one that runs beside the queues among its predecessors, looking through one join.
fn waits_for_aside(problem: &Problem<'_>, node: u32) -> bool {
    let is_aside = |&pred: &u32| problem.is_aside(pred);
    problem.preds.row(node).iter().any(|pred| {
        is_aside(pred) || problem.class(*pred) == Class::Join && problem.preds.row(*pred).iter().any(is_aside)
    })
}
