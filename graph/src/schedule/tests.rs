//! Plans against the checker, against a random executor that knows only the rules of queues, and against exhaustive
//! search on small graphs.

mod devices;
mod executor;
mod memory;
mod minimal;
mod optimal;
mod shapes;
mod templates;
mod urgency;

use proptest::prelude::*;

use super::plan::Counts;
use super::*;
use crate::template::flatten::flatten;
use crate::template::{Graph, HostFn, Node, NodeId};

/// A problem that owns its tables.
#[derive(Debug, Clone)]
struct Dag {
    preds: Csr,
    succs: Csr,
    classes: Vec<Class>,
    costs: Vec<u32>,
    /// By node; empty for one device.
    devices: Vec<u16>,
}

impl Dag {
    /// Packet nodes of equal duration with these edges, each from a smaller number to a greater one.
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let preds = Csr::from_pairs(nodes, edges.iter().map(|&(from, to)| (to, from)));
        let succs = preds.transposed();
        let (classes, costs) = (vec![Class::Packet; nodes], vec![cost::CDNA3.table.kernel_ns; nodes]);
        Self { preds, succs, classes, costs, devices: Vec::new() }
    }

    fn problem(&self) -> Problem<'_> {
        let problem = Problem::new(&self.preds, &self.succs, &self.classes, &self.costs).unwrap();
        if self.devices.is_empty() { problem } else { problem.on_devices(&self.devices).unwrap() }
    }

    /// Spreads the nodes over devices; numbers without a packet are left out.
    fn spread(mut self, device: impl Fn(u32) -> u16) -> Self {
        let on_device = |class: &Class| matches!(class, Class::Packet | Class::Engine(_));
        let packets = || (0..).zip(&self.classes).filter(|(_, class)| on_device(class));
        let mut used: Vec<u16> = packets().map(|(node, _)| device(node)).collect();
        used.sort_unstable();
        used.dedup();
        let number = |node| used.binary_search(&device(node)).unwrap_or(0) as u16;
        self.devices = (0..self.classes.len() as u32).map(number).collect();
        self
    }

    /// Makes packets of what runs beside the queues.
    fn on_queues_alone(&mut self) {
        let asides = self.classes.iter_mut().filter(|class| !matches!(class, Class::Packet | Class::Join));
        asides.for_each(|class| *class = Class::Packet);
    }

    /// Plans the graph in every way, checks all plans, and returns the one that the cost table prefers.
    fn plan(&self, lanes: usize) -> Plan {
        let problem = self.problem();
        for kind in CANDIDATES {
            check(&problem, &candidate(&problem, kind, lanes, &cost::CDNA3.table)).unwrap();
        }
        let plan = plan(&problem, lanes, &cost::CDNA3.table);
        check(&problem, &plan).unwrap();
        plan
    }

    fn counts(&self) -> Counts {
        self.plan(1).counts()
    }
}

#[test]
fn a_chain_needs_a_barrier_bit_per_packet_and_nothing_else() {
    let plan = shapes::chain(100).plan(4);
    let expected = Counts { packets: 100, barrier_bits: 100, ..Counts::default() };
    assert_eq!(plan.counts(), expected);
    assert_eq!(plan.lanes.len(), 1);
}

#[test]
fn fork_join_on_one_lane_needs_no_signal_and_one_barrier_bit_per_level() {
    let expected = Counts { packets: 145, barrier_bits: 33, ..Counts::default() };
    assert_eq!(shapes::fork_join(8, 16).counts(), expected);
    assert_eq!(shapes::fork_join(8, 16).plan(4).counts(), expected);
}

#[test]
fn independent_packets_end_in_one_fence() {
    let counts = shapes::independent(1024).counts();
    assert_eq!(counts, Counts { packets: 1024, barrier_bits: 2, barrier_ands: 1, ..Counts::default() });
}

#[test]
fn a_diamond_takes_three_levels() {
    let plan = Dag::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]).plan(1);
    let barriers: Vec<bool> = plan.lanes[0].steps.iter().map(|step| step.barrier).collect();
    assert_eq!(barriers, [true, true, false, true]);
}

