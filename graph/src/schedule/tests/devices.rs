//! Plans over several devices: every packet on a queue of its own, and the guarantees of plans over one.

use proptest::prelude::*;

use super::*;

/// Random DAGs over up to five devices.
fn spread(max_nodes: usize) -> impl Strategy<Value = Dag> {
    (dags(max_nodes), prop::collection::vec(0u16..5, max_nodes), 1u16..6)
        .prop_map(|(dag, devices, count)| dag.spread(|node| devices[node as usize] % count))
}

#[test]
fn one_lane_of_each_device_and_a_signal_for_each_crossing() {
    // A pipeline that visits three devices twice.
    let dag = shapes::chain(6).spread(|node| (node % 3) as u16);
    let plan = candidate(&dag.problem(), Candidate::Levels, 1, &cost::CDNA3.table);
    check(&dag.problem(), &plan).unwrap();
    assert_eq!(plan.lanes.iter().map(|lane| lane.device).collect::<Vec<_>>(), [0, 1, 2]);
    let counts = plan.counts();
    // The last packet is device 2's: a fence on device 0 waits for it.
    assert_eq!((counts.packets, counts.waits, counts.signals), (6, 6, 6));
    assert_eq!(counts.barrier_ands, 6);
}

#[test]
fn work_of_two_devices_that_never_meets_waits_only_at_the_ends() {
    let dag = shapes::paths(2, 50).spread(|node| (node % 2) as u16);
    let plan = dag.plan(4);
    assert_eq!(plan.counts().waits, 1, "the end of the launch waits for the other device");
    assert!(plan.lanes[1].entry);
}

#[test]
fn a_plan_for_one_device_does_not_depend_on_how_it_is_said() {
    for dag in [shapes::fork_join(8, 16), shapes::paths(4, 50), shapes::full(3, 20)] {
        let said = dag.clone().spread(|_| 0);
        assert_eq!(plan(&said.problem(), 4, &cost::CDNA3.table), plan(&dag.problem(), 4, &cost::CDNA3.table));
    }
}

#[test]
fn devices_are_numbered_without_gaps() {
    let mut dag = Dag::new(3, &[]);
    let refused = |dag: &Dag, devices: &[u16]| dag.problem().on_devices(devices).unwrap_err();
    assert_eq!(refused(&dag, &[0, 2, 0]), Error::Devices(2));
    assert_eq!(refused(&dag, &[1, 1, 1]), Error::Devices(1));
    assert_eq!(refused(&dag, &[0, 1]), Error::LengthMismatch { nodes: 3, found: 2 });
    // Who is no packet may have any number.
    dag.classes[1] = Class::Host;
    assert_eq!(dag.problem().on_devices(&[0, 9, 0]).unwrap().device_count(), 1);
    let many: Vec<u16> = (0..=MAX_DEVICES as u16).collect();
    assert_eq!(refused(&Dag::new(many.len(), &[]), &many), Error::Devices(MAX_DEVICES as u16));
}

#[test]
fn the_checker_refuses_a_packet_on_another_device() {
    let dag = Dag::new(4, &[(0, 1), (1, 2), (2, 3)]).spread(|node| u16::from(node == 2));
    let plan = candidate(&dag.problem(), Candidate::Levels, 1, &cost::CDNA3.table);
    check(&dag.problem(), &plan).unwrap();
    let mut worse = plan.clone();
    worse.lanes[1].device = 0;
    assert_eq!(check(&dag.problem(), &worse), Err(Fault::Misplaced(2)));
    // As if all ran on one device, and the plan began and ended elsewhere.
    let mut worse = plan;
    worse.lanes[0].device = 1;
    worse.lanes[1].device = 0;
    assert!(check(&dag.problem(), &worse).is_err());
}

#[test]
fn many_devices_share_the_queues_that_there_are() {
    let devices = 60;
    let dag = shapes::paths(devices, 8).spread(|node| (node % devices) as u16);
    let plan = dag.plan(8);
    assert!(plan.lanes.len() <= MAX_QUEUES, "{}", plan.lanes.len());
}

#[test]
fn a_hundred_thousand_nodes_over_four_devices_are_planned_and_checked() {
    for dag in [shapes::chain(100_000), shapes::full(4, 25_000), shapes::paths(4, 25_000)] {
        let dag = dag.spread(|node| (node / 3 % 4) as u16);
        let problem = dag.problem();
        check(&problem, &plan(&problem, 4, &cost::CDNA3.table)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_plan_over_devices_passes_the_checker_and_the_executor(
        dag in spread(40),
        lanes in 1usize..5,
        seed in any::<u64>(),
    ) {
        let problem = dag.problem();
        for kind in CANDIDATES {
            let plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
            prop_assert_eq!(check(&problem, &plan), Ok(()));
            for seed in [0, 1, seed] {
                executor::run(&dag, &plan, seed).map_err(TestCaseError::fail)?;
            }
        }
        let (plan, bounds) = (plan(&problem, lanes, &cost::CDNA3.table), Bounds::of(&problem, &cost::CDNA3.table));
        prop_assert_eq!(check(&problem, &plan), Ok(()));
        prop_assert!(plan.estimate_ns() >= bounds.makespan_ns(&cost::CDNA3.table));
    }

    #[test]
    fn no_wait_between_devices_can_be_spared(dag in spread(20), lanes in 1usize..4) {
        let problem = dag.problem();
        for kind in CANDIDATES.into_iter().filter(|kind| !matches!(kind, Candidate::Published(_))) {
            let plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
            for &at in plan.order() {
                for nth in 0..plan.waits(at).len() {
                    let mut worse = plan.clone();
                    worse.lanes[at.lane as usize].remove_wait(at.position, nth);
                    prop_assert!(check(&problem, &worse).is_err(), "wait {} of {:?} in {:?}", nth, at, plan);
                }
            }
        }
    }
}
