//! Nodes of different urgency: what may run at the same time shares no lane.

use proptest::prelude::*;

use super::*;

fn with_urgencies(max_nodes: usize) -> impl Strategy<Value = (Dag, Vec<u8>)> {
    (dags(max_nodes), prop::collection::vec(0u8..3, max_nodes)).prop_map(|(dag, mut urgencies)| {
        urgencies.truncate(dag.classes.len());
        (dag, urgencies)
    })
}

#[test]
fn branches_of_different_urgency_have_lanes_of_their_own() {
    let dag = shapes::paths(4, 20);
    let urgencies: Vec<u8> = (0..80).map(|node| u8::from(node % 4 == 2)).collect();
    let problem = dag.problem().with_urgencies(&urgencies).unwrap();
    let plan = plan(&problem, 4, &cost::CDNA3.table);
    check(&problem, &plan).unwrap();
    check_urgency(&problem, &plan).unwrap();
    assert_eq!((plan.candidate, plan.lanes.len(), plan.counts().waits), (Candidate::Urgency, 2, 1));
    // One lane cannot keep them apart.
    assert_eq!(super::super::plan(&problem, 1, &cost::CDNA3.table).lanes.len(), 1);
    let mixed = check_urgency(&problem, &candidate(&problem, Candidate::Levels, 1, &cost::CDNA3.table));
    assert!(matches!(mixed, Err(Fault::Mixed { .. })), "{mixed:?}");
}

#[test]
fn urgency_costs_nothing_where_nothing_can_be_overtaken() {
    let dag = shapes::chain(50);
    let urgencies: Vec<u8> = (0..50).map(|node| node % 3).collect();
    let problem = dag.problem().with_urgencies(&urgencies).unwrap();
    assert_eq!(plan(&problem, 4, &cost::CDNA3.table), plan(&dag.problem(), 4, &cost::CDNA3.table));
    assert!(!problem.contested().contains(&true));
    let refused = dag.problem().with_urgencies(&urgencies[1..]).unwrap_err();
    assert_eq!(refused, Error::LengthMismatch { nodes: 50, found: 49 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nodes_of_different_urgency_that_may_meet_share_no_lane(
        (dag, urgencies) in with_urgencies(40),
        lanes in 3usize..5,
        seed in any::<u64>(),
    ) {
        let problem = dag.problem().with_urgencies(&urgencies).unwrap();
        let plan = plan(&problem, lanes, &cost::CDNA3.table);
        prop_assert_eq!(check(&problem, &plan), Ok(()));
        prop_assert_eq!(check_urgency(&problem, &plan), Ok(()));
        executor::run(&dag, &plan, seed).map_err(TestCaseError::fail)?;
        // Not a lane more than there are classes.
        let queues = plan.lanes.iter().filter(|lane| lane.kind == LaneKind::Queue).count();
        prop_assert!(plan.candidate != Candidate::Urgency || (2..=3).contains(&queues));
    }
}