#[test]
fn graphbench_topologies_need_a_barrier_bit_per_level() {
    for (dag, levels) in [
        (shapes::paths(1, 1024), 1024),
        (shapes::paths(2, 512), 512),
        (shapes::paths(4, 256), 256),
        (shapes::full(2, 512), 512),
        (shapes::full(4, 256), 256),
    ] {
        let counts = dag.counts();
        assert_eq!((counts.packets, counts.waits, counts.signals), (1024, 0, 0));
        // Where the last level is wider than one, a fence collects it.
        assert_eq!(counts.barrier_bits, levels + counts.barrier_ands);
        assert!(counts.barrier_ands <= 1);
    }
}

#[test]
fn trees_take_a_level_per_depth() {
    let counts = shapes::tree_out(10).counts();
    assert_eq!((counts.packets, counts.barrier_bits, counts.waits), (1023, 11, 0));
    let counts = shapes::tree_in(10).counts();
    assert_eq!((counts.packets, counts.barrier_bits, counts.barrier_ands), (1023, 10, 0));
}

#[test]
fn an_empty_graph_is_one_fence() {
    let mut of_joins = Dag::new(3, &[(0, 1), (1, 2)]);
    of_joins.classes.fill(Class::Join);
    for dag in [Dag::new(0, &[]), of_joins] {
        assert_eq!(dag.counts(), Counts { barrier_ands: 1, barrier_bits: 1, ..Counts::default() });
        let plan = dag.plan(4);
        assert_eq!(plan.counts(), dag.counts());
    }
}

#[test]
fn a_join_costs_no_packet() {
    let mut dag = Dag::new(101, &(0..50).flat_map(|at| [(at, 50), (50, 51 + at)]).collect::<Vec<_>>());
    dag.classes[50] = Class::Join;
    let counts = dag.counts();
    assert_eq!((counts.packets, counts.barrier_bits, counts.barrier_ands, counts.waits), (100, 3, 1, 0));
}

#[test]
fn a_host_node_waits_for_a_fence_rather_than_for_every_packet() {
    let mut dag = Dag::new(101, &(0..100).map(|at| (at, 100)).collect::<Vec<_>>());
    dag.classes[100] = Class::Host;
    let counts = dag.plan(1).counts();
    assert_eq!((counts.packets, counts.host_calls), (100, 1));
    // The fence before the host call, and the one that ends the launch.
    assert_eq!((counts.barrier_ands, counts.waits, counts.signals), (2, 2, 2));
}

#[test]
fn a_host_node_between_packets_costs_two_signals() {
    let mut dag = shapes::chain(3);
    dag.classes[1] = Class::Host;
    let plan = dag.plan(1);
    let counts = plan.counts();
    assert_eq!((counts.packets, counts.barrier_ands, counts.waits, counts.signals), (2, 1, 2, 2));
    assert!(!plan.lanes[1].entry);
}

#[test]
fn a_host_root_is_held_back_by_the_launch() {
    let mut dag = shapes::chain(2);
    dag.classes[0] = Class::Host;
    let plan = dag.plan(1);
    assert_eq!(plan.lanes[1].kind, LaneKind::Host);
    assert!(plan.lanes[1].entry);
}

#[test]
fn packets_behind_a_slow_host_call_come_last() {
    // A host root with one packet behind it, beside a chain of packets.
    let mut dag = Dag::new(6, &[(0, 1), (2, 3), (3, 4), (4, 5)]);
    dag.classes[0] = Class::Host;
    dag.costs[0] = 1_000_000;
    let plan = dag.plan(1);
    let last = plan.lanes[0].steps.iter().rev().find_map(|step| match step.action {
        Action::Node(node) => Some(node),
        Action::Fence => None,
    });
    assert_eq!(last, Some(1));
    assert_eq!(plan.candidate, Candidate::HostDepth);
}

