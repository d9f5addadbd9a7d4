//! The simulator against times worked out by hand, and against bounds.

use proptest::prelude::*;

use hsa::packet::{Fences, Scope};

use aqlipse_graph::{
    Csr,
    schedule::{self, Bounds, Candidate, Class, CostTable, Policy, Problem},
};

use super::*;

/// Round numbers, each of which shows in a sum.
const TABLE: CostTable = CostTable {
    compute_units: 10,
    packet_ns: 1,
    dependent_ns: 20,
    cross_queue_ns: 300,
    host_wake_ns: 4_000,
    kernel_ns: 0,
    host_call_ns: 0,
    acquire_ns: 5,
    first_load_ns: 70,
    interrupt_ns: 600,
    // Of copies, which are kernels here.
    engine_copy_ns: 0,
    engine_bytes_per_us: 1,
    blit_bytes_per_us: 1,
    engine_min_bytes: 0,
    staged_bytes: 0,
};

fn kernel(node: u32, duration_ns: u32, units: u32, barrier: bool) -> Packet {
    let fences = Fences { barrier, ..Fences::NONE };
    Packet { work: Some(Work { node, duration_ns, units }), fences, ..Packet::default() }
}

fn queues(queues: &[&[Packet]]) -> Program {
    let work = |packet: &Packet| packet.work.map_or(0, |work| work.node + 1);
    let signal = |packet: &Packet| packet.signal.map_or(0, |signal| signal + 1);
    let packets = || queues.iter().flat_map(|packets| packets.iter());
    Program {
        queues: queues.iter().map(|packets| Queue { device: 0, packets: packets.to_vec() }).collect(),
        host: Vec::new(),
        signals: packets().map(signal).max().unwrap_or(0),
        nodes: packets().map(work).max().unwrap_or(0),
        host_arguments: false,
    }
}

fn makespan(program: &Program) -> u64 {
    run(program, &TABLE).unwrap().makespan_ns
}

#[test]
fn packets_of_a_queue_launch_one_behind_the_other() {
    let packets = [kernel(0, 100, 1, true), kernel(1, 100, 1, false), kernel(2, 50, 1, false)];
    let timeline = run(&queues(&[&packets]), &TABLE).unwrap();
    assert_eq!(timeline.nodes, [Some((0, 100)), Some((1, 101)), Some((2, 52))]);
    assert_eq!((timeline.makespan_ns, timeline.last_launch_ns), (101, vec![2]));
}

#[test]
fn a_barrier_bit_waits_for_all_before_and_drains() {
    let packets = [kernel(0, 100, 1, true), kernel(1, 500, 1, false), kernel(2, 7, 1, true)];
    assert_eq!(makespan(&queues(&[&packets])), 1 + 500 + 20 + 7);
}

#[test]
fn a_wait_for_another_queue_takes_a_signal_s_way() {
    let signals = Packet { signal: Some(0), ..kernel(0, 100, 1, true) };
    let waits = Packet { waits: [0].into_iter().collect(), ..Packet::default() };
    let program = queues(&[&[signals], &[waits, kernel(1, 50, 1, false)]]);
    let timeline = run(&program, &TABLE).unwrap();
    assert_eq!(timeline.nodes[1], Some((100 + 300, 100 + 300 + 50)));
}

#[test]
fn an_acquire_holds_its_packet_back_and_what_is_behind_it() {
    let acquiring =
        |packet: Packet, acquire| Packet { fences: Fences { acquire, ..packet.fences }, ..packet };
    for scope in [Scope::Agent, Scope::System] {
        let second = acquiring(kernel(1, 7, 1, true), scope);
        assert_eq!(makespan(&queues(&[&[kernel(0, 100, 1, true), second]])), 100 + 20 + 5 + 7);
    }
    // Without the barrier bit it acquires while the packet before runs.
    let packets = [kernel(0, 100, 1, true), acquiring(kernel(1, 100, 1, false), Scope::Agent)];
    let timeline = run(&queues(&[&packets]), &TABLE).unwrap();
    assert_eq!(timeline.nodes[1], Some((5, 105)));
    // Behind a barrier-AND packet it acquires when that has launched; a release takes nothing.
    let signals = Packet { signal: Some(0), ..kernel(0, 100, 1, true) };
    let waits = Packet { waits: [0].into_iter().collect(), ..Packet::default() };
    let behind = acquiring(kernel(1, 50, 1, false), Scope::Agent);
    let timeline = run(&queues(&[&[signals], &[waits, behind]]), &TABLE).unwrap();
    assert_eq!(timeline.nodes[1], Some((100 + 300 - 1 + 5, 100 + 300 - 1 + 5 + 50)));
}

