//! How far from the best of all plans the planner is, on graphs small enough to try all of them.
//!
//! A plan is an order of the nodes, a lane for each, and a barrier bit or none on each; its waits follow. All that the
//! rules of queues allow are tried, with the times of the planner's own model: one packet processor a lane.

use super::*;
use fastrand::Rng;

/// The shortest time of any plan on at most `lanes` queues.
pub(super) fn best(dag: &Dag, lanes: usize, table: &CostTable, known: u64) -> u64 {
    let mut search = Search { dag, lanes, table, best: known, remaining: remaining_paths(dag, table) };
    search.extend(&mut Partial::new(dag.preds.len(), lanes));
    search.best
}

/// From the start of each node to the end of the longest path behind it, at least.
fn remaining_paths(dag: &Dag, table: &CostTable) -> Vec<u64> {
    let mut remaining = vec![0; dag.preds.len()];
    for node in (0..dag.preds.len()).rev() {
        let gap = u64::from(table.behind_ns().min(table.across_ns()));
        let behind = dag.succs.row(node as u32).iter().map(|&succ| remaining[succ as usize] + gap).max();
        remaining[node] = u64::from(dag.costs[node]) + behind.unwrap_or(0);
    }
    remaining
}

/// A set of nodes.
type Set = u32;

/// A lane so far.
#[derive(Clone, Default)]
struct Progress {
    nodes: Set,
    free: u64,
    drained: u64,
    /// What is known to have completed when its latest step starts.
    known: Set,
}

/// The first nodes of a plan.
#[derive(Clone)]
struct Partial {
    placed: Set,
    lane_of: Vec<usize>,
    done: Vec<u64>,
    /// What is known to have completed when a node starts.
    known: Vec<Set>,
    lanes: Vec<Progress>,
    /// The latest node of lane 0.
    last: Option<usize>,
}

impl Partial {
    fn new(nodes: usize, lanes: usize) -> Self {
        Self {
            placed: 0,
            lane_of: vec![0; nodes],
            done: vec![0; nodes],
            known: vec![0; nodes],
            lanes: vec![Progress::default(); lanes],
            last: None,
        }
    }
}

struct Search<'d> {
    dag: &'d Dag,
    lanes: usize,
    table: &'d CostTable,
    best: u64,
    remaining: Vec<u64>,
}

impl Search<'_> {
    /// Tries all ways to go on. As deep as a graph has nodes: seven.
    fn extend(&mut self, partial: &mut Partial) {
        let nodes = self.dag.preds.len();
        if partial.placed.count_ones() as usize == nodes {
            self.best = self.best.min(self.close(partial));
            return;
        }
        for node in 0..nodes {
            let preds = self.dag.preds.row(node as u32).iter().fold(0, |set, &pred| set | 1 << pred);
            if partial.placed >> node & 1 == 1 || preds & !partial.placed != 0 {
                continue;
            }
            let used = partial.lanes.iter().filter(|lane| lane.nodes != 0).count();
            for lane in 0..self.lanes.min(used + 1) {
                for barrier in [false, true] {
                    if let Some(mut next) = self.place(partial, node, preds, lane, barrier) {
                        self.extend(&mut next);
                    }
                }
            }
        }
    }

    /// Puts a node at the end of a lane; nothing if that is not allowed or no good.
    fn place(
        &self,
        partial: &Partial,
        node: usize,
        preds: Set,
        lane: usize,
        barrier: bool,
    ) -> Option<Partial> {
        let progress = &partial.lanes[lane];
        let first = progress.nodes == 0;
        if first && barrier {
            return None;
        }
        let cross = u64::from(self.table.across_ns());
        let mut known = progress.known;
        let mut start = progress.free;
        let foreign = preds & !progress.nodes & !known;
        for pred in (0..self.dag.preds.len()).filter(|pred| foreign >> pred & 1 == 1) {
            start = start.max(partial.done[pred] + cross);
            known |= partial.known[pred] | 1 << pred;
        }
        if barrier {
            start = start.max(progress.drained + u64::from(self.table.behind_ns()));
            known |= progress.nodes;
        }
        if preds & !known != 0 {
            return None;
        }
        // Every lane but the first is held back by a signal when the launch begins.
        if first && lane > 0 && foreign == 0 {
            start = start.max(cross);
        } else if first && lane == 0 {
            start = start.max(u64::from(self.table.acquire_ns));
        }
        if start + self.remaining[node] >= self.best {
            return None;
        }
        let mut next = partial.clone();
        let done = start + u64::from(self.dag.costs[node]);
        (next.done[node], next.known[node], next.lane_of[node]) = (done, known, lane);
        next.placed |= 1 << node;
        let waits = usize::from(foreign != 0 || first && lane > 0) as u64;
        let progress = &mut next.lanes[lane];
        progress.nodes |= 1 << node;
        progress.free = start
            + (1 + if first { foreign.count_ones().min(1) as u64 } else { waits })
                * u64::from(self.table.packet_ns);
        progress.drained = progress.drained.max(done);
        progress.known = known;
        if lane == 0 {
            next.last = Some(node);
        }
        Some(next)
    }

    /// The time of a whole plan, with the fence that lane 0 may need at its end.
    fn close(&self, partial: &Partial) -> u64 {
        let all = partial.lanes.iter().map(|lane| lane.drained).max().unwrap_or(0);
        let proven = partial.last.is_some_and(|last| (partial.known[last] | 1 << last) == partial.placed);
        let packets = partial.placed.count_ones() as u64 * u64::from(self.table.packet_ns);
        if proven {
            return all.max(packets);
        }
        let own = &partial.lanes[0];
        let open = partial.last.map_or(0, |last| own.nodes & !(partial.known[last] | 1 << last));
        let drain =
            if open != 0 || own.nodes != 0 { own.drained + u64::from(self.table.behind_ns()) } else { 0 };
        let others = partial.lanes[1..].iter().filter(|lane| lane.nodes != 0);
        let others = others.map(|lane| lane.drained + u64::from(self.table.across_ns())).max().unwrap_or(0);
        own.free.max(drain).max(others).max(packets + u64::from(self.table.packet_ns))
    }
}