#[test]
fn a_long_packet_with_slack_moves_to_a_level_that_is_long_anyway() {
    // A chain whose last packet is long, and a long packet beside it.
    let mut dag = Dag::new(4, &[(0, 1), (1, 2)]);
    dag.costs = vec![1_000, 1_000, 90_000, 80_000];
    let plan = dag.plan(1);
    assert_eq!(plan.candidate, Candidate::Balanced);
    assert!(plan.estimate_ns() < 100_000);
    assert!(candidate(&dag.problem(), Candidate::Levels, 1, &cost::CDNA3.table).estimate_ns() > 170_000);
}

#[test]
fn packets_whose_hosts_wait_for_fences_may_run_one_by_one() {
    // Three host nodes between packets: what other candidates gain by overlap, they lose to fences and waits.
    let edges = [(0, 4), (4, 5), (0, 6), (5, 7), (4, 8), (7, 8), (2, 9), (3, 9), (4, 9), (0, 10), (7, 10)];
    let mut dag = Dag::new(11, &edges);
    for host in [0, 6, 9] {
        dag.classes[host] = Class::Host;
    }
    dag.classes[7] = Class::Join;
    dag.costs = vec![5_000; 11];
    let time = |kind, interrupt_ns| {
        let table = CostTable { interrupt_ns, ..cost::CDNA3.table };
        candidate(&dag.problem(), kind, 1, &table).estimate_ns()
    };
    for other in [Candidate::Levels, Candidate::HostDepth] {
        assert!(time(Candidate::Serial, 0) < time(other, 0), "{other:?}");
        // Where packets behind the one that the host waits for are held back too, less is lost to fences.
        assert!(time(Candidate::Serial, 5_000) > time(other, 5_000), "{other:?}");
    }
    assert!(dag.plan(2).estimate_ns() <= time(Candidate::Serial, cost::CDNA3.table.interrupt_ns));
}

#[test]
fn long_unequal_paths_take_two_lanes() {
    // Level by level, each level would take as long as its longest packet.
    let mut dag = shapes::paths(2, 20);
    for (at, cost) in dag.costs.iter_mut().enumerate() {
        *cost = if (at / 2 + at) % 2 == 0 { 200_000 } else { 10_000 };
    }
    let plan = dag.plan(2);
    assert_eq!(plan.lanes.len(), 2, "{:?}", plan.candidate);
    let counts = plan.counts();
    assert_eq!((counts.waits, plan.lanes[1].entry), (1, true));
    let levels = candidate(&dag.problem(), Candidate::Levels, 1, &cost::CDNA3.table);
    assert!(plan.estimate_ns() * 3 < levels.estimate_ns() * 2);
}

#[test]
fn branches_of_unknown_durations_take_lanes_of_their_own() {
    // While all packets take equally long, the levels of one lane are as good.
    for dag in [shapes::paths(4, 20), shapes::paths(4, 200)] {
        let problem = dag.problem().with_guessed_durations();
        let plan = plan(&problem, 4, &cost::CDNA3.table);
        assert_eq!((plan.lanes.len(), plan.counts().waits), (4, 3), "{:?}", plan.candidate);
    }
    // Where each level waits for all of the one before, nothing is gained.
    for dag in
        [shapes::fork_join(8, 16), shapes::fork_join(8, 160), shapes::full(4, 40), shapes::full(4, 400)]
    {
        let problem = dag.problem().with_guessed_durations();
        assert_eq!(plan(&problem, 4, &cost::CDNA3.table).candidate, Candidate::Levels);
    }
}

#[test]
fn chains_of_parallel_paths_are_the_paths() {
    let dag = shapes::paths(4, 50);
    let reduced = reduce::transitive_reduction(&dag.problem(), reduce::Effort::Thorough);
    assert_eq!(chains::Chains::of(&dag.problem(), &reduced, reduce::Effort::Thorough).links(), 4 * 49);
    assert_eq!(bounds::fewest_syncs(&dag.problem()), Some(0));
    // Each level of full2 has four edges, of which two can be matched.
    assert_eq!(bounds::fewest_syncs(&shapes::full(2, 50).problem()), Some(2 * 49));
}