#[test]
fn arguments_in_the_host_s_memory_make_each_kernel_longer() {
    let chain = queues(&[&[kernel(0, 100, 1, true), kernel(1, 100, 1, true)]]);
    assert_eq!(makespan(&chain), 100 + 20 + 100);
    assert_eq!(makespan(&chain.with_host_arguments()), 170 + 20 + 170);
}

#[test]
fn an_interrupt_holds_back_what_waits_for_the_completion_in_its_queue() {
    let signals = Packet { signal: Some(0), ..kernel(0, 100, 1, true) };
    let waits = Packet { waits: [0].into_iter().collect(), ..Packet::default() };
    let program = queues(&[&[signals, kernel(1, 10, 1, true)], &[waits, kernel(2, 50, 1, false)]]);
    let [quiet, loud] =
        [program.clone(), program.interrupting()].map(|program| run(&program, &TABLE).unwrap());
    assert_eq!((quiet.nodes[1], loud.nodes[1]), (Some((120, 130)), Some((720, 730))));
    // Another queue sees the signal as before.
    assert_eq!((quiet.nodes[2], loud.nodes[2]), (Some((400, 450)), Some((400, 450))));
}

#[test]
fn queues_share_the_packet_processors() {
    let one = [kernel(0, 0, 1, true)];
    let many: Vec<Vec<Packet>> = (0..6).map(|_| one.to_vec()).collect();
    let many: Vec<&[Packet]> = many.iter().map(|queue| &queue[..]).collect();
    assert_eq!(makespan(&queues(&many)), 5);
    // On another device there are others.
    let mut apart = queues(&many[..2]);
    apart.queues[1].device = 1;
    assert_eq!(makespan(&apart), 0);
}

#[test]
fn who_started_first_has_its_units_and_others_take_longer() {
    // 6 of 10 units, then 8 wanted: 4 for the 99 ns that are left to the first, then all 8.
    let packets = [kernel(0, 100, 6, true), kernel(1, 100, 8, false)];
    let timeline = run(&queues(&[&packets]), &TABLE).unwrap();
    assert_eq!(timeline.nodes[0], Some((0, 100)));
    let left = 100 * 8 - 99 * 4;
    assert_eq!(timeline.nodes[1], Some((1, 100 + left / 8 + 1)));
    // More than there are count as all.
    assert_eq!(makespan(&queues(&[&[kernel(0, 100, 1_000, true)]])), 100);
}

#[test]
fn host_calls_wake_up_and_run_one_at_a_time() {
    let mut program = queues(&[&[Packet { signal: Some(0), ..kernel(0, 100, 1, true) }]]);
    let waits = Packet { waits: [1].into_iter().collect(), ..Packet::default() };
    program.queues[0].packets.extend([waits, kernel(1, 10, 1, true)]);
    program.host.push(HostCall {
        node: 2,
        duration_ns: 30,
        waits: [0].into_iter().collect(),
        signal: Some(1),
    });
    (program.signals, program.nodes) = (2, 3);
    let timeline = run(&program, &TABLE).unwrap();
    assert_eq!(timeline.nodes[2], Some((4_100, 4_130)));
    assert_eq!(timeline.makespan_ns, 4_130 + 300 + 10);
}

#[test]
fn a_wait_for_what_never_fires_is_told() {
    let waits = Packet { waits: [0].into_iter().collect(), ..Packet::default() };
    let mut program = queues(&[&[kernel(0, 1, 1, true), waits]]);
    program.signals = 1;
    assert_eq!(run(&program, &TABLE), Err(Stuck { positions: vec![1], host: 0 }));
}

