//! Exhaustive search on small graphs: no smaller set of waits does it, no larger matching exists.

use proptest::prelude::*;

use super::super::{chains::Chains, emit, reduce::transitive_reduction};
use super::*;

/// Small graphs of packets, with a lane for each.
fn small(max_nodes: usize) -> impl Strategy<Value = (Dag, Vec<u8>)> {
    (2..=max_nodes).prop_flat_map(|nodes| {
        let pairs: Vec<(u32, u32)> =
            (0..nodes as u32).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
        let edges = prop::sample::subsequence(pairs.clone(), 0..=pairs.len());
        (edges, prop::collection::vec(0u8..3, nodes))
            .prop_map(move |(edges, lanes)| (Dag::new(nodes, &edges), lanes))
    })
}

/// Whether the waits, with the order of the lanes, enforce every edge.
fn enforces(dag: &Dag, lane_edges: &[(u32, u32)], waits: &[(u32, u32)]) -> bool {
    let ordered = lane_edges.iter().chain(waits).map(|&(from, to)| (to, from));
    let reach = shapes::reachability(&Csr::from_pairs(dag.preds.len(), ordered));
    dag.preds.pairs().all(|(to, from)| reach[from as usize][to as usize])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_smaller_set_of_implied_waits_enforces_the_graph((dag, lanes) in small(6)) {
        let nodes = dag.preds.len() as u32;
        let order: Vec<u32> = (0..nodes).collect();
        let plan = emit::emit(&dag.problem(), &order, Some(&lanes), &[0; 3], emit::Style::Strict);
        check(&dag.problem(), &plan).unwrap();
        let waits: usize = order.iter().map(|&node| plan.waits(plan.place(node).unwrap()).len()).sum();

        let same_lane = |from: u32, to: u32| lanes[from as usize] == lanes[to as usize];
        let pairs = (0..nodes).flat_map(|to| (0..to).map(move |from| (from, to)));
        let (lane_edges, others): (Vec<_>, Vec<_>) = pairs.partition(|&(from, to)| same_lane(from, to));
        let all = dag.preds.pairs().map(|(to, from)| (from, to)).chain(lane_edges.iter().copied());
        let reach = shapes::reachability(&Csr::from_pairs(nodes as usize, all.map(|(from, to)| (to, from)).collect::<Vec<_>>().into_iter()));
        let implied: Vec<(u32, u32)> = others.into_iter().filter(|&(from, to)| reach[from as usize][to as usize]).collect();
        let fewest = (0u32..1 << implied.len())
            .filter(|set| (set.count_ones() as usize) < waits)
            .find(|set| {
                let chosen: Vec<_> = implied.iter().zip(0..).filter(|(_, bit)| set >> bit & 1 == 1).map(|(&pair, _)| pair).collect();
                enforces(&dag, &lane_edges, &chosen)
            });
        prop_assert_eq!(fewest, None, "{} waits are too many", waits);
    }

    #[test]
    fn the_matching_is_maximum((dag, _) in small(7)) {
        let reduced = transitive_reduction(&dag.problem(), reduce::Effort::Thorough);
        let edges: Vec<(u32, u32)> = reduced.preds.pairs().map(|(to, from)| (from, to)).collect();
        prop_assume!(edges.len() <= 14);
        let chains = Chains::of(&dag.problem(), &reduced, reduce::Effort::Thorough);
        for node in 0..dag.preds.len() as u32 {
            if let Some(next) = chains.next(node) {
                prop_assert_eq!(chains.prev(next), Some(node));
                prop_assert!(edges.contains(&(node, next)));
            }
        }
        let is_matching = |set: u32| {
            let chosen = edges.iter().zip(0..).filter(|(_, bit)| set >> bit & 1 == 1);
            let (mut from, mut to) = (0u32, 0u32);
            chosen.into_iter().all(|(edge, _)| {
                let fresh = from >> edge.0 & 1 == 0 && to >> edge.1 & 1 == 0;
                from |= 1 << edge.0;
                to |= 1 << edge.1;
                fresh
            })
        };
        let most = (0u32..1 << edges.len()).filter(|&set| is_matching(set)).map(u32::count_ones).max();
        prop_assert_eq!(most, Some(chains.links() as u32));
    }
}