#[test]
fn bounds_of_a_chain_and_of_independent_packets() {
    let table = cost::CDNA3.table;
    let bounds = Bounds::of(&shapes::chain(10).problem(), &table);
    let length = 10 * u64::from(table.kernel_ns) + 9 * u64::from(table.behind_ns());
    assert_eq!((bounds.critical_path_ns, bounds.packets), (length, 10));
    let bounds = Bounds::of(&shapes::independent(100).problem(), &table);
    assert_eq!(bounds.critical_path_ns, u64::from(table.kernel_ns));
    assert_eq!(bounds.makespan_ns(&table), 100 * u64::from(table.packet_ns));
    assert_eq!(bounds.in_order_ns(4), 25 * u64::from(table.kernel_ns));
}

#[test]
fn a_problem_must_be_numbered_in_topological_order() {
    let preds = Csr::from_pairs(2, [(0, 1)].into_iter());
    let succs = preds.transposed();
    let refused = Problem::new(&preds, &succs, &[Class::Packet; 2], &[0; 2]);
    assert_eq!(refused.unwrap_err(), Error::NotTopological { from: 1, to: 0 });
    let refused = Problem::new(&preds, &succs, &[Class::Packet; 3], &[0; 2]);
    assert_eq!(refused.unwrap_err(), Error::LengthMismatch { nodes: 2, found: 3 });
}

/// Two packets around a host call, then two more packets, the last behind both.
fn small_plan() -> (Dag, Plan) {
    let mut dag = Dag::new(5, &[(0, 1), (1, 2), (0, 3), (2, 4), (3, 4)]);
    dag.classes[1] = Class::Host;
    let plan = candidate(&dag.problem(), Candidate::Levels, 1, &cost::CDNA3.table);
    check(&dag.problem(), &plan).unwrap();
    (dag, plan)
}

#[test]
fn copies_of_an_engine_are_a_lane_of_its_own() {
    let mut dag = Dag::new(5, &[(0, 3), (1, 4), (2, 4), (3, 4)]);
    (dag.classes[0], dag.classes[1], dag.classes[2]) = (Class::Engine(0), Class::Engine(0), Class::Engine(1));
    let plan = dag.plan(1);
    let kinds: Vec<LaneKind> = plan.lanes.iter().map(|lane| lane.kind).collect();
    assert_eq!(kinds, [LaneKind::Queue, LaneKind::Engine(0), LaneKind::Engine(1)]);
    assert!(plan.lanes[1].steps.iter().all(|step| step.barrier), "an engine's copies are in order");
    let counts = plan.counts();
    assert_eq!((counts.packets, counts.engine_copies, counts.host_calls), (2, 3, 0));
}

#[test]
fn the_checker_refuses_a_copy_on_another_engine() {
    let mut dag = Dag::new(3, &[(0, 2), (1, 2)]);
    dag.classes[0] = Class::Engine(0);
    let plan = dag.plan(1);
    let mut worse = plan.clone();
    worse.lanes[1].kind = LaneKind::Engine(1);
    assert_eq!(check(&dag.problem(), &worse), Err(Fault::Misplaced(0)));
    let mut worse = plan;
    worse.lanes[1].kind = LaneKind::Queue;
    assert_eq!(check(&dag.problem(), &worse), Err(Fault::Misplaced(0)));
}