/// A graph with its tables.
#[derive(Clone, Debug)]
struct Dag {
    preds: Csr,
    succs: Csr,
    classes: Vec<Class>,
    durations: Vec<u32>,
    units: Vec<u32>,
}

impl Dag {
    fn problem(&self) -> Problem<'_> {
        Problem::new(&self.preds, &self.succs, &self.classes, &self.durations)
            .and_then(|problem| problem.with_units(&self.units))
            .unwrap()
    }

    /// Kernels of one duration behind a fork and before a join, again and again.
    fn fork_join(width: u32, stages: u32) -> Self {
        let mut preds = Csr::default();
        preds.push_row([]);
        for stage in 0..stages {
            let fork = stage * (width + 1);
            (0..width).for_each(|_| preds.push_row([fork]));
            preds.push_row(fork + 1..=fork + width);
        }
        let nodes = preds.len();
        Self {
            succs: preds.transposed(),
            preds,
            classes: vec![Class::Packet; nodes],
            durations: vec![5_000; nodes],
            units: vec![1; nodes],
        }
    }
}

fn dags(max_nodes: usize) -> impl Strategy<Value = Dag> {
    let class = prop_oneof![8 => Just(Class::Packet), 1 => Just(Class::Host), 2 => Just(Class::Join)];
    let node = (
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        class,
        prop_oneof![1 => Just(0), 9 => 0u32..100_000],
        1u32..400,
    );
    prop::collection::vec(node, 1..max_nodes).prop_map(|nodes| {
        let mut preds = Csr::default();
        for (at, (before, ..)) in nodes.iter().enumerate() {
            let mut row: Vec<u32> = before.iter().filter(|_| at > 0).map(|i| i.index(at) as u32).collect();
            row.sort_unstable();
            row.dedup();
            preds.push_row(row);
        }
        Dag {
            succs: preds.transposed(),
            preds,
            classes: nodes.iter().map(|node| node.1).collect(),
            durations: nodes.iter().map(|node| node.2).collect(),
            units: nodes.iter().map(|node| node.3).collect(),
        }
    })
}

const KINDS: [Candidate; 16] = [
    Candidate::Levels,
    Candidate::Balanced,
    Candidate::HostDepth,
    Candidate::Serial,
    Candidate::Strict,
    Candidate::Relaxed,
    Candidate::LevelLanes,
    Candidate::Turns,
    Candidate::Streams(Policy::OneQueue),
    Candidate::Streams(Policy::RoundRobin),
    Candidate::Streams(Policy::SegmentsByLevel),
    Candidate::Streams(Policy::SegmentsDepthFirst),
    Candidate::Published(Policy::OneQueue),
    Candidate::Published(Policy::RoundRobin),
    Candidate::Published(Policy::SegmentsByLevel),
    Candidate::Published(Policy::SegmentsDepthFirst),
];

/// That every node ran once, for its duration at least, and behind those that it depends on.
fn ran_in_order(dag: &Dag, timeline: &Timeline) -> Result<(), TestCaseError> {
    let mut ends: Vec<u64> = Vec::new();
    for (node, ran) in (0..).zip(&timeline.nodes) {
        let before = dag.preds.row(node).iter().map(|&pred| ends[pred as usize]).max().unwrap_or(0);
        if dag.classes[node as usize] == Class::Join {
            prop_assert_eq!(*ran, None);
            ends.push(before);
            continue;
        }
        let (start, end) = ran.expect("every node but joins runs");
        prop_assert!(before <= start && start + u64::from(dag.durations[node as usize]) <= end, "{}", node);
        ends.push(end);
    }
    prop_assert!(ends.into_iter().max().unwrap_or(0) <= timeline.makespan_ns);
    Ok(())
}