/// Durations of a random graph.
#[derive(Clone, Copy, Debug)]
enum Durations {
    Equal,
    Uneven,
}

/// A random graph of packets.
fn random(nodes: usize, durations: Durations, random: &mut Rng) -> Dag {
    let density = 1 + random.usize(..4);
    let mut edges = Vec::new();
    for to in 1..nodes as u32 {
        edges.extend((0..to).filter(|_| random.usize(..8) < density).map(|from| (from, to)));
    }
    let mut dag = Dag::new(nodes, &edges);
    if let Durations::Uneven = durations {
        // From 1 to 128 us, each power of two as often.
        dag.costs = (0..nodes).map(|_| 1_000 << random.usize(..8)).collect();
    }
    dag
}

/// How much longer than the best plan ours take, in thousandths, ascending.
fn distances(graphs: usize, nodes: usize, lanes: usize, durations: Durations, seed: u64) -> Vec<u64> {
    let (mut source, table) = (Rng::with_seed(seed), cost::CDNA3.table);
    let distance = |_| {
        let dag = random(nodes, durations, &mut source);
        let ours = plan(&dag.problem(), lanes, &table).estimate_ns();
        let best = best(&dag, lanes, &table, ours);
        assert!(best <= ours && best >= Bounds::of(&dag.problem(), &table).makespan_ns(&table), "{dag:?}");
        (ours - best) * 1_000 / best.max(1)
    };
    let mut distances: Vec<u64> = (0..graphs).map(distance).collect();
    distances.sort_unstable();
    distances
}

#[test]
fn plans_of_small_graphs_are_near_the_best_of_all() {
    for (durations, mean_at_most, worst_at_most) in
        [(Durations::Equal, 20, 200), (Durations::Uneven, 30, 350)]
    {
        let distances = distances(60, 5, 2, durations, 1);
        let mean = distances.iter().sum::<u64>() / distances.len() as u64;
        let worst = distances[distances.len() - 1];
        assert!(mean <= mean_at_most && worst <= worst_at_most, "{durations:?}: {mean}, {worst} thousandths");
    }
}

#[test]
#[ignore = "prints a table, in a minute"]
fn table_of_distances_from_the_best_plan() {
    println!(
        "{:>5} {:>5} {:<8} {:>6} {:>8} {:>7} {:>7} {:>7} {:>7}",
        "nodes", "lanes", "times", "graphs", "best", "mean", "90 %", "99 %", "worst"
    );
    for nodes in 3..=7 {
        for lanes in [1, 2] {
            for durations in [Durations::Equal, Durations::Uneven] {
                let graphs = if nodes == 7 { 300 } else { 1_000 };
                let all = distances(graphs, nodes, lanes, durations, nodes as u64);
                let at_best = all.iter().filter(|&&distance| distance == 0).count();
                let percent = |thousandths: u64| format!("{:.1} %", thousandths as f64 / 10.0);
                let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
                println!(
                    "{nodes:>5} {lanes:>5} {:<8} {graphs:>6} {:>8} {:>7} {:>7} {:>7} {:>7}",
                    format!("{durations:?}"),
                    format!("{:.1} %", at_best as f64 * 100.0 / all.len() as f64),
                    format!("{:.2} %", mean / 10.0),
                    percent(all[all.len() * 9 / 10]),
                    percent(all[all.len() * 99 / 100]),
                    percent(all[all.len() - 1]),
                );
            }
        }
    }
}