#[test]
fn the_checker_names_each_kind_of_fault() {
    let (dag, plan) = small_plan();
    let problem = dag.problem();
    let fault = |change: &dyn Fn(&mut Plan)| {
        let mut worse = plan.clone();
        change(&mut worse);
        check(&problem, &worse).unwrap_err()
    };
    let at = |node: u32| plan.place(node).unwrap();
    let [host, second, last] = [1, 2, 4].map(at);
    assert_eq!((host.lane, second.lane, last.lane), (1, 0, 0));
    fn step(plan: &mut Plan, at: StepRef) -> &mut Step {
        &mut plan.lanes[at.lane as usize].steps[at.position as usize]
    }

    let dropped = fault(&|plan| plan.lanes[0].remove_wait(second.position, 0));
    assert_eq!(dropped, Fault::Unenforced { from: 1, to: 2 });
    let cleared = fault(&|plan| step(plan, last).barrier = false);
    assert!(matches!(cleared, Fault::Unenforced { to: 4, .. }));
    let twice = fault(&|plan| step(plan, last).action = Action::Node(2));
    assert_eq!(twice, Fault::Misplaced(2));
    let lost = fault(&|plan| step(plan, last).action = Action::Fence);
    assert_eq!(lost, Fault::Misplaced(4));
    assert_eq!(fault(&|plan| step(plan, host).signals = false), Fault::NoSignal(second));
    assert_eq!(
        fault(&|plan| step(plan, StepRef { lane: 0, position: 0 }).barrier = false),
        Fault::NotHeldBack(0)
    );
    let hanging = fault(&|plan| {
        let mut lane = Lane::new(LaneKind::Host);
        lane.push(Action::Node(1), true, &[last]);
        lane.steps[0].signals = true;
        step(plan, last).signals = true;
        plan.lanes[1] = lane;
    });
    assert_eq!(hanging, Fault::Deadlock(second));
    let open = fault(&|plan| {
        let mut lane = Lane::new(LaneKind::Queue);
        lane.entry = true;
        lane.push(Action::Fence, false, &[]);
        plan.lanes.push(lane);
    });
    assert_eq!(open, Fault::NotAwaited(StepRef { lane: 2, position: 0 }));
}

#[test]
fn the_executor_finds_what_the_checker_finds() {
    let (dag, plan) = small_plan();
    let fails = |plan: &Plan| (0..200).any(|seed| executor::run(&dag, plan, seed).is_err());
    assert!(!fails(&plan));
    for &at in plan.order() {
        for nth in 0..plan.waits(at).len() {
            let mut worse = plan.clone();
            worse.lanes[at.lane as usize].remove_wait(at.position, nth);
            assert!(fails(&worse), "wait {nth} of {at:?}");
        }
        if at.lane == 0 && at.position > 0 && plan.step(at).barrier {
            let mut worse = plan.clone();
            worse.lanes[0].steps[at.position as usize].barrier = false;
            assert!(fails(&worse), "barrier bit of {at:?}");
        }
    }
}

#[test]
fn a_hundred_thousand_nodes_are_planned_and_checked() {
    for dag in [
        shapes::chain(100_000),
        shapes::full(4, 25_000),
        shapes::independent(100_000),
        shapes::paths(4, 25_000),
    ] {
        let problem = dag.problem();
        check(&problem, &plan(&problem, 4, &cost::CDNA3.table)).unwrap();
        let problem = problem.with_guessed_durations();
        check(&problem, &plan(&problem, 4, &cost::CDNA3.table)).unwrap();
    }
}

/// Random DAGs: packets mostly, some host nodes, copies by engines and joins, durations over three orders of magnitude.
fn dags(max_nodes: usize) -> impl Strategy<Value = Dag> {
    let engine = (0u8..2).prop_map(Class::Engine);
    let class =
        prop_oneof![8 => Just(Class::Packet), 1 => Just(Class::Host), 1 => engine, 2 => Just(Class::Join)];
    let costs = prop_oneof![Just(5_000u32..5_001), Just(100..300_000)];
    (1..=max_nodes, costs, 0.1f64..3.0).prop_flat_map(move |(nodes, costs, density)| {
        let edges = ((nodes as f64 * density) as usize).max(1);
        (
            prop::collection::vec((any::<u32>(), any::<u32>()), edges),
            prop::collection::vec(class.clone(), nodes),
            prop::collection::vec(costs, nodes),
        )
            .prop_map(move |(picks, classes, costs)| {
                let mut edges: Vec<(u32, u32)> = picks
                    .into_iter()
                    .map(|(a, b)| (a % nodes as u32, b % nodes as u32))
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| (a.min(b), a.max(b)))
                    .collect();
                edges.sort_unstable();
                edges.dedup();
                Dag { classes, costs, ..Dag::new(nodes, &edges) }
            })
    })
}

