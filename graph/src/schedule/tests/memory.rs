//! Which allocations a plan keeps apart, against the executor; how few bytes plans need, against exhaustive search.

use std::collections::HashMap;

use super::super::memory::{Allocation, Goal, LimitExceeded, Sharing, plan_within};
use super::*;

/// A graph with allocations.
#[derive(Clone, Debug)]
struct Buffers {
    dag: Dag,
    allocations: Vec<Allocation>,
}

/// Allocations that live from a node to one behind it, or to no end.
fn buffers(max_nodes: usize, most: usize) -> impl Strategy<Value = Buffers> {
    let allocation = (
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        0u64..100,
        0u8..8,
    );
    (dags(max_nodes), prop::collection::vec(allocation, 0..most)).prop_map(|(dag, picks)| {
        let problem = dag.problem();
        let runs: Vec<u32> = problem.nodes().filter(|&node| problem.class(node) != Class::Join).collect();
        let allocations = picks.into_iter().filter(|_| !runs.is_empty()).map(|(first, way, bytes, fate)| {
            let first = runs[first.index(runs.len())];
            let (mut at, mut last) = (first, first);
            for step in way {
                let succs = dag.succs.row(at);
                if succs.is_empty() {
                    break;
                }
                at = succs[step.index(succs.len())];
                last = if problem.class(at) == Class::Join { last } else { at };
            }
            Allocation { bytes, first: vec![first], last: (fate > 0).then(|| vec![last]) }
        });
        let allocations = allocations.collect();
        Buffers { allocations, dag }
    })
}

