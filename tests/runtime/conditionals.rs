//! Conditional nodes: taken by the packet processor where it branches, and driven by the host.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use aqlipse::{
    Backend, Error, Options, Template,
    graph::{Condition, ConditionalKind, Node as Work},
    typed::{DeviceSlice, ExecGraph, Graph, HostBuffer, Node},
};
use fastrand::Rng;

use super::*;

const IF: ConditionalKind = ConditionalKind::If;
const WHILE: ConditionalKind = ConditionalKind::While;
const SWITCH: ConditionalKind = ConditionalKind::Switch;

/// As the back end wants it, and driven by the host.
pub fn both() -> [Options; 2] {
    [Options::default(), Options { conditionals_on_host: true, ..Options::default() }]
}

fn count_down(counter: &DeviceBuffer<u32>, condition: &Condition) -> Launch {
    single(&kernels().count_down, &[counter, condition])
}

fn next(script: &DeviceBuffer<u32>, condition: &Condition) -> Launch {
    single(&kernels().next_condition, &[script, condition])
}

/// A graph of one kernel.
fn one(launch: &Launch) -> Graph {
    let mut graph = Graph::new(&device());
    graph.kernel(launch, &[]).unwrap();
    graph
}

/// Words that [`next`] reads one by one.
fn script(words: &[u32]) -> DeviceBuffer<u32> {
    buffer(&[&[0], words].concat())
}

/// A graph that reads the next word of a script and lets a node of some kind choose among bodies that log 0, 1, ....
fn choice(kind: ConditionalKind, bodies: u32, script: &DeviceBuffer<u32>, log: &Log) -> Graph {
    let mut graph = Graph::new(&device());
    let condition = graph.condition(7).unwrap();
    let first = graph.kernel(&next(script, &condition), &[]).unwrap();
    let bodies = (0..bodies).map(|body| one(&log.append(body))).collect();
    let node = graph.conditional(&condition, kind, bodies, &[first]).unwrap();
    graph.kernel(&log.append(99), &[node]).unwrap();
    graph
}

/// Whether the packet processor takes conditional nodes unless it is told not to.
fn branches() -> bool {
    let told = std::env::var(aqlipse::CONDITIONAL_VARIABLE).as_deref() == Ok("host");
    device().backend() == Backend::Emulated && !told
}

#[track_caller]
fn check_placement(exec: &ExecGraph, options: Options, nodes: usize) {
    let on_device = branches() && !options.conditionals_on_host;
    let expected = if on_device { (nodes, 0) } else { (0, nodes) };
    assert_eq!(exec.report().conditionals, expected);
}

#[test]
fn an_if_runs_one_of_its_bodies_or_none() {
    let stream = stream();
    for options in both() {
        for bodies in 1..=2 {
            let (log, script) = (Log::new(20), script(&[1, 0, 5, 0]));
            let exec = choice(IF, bodies, &script, &log).instantiate_with(options).unwrap();
            check_placement(&exec, options, 1);
            for _ in 0..4 {
                exec.launch(&stream).unwrap();
            }
            let expected: &[u32] = match bodies {
                1 => &[0, 99, 99, 0, 99, 99],
                _ => &[0, 99, 1, 99, 0, 99, 1, 99],
            };
            assert_eq!(log.entries(), expected, "{options:?}");
        }
    }
}

#[test]
fn a_switch_runs_the_body_of_the_conditions_number() {
    let stream = stream();
    for options in both() {
        for bodies in [1u32, 2, 3, 4, 5, 8, 9, 33] {
            let words: Vec<u32> = (0..bodies + 3).chain([u32::MAX]).collect();
            let (log, script) = (Log::new(200), script(&words));
            let exec = choice(SWITCH, bodies, &script, &log).instantiate_with(options).unwrap();
            for _ in &words {
                exec.launch(&stream).unwrap();
            }
            let expected: Vec<u32> =
                words.iter().flat_map(|&w| [w, 99]).filter(|&w| w < bodies || w == 99).collect();
            assert_eq!(log.entries(), expected, "{bodies} bodies, {options:?}");
        }
    }
}