const CANDIDATES: [Candidate; 13] = [
    Candidate::Levels,
    Candidate::Balanced,
    Candidate::HostDepth,
    Candidate::Serial,
    Candidate::Strict,
    Candidate::Relaxed,
    Candidate::LevelLanes,
    Candidate::Turns,
    Candidate::Streams(Policy::RoundRobin),
    Candidate::Streams(Policy::SegmentsByLevel),
    Candidate::Published(Policy::RoundRobin),
    Candidate::Published(Policy::SegmentsDepthFirst),
    Candidate::Urgency,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_plan_passes_the_checker_and_the_executor(dag in dags(40), lanes in 1usize..5, seed in any::<u64>()) {
        let problem = dag.problem();
        for kind in CANDIDATES {
            let plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
            prop_assert_eq!(check(&problem, &plan), Ok(()));
            for seed in 0..4 {
                executor::run(&dag, &plan, seed).map_err(TestCaseError::fail)?;
            }
            executor::run(&dag, &plan, seed).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn no_wait_and_no_barrier_bit_can_be_spared(dag in dags(24), lanes in 1usize..5) {
        let problem = dag.problem();
        // What AMD's releases publish has more than it needs.
        for kind in CANDIDATES.into_iter().filter(|kind| !matches!(kind, Candidate::Published(_))) {
            let plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
            for &at in plan.order() {
                for nth in 0..plan.waits(at).len() {
                    let mut worse = plan.clone();
                    worse.lanes[at.lane as usize].remove_wait(at.position, nth);
                    prop_assert!(check(&problem, &worse).is_err(), "wait {} of {:?} in {:?}", nth, at, plan);
                }
                let in_order = matches!(kind, Candidate::Strict | Candidate::Serial);
                if !in_order && plan.lanes[at.lane as usize].kind == LaneKind::Queue && plan.step(at).barrier {
                    let mut worse = plan.clone();
                    worse.lanes[at.lane as usize].steps[at.position as usize].barrier = false;
                    prop_assert!(check(&problem, &worse).is_err(), "barrier of {:?} in {:?}", at, plan);
                }
            }
        }
    }

    /// What the checker accepts, the executor must find no counterexample for: on plans broken at random.
    #[test]
    fn the_checker_accepts_no_plan_that_misbehaves(
        dag in dags(12),
        lanes in 1usize..4,
        kind in prop::sample::select(&CANDIDATES[..]),
        breaks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..6),
    ) {
        let problem = dag.problem();
        let mut plan = candidate(&problem, kind, lanes, &cost::CDNA3.table);
        for (at, barrier) in breaks {
            let at = *at.get(plan.order());
            if barrier {
                plan.lanes[at.lane as usize].steps[at.position as usize].barrier ^= true;
            } else if !plan.waits(at).is_empty() {
                plan.lanes[at.lane as usize].remove_wait(at.position, 0);
            }
        }
        let runs: Vec<_> = (0..60).map(|seed| executor::run(&dag, &plan, seed)).collect();
        if check(&problem, &plan).is_ok() {
            prop_assert!(runs.iter().all(Result::is_ok), "{:?}", runs);
        }
    }

    #[test]
    fn a_plan_is_no_worse_than_serial_and_no_better_than_the_bounds(dag in dags(40), lanes in 1usize..5) {
        let (problem, table) = (dag.problem(), cost::CDNA3.table);
        let plan = plan(&problem, lanes, &table);
        let serial = candidate(&problem, Candidate::Serial, 1, &table);
        prop_assert!(plan.estimate_ns() <= serial.estimate_ns());
        prop_assert!(plan.estimate_ns() >= Bounds::of(&problem, &table).makespan_ns(&table));
        // A packet's path in packets is a lower bound on the barrier bits of a one-lane plan without host nodes.
        if !problem.has_asides() {
            let levels = candidate(&problem, Candidate::Levels, 1, &table).counts();
            let path = shapes::longest_path(&dag);
            prop_assert!(levels.barrier_bits - levels.barrier_ands <= path.max(1));
            prop_assert_eq!((levels.waits, levels.signals), (0, 0));
        }
    }

    #[test]
    fn levels_without_host_nodes_need_no_search_for_barriers(mut dag in dags(40)) {
        dag.on_queues_alone();
        let problem = dag.problem();
        let levels = levels::Levels::of(&problem);
        let searched = emit::emit(&problem, &levels.nodes, None, &[0], emit::Style::Relaxed);
        prop_assert_eq!(levels.plan(&problem), searched);
    }

    #[test]
    fn plans_of_guessed_durations_are_valid(mut dag in dags(60), lanes in 1usize..5, unit in 1u32..200) {
        // Half of them are packets only, which are planned with an eye on compute units.
        if unit.is_multiple_of(2) {
            dag.on_queues_alone();
        }
        let units: Vec<u32> = (0..).map(|at| at * unit % 300).take(dag.classes.len()).collect();
        let problem = dag.problem().with_guessed_durations();
        for problem in [problem, problem.with_units(&units).unwrap()] {
            prop_assert_eq!(check(&problem, &plan(&problem, lanes, &cost::CDNA3.table)), Ok(()));
        }
    }

    #[test]
    fn reduction_keeps_reachability_and_nothing_else(dag in dags(30)) {
        let problem = dag.problem();
        let reduced = reduce::transitive_reduction(&problem, reduce::Effort::Thorough);
        prop_assert!(reduced.exact);
        let before = shapes::reachability(&dag.preds);
        prop_assert_eq!(&shapes::reachability(&reduced.preds), &before);
        for (to, from) in reduced.preds.pairs() {
            let detour = (from + 1..to).any(|via| before[from as usize][via as usize] && before[via as usize][to as usize]);
            prop_assert!(!detour);
        }
    }

    /// From a template with nested graphs, empty and disabled nodes to a checked plan.
    #[test]
    fn flattened_templates_are_planned_in_their_order(
        shape in prop::collection::vec((0u8..8, any::<u64>()), 1..40),
        seed in any::<u64>(),
    ) {
        let mut stack: Vec<(Graph<u32, u32, ()>, Vec<NodeId>)> = vec![(Graph::new(), Vec::new())];
        for (kind, bits) in shape {
            let depth = stack.len();
            let (graph, ids) = stack.last_mut().unwrap();
            let dependencies: Vec<NodeId> =
                ids.iter().rev().take(6).enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, &id)| id).collect();
            match kind {
                0 => stack.push((Graph::new(), Vec::new())),
                1 if depth > 1 => {
                    let (child, _) = stack.pop().unwrap();
                    let (graph, ids) = stack.last_mut().unwrap();
                    let dependencies: Vec<NodeId> = ids.last().copied().into_iter().collect();
                    ids.push(graph.add(Node::Child(Box::new(child)), &dependencies).unwrap());
                }
                2 => ids.push(graph.add(Node::Empty, &dependencies).unwrap()),
                3 => ids.push(graph.add(Node::Host(HostFn::new(|| ())), &dependencies).unwrap()),
                _ => ids.push(graph.add(Node::EventRecord(0), &dependencies).unwrap()),
            }
        }
        while stack.len() > 1 {
            let (child, _) = stack.pop().unwrap();
            let (graph, ids) = stack.last_mut().unwrap();
            ids.push(graph.add(Node::Child(Box::new(child)), &[]).unwrap());
        }
        let flat = flatten(&stack[0].0, |node, _| node.index() % 7 != 3).unwrap();
        let classes = flat.work.iter().map(|work| match work {
            None => Class::Join,
            Some(Node::Host(_)) => Class::Host,
            Some(_) => Class::Packet,
        });
        let dag = Dag {
            preds: flat.graph.preds().clone(),
            succs: flat.graph.succs().clone(),
            classes: classes.collect(),
            costs: vec![5_000; flat.graph.len()],
            devices: Vec::new(),
        };
        executor::run(&dag, &dag.plan(3), seed).map_err(TestCaseError::fail)?;
    }
}