/// The graph with an edge for each two allocations that the plan keeps apart.
fn with_what_is_shared(buffers: &Buffers, sharing: &Sharing) -> Dag {
    let Buffers { dag, allocations } = buffers;
    let mut edges: Vec<(u32, u32)> = dag.preds.pairs().collect();
    for (a, ended) in allocations.iter().enumerate() {
        for (b, begun) in allocations.iter().enumerate().filter(|&(b, _)| sharing.before(a, b)) {
            assert_ne!(a, b);
            let last = ended.last.as_ref().expect("what is never freed is before nothing");
            edges.extend(begun.first.iter().flat_map(|&first| last.iter().map(move |&last| (first, last))));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let preds = Csr::from_pairs(dag.preds.len(), edges.iter().copied());
    Dag { succs: preds.transposed(), preds, ..dag.clone() }
}

/// The largest sum of allocations of which none is before another, by trying all sets.
fn heaviest_antichain(sharing: &Sharing, count: usize) -> u64 {
    let apart = |a: usize, b: usize| sharing.before(a, b) || sharing.before(b, a);
    let together = |set: &u32| {
        let members: Vec<usize> = (0..count).filter(|at| set >> at & 1 == 1).collect();
        members.iter().all(|&a| members.iter().all(|&b| a == b || !apart(a, b)))
    };
    let bytes =
        |set: u32| (0..count).filter(|at| set >> at & 1 == 1).map(|at| sharing.bytes(at)).sum::<u64>();
    (0..1u32 << count).filter(together).map(bytes).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The executor knows the rules of queues, and nothing of how the order was found.
    #[test]
    fn allocations_that_a_plan_keeps_apart_never_meet(buffers in buffers(30, 12), lanes in 1usize..5, seed in any::<u64>()) {
        let problem = buffers.dag.problem();
        for kind in CANDIDATES {
            let plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
            let sharing = Sharing::of(&problem, &plan, &buffers.allocations);
            let stricter = with_what_is_shared(&buffers, &sharing);
            prop_assert_eq!(executor::run(&stricter, &plan, seed), Ok(()), "{:?}", kind);
        }
    }

    #[test]
    fn what_a_plan_keeps_apart_is_an_order_and_its_peak_the_heaviest_antichain(buffers in buffers(20, 9), lanes in 1usize..5) {
        let problem = buffers.dag.problem();
        let count = buffers.allocations.len();
        for kind in CANDIDATES {
            let plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
            let sharing = Sharing::of(&problem, &plan, &buffers.allocations);
            for a in 0..count {
                for b in (0..count).filter(|&b| sharing.before(a, b)) {
                    prop_assert!(!sharing.before(b, a));
                    prop_assert!((0..count).all(|c| !sharing.before(b, c) || sharing.before(a, c)));
                }
            }
            prop_assert_eq!(sharing.peak(), heaviest_antichain(&sharing, count), "{:?}", kind);
        }
    }

    #[test]
    fn plans_within_a_limit_are_valid_and_keep_to_it(buffers in buffers(30, 12), lanes in 1usize..5, limit in 0u64..400) {
        let (problem, table) = (buffers.dag.problem(), cost::CDNA3.table);
        let choose = |goal| plan_within(&problem, &buffers.allocations, goal, lanes, &table);
        let (fastest, smallest) = (choose(Goal::Fastest).unwrap().1, choose(Goal::Smallest).unwrap().1);
        prop_assert_eq!(fastest.needs, fastest.fastest);
        prop_assert_eq!(smallest.needs, fastest.smallest);
        prop_assert!(smallest.needs.bytes <= fastest.needs.bytes);
        match choose(Goal::Limit(limit)) {
            Ok((plan, chosen)) => {
                check(&problem, &plan).unwrap();
                prop_assert_eq!(Sharing::of(&problem, &plan, &buffers.allocations).peak(), chosen.needs.bytes);
                prop_assert!(chosen.needs.bytes <= limit);
                prop_assert!(fastest.needs.bytes > limit || chosen.needs == fastest.needs);
            }
            Err(LimitExceeded { least, limit: told }) => {
                prop_assert_eq!((least, told), (smallest.needs.bytes, limit));
                prop_assert!(least > limit);
            }
        }
    }
}

/// The least peak of any plan. A plan's allocations that are in use at one time, in whatever run of it, are an antichain of
/// its order: what it needs is no less than what one packet behind the other needs, in an order of one of its runs.
fn least_bytes(buffers: &Buffers) -> u64 {
    let Buffers { dag, allocations } = buffers;
    let nodes = dag.preds.len();
    let peak_of_step = |done: u32, node: usize| {
        let begun = |at: &&Allocation| at.first.iter().any(|&first| (done | 1 << node) >> first & 1 == 1);
        let over = |at: &&Allocation| {
            at.last.as_ref().is_some_and(|last| last.iter().all(|&last| done >> last & 1 == 1))
        };
        allocations.iter().filter(begun).filter(|at| !over(at)).map(|at| at.bytes).sum::<u64>()
    };
    // By the set of nodes that are done, the least peak so far.
    let mut least: HashMap<u32, u64> = HashMap::from([(0, 0)]);
    for _ in 0..nodes {
        let mut next: HashMap<u32, u64> = HashMap::new();
        for (&done, &peak) in &least {
            for node in (0..nodes).filter(|node| done >> node & 1 == 0) {
                if dag.preds.row(node as u32).iter().all(|&pred| done >> pred & 1 == 1) {
                    let peak = peak.max(peak_of_step(done, node));
                    let least = next.entry(done | 1 << node).or_insert(u64::MAX);
                    *least = (*least).min(peak);
                }
            }
        }
        least = next;
    }
    least.into_values().next().unwrap_or(0)
}

/// A random graph of packets in which each node writes memory that its successors read.
fn producers(random: &mut fastrand::Rng, nodes: usize) -> Buffers {
    let mut edges = Vec::new();
    for to in 1..nodes {
        for _ in 0..1 + random.usize(..2) {
            edges.push((random.usize(..to) as u32, to as u32));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let dag = Dag::new(nodes, &edges);
    let written = (0..nodes as u32).map(|node| {
        let readers = dag.succs.row(node);
        let last = if readers.is_empty() { vec![node] } else { readers.to_vec() };
        Allocation { bytes: 1 + random.usize(..1000) as u64, first: vec![node], last: Some(last) }
    });
    let allocations = written.collect();
    Buffers { dag, allocations }
}

/// How far from the least peak the smallest plans are: of how many, how many are at it, and by how much others exceed it.
fn distances(nodes: usize, graphs: usize) -> (usize, f64, f64) {
    let mut random = fastrand::Rng::with_seed(nodes as u64);
    let (mut exact, mut sum, mut most) = (0, 0.0, 1.0f64);
    for _ in 0..graphs {
        let buffers = producers(&mut random, nodes);
        let problem = buffers.dag.problem();
        let (_, chosen) =
            plan_within(&problem, &buffers.allocations, Goal::Smallest, 4, &cost::CDNA3.table).unwrap();
        let least = least_bytes(&buffers);
        assert!(chosen.needs.bytes >= least, "{} < {least}: {buffers:?}", chosen.needs.bytes);
        let ratio = chosen.needs.bytes as f64 / least as f64;
        exact += usize::from(chosen.needs.bytes == least);
        (sum, most) = (sum + ratio, most.max(ratio));
    }
    (exact, sum / graphs as f64, most)
}

#[test]
fn the_smallest_plans_of_small_graphs_need_hardly_more_bytes_than_the_best() {
    for nodes in [3, 5, 7] {
        let (exact, mean, _) = distances(nodes, 100);
        assert!(exact >= 80 && mean < 1.05, "{nodes} nodes: {exact} of 100, {mean}");
    }
}

/// `cargo test --release -p aqlipse table_of_bytes -- --ignored --nocapture`
#[test]
#[ignore = "prints a table"]
fn table_of_bytes() {
    println!("{:>5} {:>8} {:>8} {:>8}", "nodes", "least", "mean", "most");
    for nodes in [3, 4, 5, 6, 7, 10, 14] {
        let (exact, mean, most) = distances(nodes, 1000);
        println!("{nodes:>5} {:>7.1}% {mean:>8.4} {most:>8.3}", exact as f64 / 10.0);
    }
}

#[test]
fn allocations_at_joins_are_used_by_what_runs_next_to_them() {
    // 0 allocates for 1 and 2, behind which 3 frees; 4 frees the same through 3.
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)];
    let mut dag = Dag::new(6, &edges);
    for join in [0, 3, 4] {
        dag.classes[join] = Class::Join;
    }
    let allocation = Allocation::between(&dag.problem(), 64, 0, Some(4));
    let sorted = |mut nodes: Vec<u32>| {
        nodes.sort_unstable();
        nodes
    };
    assert_eq!(sorted(allocation.first), [1, 2]);
    assert_eq!(allocation.last.map(sorted), Some(vec![1, 2]));
    assert_eq!(Allocation::between(&dag.problem(), 64, 0, None).last, None);
}

#[test]
fn what_nothing_uses_takes_no_memory_and_what_is_kept_shares_with_what_is_over() {
    let dag = Dag::new(3, &[(0, 1), (1, 2)]);
    let problem = dag.problem();
    let plan = plan(&problem, 1, &cost::CDNA3.table);
    let peak = |allocations: &[Allocation]| Sharing::of(&problem, &plan, allocations).peak();
    let used = Allocation { bytes: 100, first: vec![0], last: Some(vec![1]) };
    let unused = Allocation { bytes: 1000, first: Vec::new(), last: Some(Vec::new()) };
    let kept = Allocation { bytes: 70, first: vec![2], last: None };
    assert_eq!(peak(&[used.clone(), unused.clone()]), 100);
    assert_eq!(peak(&[used.clone(), kept.clone()]), 100);
    let kept_early = Allocation { first: vec![1], ..kept };
    assert_eq!(peak(&[used, unused, kept_early]), 170);
    assert_eq!(peak(&[]), 0);
}

#[test]
fn goals_are_read_from_text() {
    for (text, goal) in [
        ("fastest", Goal::Fastest),
        ("smallest", Goal::Smallest),
        ("0", Goal::Limit(0)),
        ("4096", Goal::Limit(4096)),
        ("64K", Goal::Limit(64 << 10)),
        ("512m", Goal::Limit(512 << 20)),
        ("2G", Goal::Limit(2 << 30)),
    ] {
        assert_eq!(text.parse(), Ok(goal), "{text}");
    }
    for wrong in ["", "K", "1T", "-1", "+1", "1 K", "quick", "99999999999G", "18446744073709551616", "1é"] {
        assert!(wrong.parse::<Goal>().is_err(), "{wrong}");
    }
}

#[test]
fn a_hundred_thousand_nodes_with_memory_are_planned() {
    // Kernels in a ladder, each with memory for the next one.
    let nodes = 100_000u32;
    let edges: Vec<(u32, u32)> = (2..nodes).flat_map(|to| [(to - 2, to), (to - 1, to)]).collect();
    let dag = Dag::new(nodes as usize, &edges);
    let allocations: Vec<Allocation> = (0..nodes - 1)
        .map(|node| Allocation { bytes: 10, first: vec![node], last: Some(vec![node + 1]) })
        .collect();
    let problem = dag.problem().with_guessed_durations();
    let (plan, chosen) = plan_within(&problem, &allocations, Goal::Smallest, 4, &cost::CDNA3.table).unwrap();
    check(&problem, &plan).unwrap();
    assert_eq!(chosen.needs.bytes, 20);
}