fn all_programs(dag: &Dag, lanes: usize, table: &CostTable) -> Vec<Program> {
    let problem = dag.problem();
    let plans = KINDS.iter().map(|&kind| schedule::candidate(&problem, kind, lanes, table));
    let ours = plans.map(|plan| Program::of_plan(&problem, &plan).unwrap());
    ours.chain(Policy::ALL.into_iter().map(|policy| published(policy, &problem))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_layout_runs_each_node_in_order_and_beats_no_bound(dag in dags(40), lanes in 1usize..5) {
        let table = CostTable::default();
        let critical_path = Bounds::of(&dag.problem(), &table).critical_path_ns;
        for program in all_programs(&dag, lanes, &table) {
            let timeline = run(&program, &table).unwrap();
            ran_in_order(&dag, &timeline)?;
            prop_assert!(timeline.makespan_ns >= critical_path, "{} < {critical_path}", timeline.makespan_ns);
            let work = |node: &u32| {
                u64::from(dag.durations[*node as usize]) * u64::from(dag.units[*node as usize].min(table.compute_units))
            };
            let kernels = |node: &u32| dag.classes[*node as usize] == Class::Packet;
            let work: u64 = (0..dag.durations.len() as u32).filter(kernels).map(|node| work(&node)).sum();
            prop_assert!(timeline.makespan_ns >= work / u64::from(table.compute_units));
        }
    }

    /// Where kernels compete for nothing, a longer one never lets anything end earlier.
    #[test]
    fn a_longer_kernel_makes_no_launch_shorter(dag in dags(30), lanes in 1usize..5, node: prop::sample::Index, more in 1u32..50_000) {
        let table = CostTable { compute_units: u32::MAX, packet_ns: 0, ..CostTable::default() };
        for program in all_programs(&dag, lanes, &table) {
            let before = run(&program, &table).unwrap().makespan_ns;
            let mut longer = program;
            let node = node.index(dag.durations.len()) as u32;
            for work in longer.queues.iter_mut().flat_map(|queue| &mut queue.packets).filter_map(|p| p.work.as_mut()) {
                work.duration_ns += if work.node == node { more } else { 0 };
            }
            prop_assert!(run(&longer, &table).unwrap().makespan_ns >= before);
        }
    }

    /// Two programs that share nothing but the table and the rules must agree to the nanosecond.
    #[test]
    fn the_scheduler_s_trial_of_a_plan_is_what_the_simulator_sees(
        mut dag in dags(40),
        lanes in 1usize..5,
        packet_ns in prop_oneof![Just(0), Just(1), Just(870), Just(9_000)],
        acquire_ns in prop_oneof![Just(0), Just(46), Just(2_000)],
        compute_units in 1u32..400,
    ) {
        dag.classes.iter_mut().filter(|class| **class == Class::Host).for_each(|class| *class = Class::Packet);
        let table = CostTable { packet_ns, compute_units, acquire_ns, ..CostTable::default() };
        let problem = dag.problem();
        for kind in KINDS {
            let plan = schedule::candidate(&problem, kind, lanes, &table);
            let simulated = run(&Program::of_plan(&problem, &plan).unwrap(), &table).unwrap().makespan_ns;
            prop_assert_eq!(schedule::time_ns(&problem, &plan, &table), simulated, "{:?}", kind);
        }
    }

    /// What a policy publishes is among the plans, so that the best plan is never slower.
    #[test]
    fn a_plan_with_a_policy_s_barriers_and_waits_runs_as_what_it_publishes(
        mut dag in dags(60),
        packet_ns in prop_oneof![Just(0), Just(870), Just(9_000)],
        acquire_ns in prop_oneof![Just(0), Just(46), Just(2_000)],
        compute_units in 1u32..400,
    ) {
        dag.classes.iter_mut().filter(|class| **class == Class::Host).for_each(|class| *class = Class::Packet);
        let table = CostTable { packet_ns, compute_units, acquire_ns, ..CostTable::default() };
        let problem = dag.problem();
        for policy in Policy::ALL {
            let plan = schedule::candidate(&problem, Candidate::Published(policy), 4, &table);
            let ours = run(&Program::of_plan(&problem, &plan).unwrap(), &table).unwrap();
            let theirs = run(&published(policy, &problem), &table).unwrap();
            prop_assert_eq!(&ours.nodes, &theirs.nodes, "{:?}", policy);
            // The packet that ends it has fewer waits, or is none.
            prop_assert!(ours.makespan_ns <= theirs.makespan_ns, "{:?}", policy);
        }
    }

    #[test]
    fn a_plan_for_known_durations_never_loses_to_a_policy(
        mut dag in dags(60),
        packet_ns in prop_oneof![Just(0), Just(870), Just(9_000)],
        acquire_ns in prop_oneof![Just(0), Just(46), Just(2_000)],
        compute_units in 1u32..400,
        with_units in any::<bool>(),
    ) {
        dag.classes.iter_mut().filter(|class| **class == Class::Host).for_each(|class| *class = Class::Packet);
        let table = CostTable { packet_ns, compute_units, acquire_ns, ..CostTable::default() };
        if !with_units {
            dag.units.fill(1);
        }
        let problem = Problem::new(&dag.preds, &dag.succs, &dag.classes, &dag.durations).unwrap();
        let problem = if with_units { dag.problem() } else { problem };
        let plan = schedule::plan(&problem, 4, &table);
        prop_assert_eq!(schedule::check(&problem, &plan), Ok(()));
        let ours = run(&Program::of_plan(&problem, &plan).unwrap(), &table).unwrap().makespan_ns;
        for policy in Policy::ALL {
            let theirs = run(&published(policy, &problem), &table).unwrap().makespan_ns;
            prop_assert!(ours <= theirs, "{:?} is slower than {:?}: {} > {}", plan.candidate, policy, ours, theirs);
        }
    }

    /// Two models that share nothing but the table: on one queue with units to spare they must agree.
    #[test]
    fn the_scheduler_s_estimate_of_one_queue_is_what_the_simulator_sees(mut dag in dags(40)) {
        dag.classes.iter_mut().filter(|class| **class == Class::Host).for_each(|class| *class = Class::Packet);
        let table = CostTable { compute_units: u32::MAX, ..CostTable::default() };
        let problem = dag.problem();
        for kind in [Candidate::Levels, Candidate::Balanced, Candidate::Serial] {
            let plan = schedule::candidate(&problem, kind, 1, &table);
            let simulated = run(&Program::of_plan(&problem, &plan).unwrap(), &table).unwrap().makespan_ns;
            // The estimate lets the packet processors finish with the last packet.
            prop_assert!(simulated <= plan.estimate_ns());
            prop_assert!(plan.estimate_ns() <= simulated + u64::from(table.packet_ns), "{:?}", kind);
        }
    }
}

#[test]
fn round_robin_has_the_barriers_of_a_fork_join_that_were_counted_on_amd_s_library() {
    let dag = Dag::fork_join(8, 16);
    let program = published(Policy::RoundRobin, &dag.problem());
    // AMD's library of October 2024 publishes 145 kernels and 65 barrier-ANDs for this graph on four queues.
    assert_eq!(program.packets() - program.barrier_ands(), 145);
    assert_eq!(program.barrier_ands(), 65 - 1, "without the marker that ends a launch");
    assert_eq!(program.queues.len(), 4);
    // A chain stays where it is.
    let chain = Dag::fork_join(1, 100);
    for policy in Policy::ALL {
        assert_eq!(published(policy, &chain.problem()).queues.len(), 1, "{policy:?}");
    }
}

#[test]
fn segments_stay_whole() {
    // Two branches of three kernels behind a root, joined.
    let edges = [(1, 0), (2, 1), (3, 2), (4, 0), (5, 4), (6, 5), (7, 3), (7, 6)];
    let preds = Csr::from_pairs(8, edges.into_iter());
    let dag = Dag {
        succs: preds.transposed(),
        preds,
        classes: vec![Class::Packet; 8],
        durations: vec![1_000; 8],
        units: vec![1; 8],
    };
    for (policy, queues) in [(Policy::SegmentsByLevel, 4), (Policy::SegmentsDepthFirst, 2)] {
        let program = published(policy, &dag.problem());
        assert_eq!(program.queues.len(), queues, "{policy:?}");
        let nodes =
            |queue: &Queue| queue.packets.iter().filter_map(|p| Some(p.work?.node)).collect::<Vec<_>>();
        let whole = |branch: &[u32]| {
            program.queues.iter().any(|queue| nodes(queue).windows(3).any(|nodes| nodes == branch))
        };
        assert!(whole(&[1, 2, 3]) && whole(&[4, 5, 6]), "{policy:?}");
    }
}