#[test]
fn a_while_runs_until_its_body_says_stop() {
    let stream = stream();
    let [auto, host] = both();
    for (options, turns) in [(auto, 10_000), (host, 1_000), (auto, 1), (host, 1)] {
        let (counter, data) = (buffer(&[turns]), buffer(&[0]));
        let mut graph = Graph::new(&device());
        let condition = graph.condition(1).unwrap();
        let mut body = one(&affine(&data, 1, 3));
        body.kernel(&count_down(&counter, &condition), &[]).unwrap();
        graph.conditional(&condition, WHILE, vec![body], &[]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        check_placement(&exec, options, 1);
        exec.launch(&stream).unwrap();
        assert_eq!(data.read(&stream).unwrap(), [3 * turns], "{options:?}");
        assert_eq!(counter.read(&stream).unwrap(), [0]);
        // A counter of 0 wraps around: the next launch must begin with the default, and its body must run.
        counter.write(&stream, &[2]).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(data.read(&stream).unwrap(), [3 * turns + 6]);
    }
}

#[test]
fn every_launch_begins_with_the_default() {
    let stream = stream();
    for options in both() {
        let (log, words) = (Log::new(20), script(&[0, 0, 0]));
        let mut graph = Graph::new(&device());
        let condition = graph.condition(1).unwrap();
        let mut body = one(&log.append(5));
        body.kernel(&next(&words, &condition), &[]).unwrap();
        graph.conditional(&condition, IF, vec![body], &[]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        // All are queued before the first one stores 0: the default is restored when a launch's turn comes.
        let gate = Gate::on(&stream);
        for _ in 0..3 {
            exec.launch(&stream).unwrap();
        }
        gate.open();
        assert_eq!(log.entries(), [5, 5, 5], "{options:?}");
    }
}

#[test]
fn an_if_in_a_while_in_a_switch_runs() {
    let stream = stream();
    for options in both() {
        let (log, script) = (Log::new(40), script(&[1, 0, 3, 1, 0, 1, 1, 2, 0, 0]));
        let mut graph = Graph::new(&device());
        let outer = graph.condition(0).unwrap();
        let first = graph.kernel(&next(&script, &outer), &[]).unwrap();
        let mut case = Graph::new(&device());
        let again = case.condition(1).unwrap();
        let mut turn = one(&log.append(10));
        let inner = turn.condition(0).unwrap();
        let chosen = turn.kernel(&next(&script, &inner), &[]).unwrap();
        let bodies = vec![one(&log.append(20)), one(&log.append(21))];
        let chosen = turn.conditional(&inner, IF, bodies, &[chosen]).unwrap();
        turn.kernel(&next(&script, &again), &[chosen]).unwrap();
        case.conditional(&again, WHILE, vec![turn], &[]).unwrap();
        let cases = vec![one(&log.append(1)), case];
        let node = graph.conditional(&outer, SWITCH, cases, &[first]).unwrap();
        graph.kernel(&log.append(99), &[node]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        check_placement(&exec, options, 1);
        exec.launch(&stream).unwrap();
        exec.launch(&stream).unwrap();
        // 1: the second case. Turn: inner 0, again 3; inner 1, again 0. Then 1: inner 1, again 2; inner 0, again 0.
        assert_eq!(log.entries(), [10, 21, 10, 20, 99, 10, 20, 10, 21, 99], "{options:?}");
    }
}

#[test]
fn nesting_is_deeper_than_any_stack_and_any_packet_processor() {
    let stream = stream();
    let [auto, host] = both();
    for (options, depth) in [(auto, 30), (auto, 5_000), (host, 5_000)] {
        let log = Log::new(4);
        let mut graph = one(&log.append(1));
        for _ in 0..depth {
            let mut around = Graph::new(&device());
            let condition = around.condition(1).unwrap();
            around.conditional(&condition, IF, vec![graph], &[]).unwrap();
            graph = around;
        }
        let exec = graph.instantiate_with(options).unwrap();
        let on_device = branches() && !options.conditionals_on_host && depth < 60;
        assert_eq!(exec.report().conditionals, if on_device { (1, 0) } else { (0, 1) });
        exec.launch(&stream).unwrap();
        assert_eq!(log.entries(), [1], "{depth}, {options:?}");
        assert!(format!("{graph:?}").contains("nodes: 1"));
    }
}

#[test]
fn a_body_with_work_of_the_host_is_driven_by_the_host() {
    let stream = stream();
    for options in both() {
        let (counter, calls) = (buffer(&[5]), Arc::new(AtomicU32::new(0)));
        let (input, output) =
            (HostBuffer::new(&device(), 64, 2u32).unwrap(), HostBuffer::new(&device(), 64, 0u32).unwrap());
        let data = buffer(&[0; 64]);
        let mut graph = Graph::new(&device());
        let condition = graph.condition(1).unwrap();
        let mut body = Graph::new(&device());
        let called = calls.clone();
        let host = move || {
            called.fetch_add(1, Ordering::Relaxed);
        };
        let host = body.host(host, &[]).unwrap();
        let upload = body.upload(data.slice(), &input, &[host]).unwrap();
        let scaled = body.kernel(&affine(&data, 7, 1), &[upload]).unwrap();
        body.download(&output, data.slice(), &[scaled]).unwrap();
        body.kernel(&count_down(&counter, &condition), &[scaled]).unwrap();
        graph.conditional(&condition, WHILE, vec![body], &[]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        assert_eq!(exec.report().conditionals, (0, 1));
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!((calls.load(Ordering::Relaxed), output.to_vec()), (5, vec![15; 64]));
    }
}

#[test]
fn memory_of_a_body_is_there_for_every_turn_and_does_not_grow() {
    let stream = stream();
    for options in both() {
        let (counter, sum) = (buffer(&[500]), buffer(&[0; 64]));
        let mut graph = Graph::new(&device());
        let condition = graph.condition(1).unwrap();
        let mut body = Graph::new(&device());
        let (alloc, memory): (Node, DeviceSlice<u32>) = body.allocate(64, &[]).unwrap();
        let fill = body.fill(memory, 1, &[alloc]).unwrap();
        let used = body.kernel(&affine(&sum, 1, 2), &[fill]).unwrap();
        let free = body.free(memory, &[used]).unwrap();
        body.kernel(&count_down(&counter, &condition), &[free]).unwrap();
        graph.conditional(&condition, WHILE, vec![body], &[]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        assert_eq!((exec.report().memory_bytes, exec.report().allocated_bytes), (4096, 256));
        assert_eq!(
            graph.instantiate().unwrap_err(),
            Error::NotSupported("a second executable of a graph with memory nodes")
        );
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        let before = device().memory_info();
        for _ in 0..3 {
            counter.write(&stream, &[100]).unwrap();
            exec.launch(&stream).unwrap();
        }
        assert_eq!(sum.read(&stream).unwrap(), [1600; 64], "{options:?}");
        assert_eq!(device().memory_info(), before);
    }
}

#[test]
fn a_body_that_leaves_memory_allocated_is_refused() {
    let mut graph = Graph::new(&device());
    let condition = graph.condition(1).unwrap();
    let mut body = Graph::new(&device());
    let _: (Node, DeviceSlice<u32>) = body.allocate(64, &[]).unwrap();
    let refused = graph.conditional(&condition, WHILE, vec![body], &[]).unwrap_err();
    assert!(matches!(refused, Error::NotSupported(_)), "{refused}");
}

#[test]
fn launches_that_share_a_condition_take_turns() {
    let streams: Vec<_> = (0..4).map(|_| stream()).collect();
    for options in both() {
        let counter = buffer(&[0]);
        let mut template = Graph::new(&device());
        let condition = template.condition(1).unwrap();
        let set = template.kernel(&affine(&counter, 0, 4), &[]).unwrap();
        let body = one(&count_down(&counter, &condition));
        let log = Log::new(200);
        let node = template.conditional(&condition, WHILE, vec![body], &[set]).unwrap();
        template.kernel(&log.append(1), &[node]).unwrap();
        // Two executables of one graph, and kernels that know one condition: only one launch may run at a time.
        let execs =
            [template.instantiate_with(options).unwrap(), template.instantiate_with(options).unwrap()];
        for turn in 0..40 {
            execs[turn % 2].launch(&streams[turn % 4]).unwrap();
        }
        assert_eq!(log.entries(), [1; 40], "{options:?}");
        assert_eq!(counter.read(&streams[0]).unwrap(), [0]);
    }
}

#[test]
fn executables_on_several_streams_run_at_once() {
    let streams: Vec<_> = (0..4).map(|_| stream()).collect();
    for options in both() {
        let made: Vec<_> = (0..8u32)
            .map(|n| {
                let (counter, data) = (buffer(&[20 + n]), buffer(&[0]));
                let mut graph = Graph::new(&device());
                let condition = graph.condition(1).unwrap();
                let mut body = one(&affine(&data, 1, 1));
                body.kernel(&count_down(&counter, &condition), &[]).unwrap();
                graph.conditional(&condition, WHILE, vec![body], &[]).unwrap();
                (graph.instantiate_with(options).unwrap(), counter, data)
            })
            .collect();
        for (n, (exec, _, _)) in made.iter().enumerate() {
            exec.launch(&streams[n % 4]).unwrap();
        }
        for ((_, _, data), n) in made.iter().zip(0..) {
            assert_eq!(data.read(&streams[n as usize % 4]).unwrap(), [20 + n], "{options:?}");
        }
    }
}

#[test]
fn nodes_in_bodies_are_updated_with_the_graph_or_alone() {
    let stream = stream();
    for options in both() {
        let (log, script) = (Log::new(40), script(&[1, 0, 0, 1, 1]));
        let made = |a: u32, b: u32| {
            let mut graph = Graph::new(&device());
            let condition = graph.condition(0).unwrap();
            let first = graph.kernel(&next(&script, &condition), &[]).unwrap();
            let mut yes = Graph::new(&device());
            let inner = yes.condition(1).unwrap();
            yes.conditional(&inner, IF, vec![one(&log.append(a))], &[]).unwrap();
            let mut body = Graph::new(&device());
            let node = body.kernel(&log.append(b), &[]).unwrap();
            graph.conditional(&condition, IF, vec![yes, body], &[first]).unwrap();
            (graph, node)
        };
        let (graph, node) = made(1, 2);
        let exec = graph.instantiate_with(options).unwrap();
        let gate = Gate::on(&stream);
        exec.launch(&stream).unwrap();
        // The launch in flight keeps what it was launched with; kernels and branches move to the new conditions.
        exec.update(&made(3, 4).0).unwrap();
        exec.launch(&stream).unwrap();
        exec.set_kernel(node, &log.append(5)).unwrap();
        exec.launch(&stream).unwrap();
        gate.open();
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        exec.update(&made(6, 7).0).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(log.entries(), [1, 4, 5, 3, 6], "{options:?}");

        let mut other = Graph::new(&device());
        let condition = other.condition(0).unwrap();
        let first = other.kernel(&next(&script, &condition), &[]).unwrap();
        other
            .conditional(&condition, SWITCH, vec![one(&log.append(1)), one(&log.append(2))], &[first])
            .unwrap();
        let refusal = exec.update(&other).unwrap_err();
        assert_eq!(refusal.reason, aqlipse::UpdateReason::Parameters);
    }
}

#[test]
fn what_conditions_cannot_be_used_for_is_refused() {
    let device = device();
    let body = || Template::new(&device);
    let (mut graph, mut other) = (body(), body());
    let condition = graph.create_condition(0).unwrap();
    let foreign = other.create_condition(0).unwrap();
    let counts = [(IF, 0), (IF, 3), (WHILE, 0), (WHILE, 2), (SWITCH, 0)];
    for (kind, count) in counts {
        let bodies = (0..count).map(|_| body()).collect();
        let refused = graph.add_conditional(&condition, kind, bodies, &[]).unwrap_err();
        assert!(matches!(refused, Error::Graph(_)), "{refused}");
    }
    let refused = |outcome: aqlipse::Result<_>| matches!(outcome, Err(Error::InvalidValue(_)));
    assert!(refused(graph.add_conditional(&foreign, IF, vec![body()], &[])), "a condition of another graph");
    let unused = aqlipse::Exec::new(&graph, Options::default()).unwrap_err();
    assert!(unused.to_string().contains("no node uses the condition"), "{unused}");
    let node = graph.add_conditional(&condition, IF, vec![body()], &[]).unwrap();
    assert!(refused(graph.add_conditional(&condition, IF, vec![body()], &[])), "a condition with a node");
    aqlipse::Exec::new(&graph, Options::default()).unwrap();

    // A child graph is a copy, whose node has the same condition.
    let copy = graph.try_clone().unwrap();
    aqlipse::Exec::new(&copy, Options::default()).unwrap();
    graph.add_child(&copy, &[]).unwrap();
    let shared = aqlipse::Exec::new(&graph, Options::default()).unwrap_err();
    assert!(shared.to_string().contains("two nodes use the condition"), "{shared}");

    let parameters = graph.graph().node(node).unwrap().clone();
    assert!(matches!(graph.add(parameters, &[]), Err(Error::InvalidValue(_))), "not from parameters");
    let mut events = body();
    events.add(Work::EventRecord(aqlipse::Event::new(false)), &[]).unwrap();
    let mut graph = body();
    let condition = graph.create_condition(0).unwrap();
    graph.add_conditional(&condition, IF, vec![events], &[]).unwrap();
    let refused = aqlipse::Exec::new(&graph, Options::default()).unwrap_err();
    assert!(matches!(refused, Error::NotSupported(_)), "{refused}");
}

#[test]
fn an_executable_may_go_while_its_loop_runs() {
    let stream = stream();
    for options in both() {
        let (counter, data) = (buffer(&[300]), buffer(&[0]));
        let mut graph = Graph::new(&device());
        let condition = graph.condition(1).unwrap();
        let mut body = one(&affine(&data, 1, 1));
        body.kernel(&count_down(&counter, &condition), &[]).unwrap();
        graph.conditional(&condition, WHILE, vec![body], &[]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        exec.launch(&stream).unwrap();
        drop((exec, graph, condition));
        assert_eq!(data.read(&stream).unwrap(), [300], "{options:?}");
    }
}

#[test]
fn a_fault_in_a_body_names_its_kernel_and_is_reported_once() {
    if device().backend() != Backend::Emulated {
        return; // ROCr loses the device; see `faults`.
    }
    in_child("runtime::conditionals::a_fault_in_a_body_names_its_kernel_and_is_reported_once", &[], || {
        for options in both() {
            let (stream, log) = (stream(), Log::new(9));
            let mut graph = Graph::new(&device());
            let condition = graph.condition(1).unwrap();
            let body = one(&single(&kernels().poke, &[&0x10_0000u64, &1u32]));
            let node = graph.conditional(&condition, WHILE, vec![body], &[]).unwrap();
            graph.kernel(&log.append(1), &[node]).unwrap();
            let exec = graph.instantiate_with(options).unwrap();
            exec.launch(&stream).unwrap();
            let outcome = stream.synchronize();
            let Err(Error::IllegalAddress(report)) = &outcome else { panic!("{outcome:?}, {options:?}") };
            assert!(report.contains("poke"), "{report}");
            stream.synchronize().unwrap();
            stream.run(&log.append(2)).unwrap();
            assert_eq!(log.entries(), [2], "what followed the node is lost, later work is not");
        }
    });
}

/// A nest of conditional nodes, as a plain interpreter sees it.
enum Statement {
    Log(u32),
    Choose(ConditionalKind, Vec<Vec<Statement>>),
}

/// Some statements; `budget` bounds how many there are in all.
fn statements(random: &mut Rng, depth: u32, budget: &mut u32) -> Vec<Statement> {
    let mut list = Vec::new();
    for _ in 0..random.usize(..4) {
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        if depth == 0 || random.bool() {
            list.push(Statement::Log(*budget));
            continue;
        }
        let (kind, bodies) = match random.usize(..3) {
            0 => (IF, 1 + random.usize(..2)),
            1 => (WHILE, 1),
            _ => (SWITCH, 1 + random.usize(..4)),
        };
        let bodies = (0..bodies).map(|_| statements(random, depth - 1, budget)).collect();
        list.push(Statement::Choose(kind, bodies));
    }
    list
}

/// Runs statements on the host.
fn interpret(list: &[Statement], script: &mut impl Iterator<Item = u32>, log: &mut Vec<u32>) {
    for statement in list {
        match statement {
            Statement::Log(value) => log.push(*value),
            Statement::Choose(WHILE, bodies) => {
                while script.next() != Some(0) {
                    interpret(&bodies[0], script, log);
                }
            }
            Statement::Choose(IF, bodies) => {
                let body = bodies.get(usize::from(script.next() == Some(0)));
                body.into_iter().for_each(|body| interpret(body, script, log));
            }
            Statement::Choose(SWITCH, bodies) => {
                let body = script.next().and_then(|value| bodies.get(value as usize));
                body.into_iter().for_each(|body| interpret(body, script, log));
            }
        }
    }
}

/// The same as a chain of nodes: each condition is read from the script before its node, and behind a loop's turn.
fn compiled(list: &[Statement], words: &DeviceBuffer<u32>, log: &Log, again: Option<&Condition>) -> Graph {
    let mut graph = Graph::new(&device());
    let mut after: Vec<Node> = Vec::new();
    for statement in list {
        let node = match statement {
            Statement::Log(value) => graph.kernel(&log.append(*value), &after).unwrap(),
            Statement::Choose(kind, bodies) => {
                let condition = graph.condition(9).unwrap();
                let read = graph.kernel(&next(words, &condition), &after).unwrap();
                let again = (*kind == WHILE).then_some(&condition);
                let bodies = bodies.iter().map(|body| compiled(body, words, log, again)).collect();
                graph.conditional(&condition, *kind, bodies, &[read]).unwrap()
            }
        };
        after = vec![node];
    }
    if let Some(again) = again {
        graph.kernel(&next(words, again), &after).unwrap();
    }
    graph
}

fn random_nests(seeds: std::ops::Range<u64>) {
    let stream = stream();
    for seed in seeds {
        let mut random = Rng::with_seed(seed);
        let list = statements(&mut random, 4, &mut 40);
        // Zeros end loops, and the end of the script is all zeros.
        let mut words: Vec<u32> = (0..60).map(|_| random.usize(..4) as u32).collect();
        words.extend([0; 400]);
        let mut expected = Vec::new();
        let mut source = words.iter().copied();
        for _ in 0..2 {
            interpret(&list, &mut source, &mut expected);
        }
        for options in both() {
            let (log, words) = (Log::new(2_000), script(&words));
            let exec = compiled(&list, &words, &log, None).instantiate_with(options).unwrap();
            for _ in 0..2 {
                exec.launch(&stream).unwrap();
            }
            assert_eq!(log.entries(), expected, "seed {seed}, {options:?}");
        }
    }
}

#[test]
fn random_nests_do_what_an_interpreter_does() {
    random_nests(0..60);
}

#[test]
fn random_nests_do_the_same_in_every_legal_order_of_packets() {
    for seed in ["1", "2", "3"] {
        let test = "runtime::conditionals::random_nests_do_the_same_in_every_legal_order_of_packets";
        in_child(test, &[("AQLIPSE_EMULATE_SEED", seed)], || random_nests(100..110));
        if std::env::var(CHILD).is_ok() {
            return; // The child has one seed.
        }
    }
}

#[test]
fn the_environment_keeps_packet_processors_from_branching() {
    for value in ["host", "auto"] {
        let test = "runtime::conditionals::the_environment_keeps_packet_processors_from_branching";
        in_child(test, &[(aqlipse::CONDITIONAL_VARIABLE, value)], || {
            let (log, script) = (Log::new(4), script(&[1]));
            let exec = choice(IF, 1, &script, &log).instantiate().unwrap();
            // The child has one value, which `branches` asks for.
            assert_eq!(exec.report().conditionals, if branches() { (1, 0) } else { (0, 1) });
            exec.launch(&stream()).unwrap();
            assert_eq!(log.entries(), [0, 99]);
        });
        if std::env::var(CHILD).is_ok() {
            return;
        }
    }
}
