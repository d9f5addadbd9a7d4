//! Graphs that lie on the device, launched in both ways, and kernels that launch graphs.

use aqlipse::{
    Backend, Error, Event, Exec, Options, Template,
    graph::{HostFn, Node},
    typed::{ExecGraph, Graph, HostBuffer},
};
use fastrand::Rng;

use super::{
    dags::{Counting, Work, on_lanes, thread_scope},
    *,
};

/// What a launch by a kernel returns (`aqlipse/device_graph.h`).
pub(super) const LAUNCHED: u32 = 0;
pub(super) const BUSY: u32 = 1;
const NOT_UPLOADED: u32 = 2;

/// Who takes a resident graph's packets to where they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The packet processor, if it takes indirect buffers.
    Buffer,
    /// A kernel.
    Launcher,
}

impl Way {
    pub(super) const BOTH: [Self; 2] = [Self::Buffer, Self::Launcher];

    pub(super) fn options(self, options: Options) -> Options {
        Options { resident: true, resident_by_launcher: self == Self::Launcher, ..options }
    }

    pub(super) fn instantiate(self, graph: &Graph) -> ExecGraph {
        graph.instantiate_with(self.options(Options::default())).unwrap()
    }
}

pub(super) fn both_ways(test: impl Fn(Way)) {
    Way::BOTH.into_iter().for_each(test);
}

/// A random graph of kernels and empty nodes.
fn random(random: &mut Rng, options: Options) -> Counting {
    let n = 2 + random.usize(..60);
    let mut edges = Vec::new();
    for to in 1..n {
        for _ in 0..random.usize(..4) {
            edges.push((random.usize(..to), to));
        }
    }
    let work: Vec<Work> =
        (0..n).map(|_| if random.usize(..8) == 0 { Work::Empty } else { Work::Kernel }).collect();
    Counting::new(&work, &edges, options)
}

/// A chain of kernels that append `values` to a log.
pub(super) fn chain(log: &Log, values: impl IntoIterator<Item = u32>) -> Graph {
    let mut graph = Graph::new(&device());
    let mut last = Vec::new();
    for value in values {
        last = vec![graph.kernel(&log.append(value), &last).unwrap()];
    }
    graph
}

/// Launches graphs from a kernel, one work-item each; says what came of it.
pub(super) fn launch_from_kernel(stream: &Stream, graphs: &[u64]) -> Vec<u32> {
    let handles = buffer(&graphs.iter().flat_map(|&at| [at as u32, (at >> 32) as u32]).collect::<Vec<_>>());
    let results = buffer(&vec![u32::MAX; graphs.len()]);
    let block = [graphs.len() as u32, 1, 1];
    let launch = kernels().launch_graphs.launch(&device(), [1; 3], block, 0, &[&handles, &results]).unwrap();
    stream.run(&launch).unwrap();
    results.read(stream).unwrap()
}

#[test]
fn random_graphs_keep_their_order() {
    both_ways(|way| {
        let stream = stream();
        let mut widest = 0;
        for seed in 0..12 {
            for options in (1..=4).flat_map(on_lanes) {
                let graph = random(&mut Rng::with_seed(seed), way.options(options));
                widest = widest.max(graph.exec.report().lanes);
                for _ in 0..4 {
                    graph.exec.launch(&stream).unwrap();
                }
                stream.synchronize().unwrap();
                graph.check(4, &format!("seed {seed}, {options:?}"));
            }
        }
        assert_eq!(widest, 4, "some graph must need all queues");
    });
}

#[test]
fn a_launch_is_in_stream_order() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(30));
        let exec = way.instantiate(&chain(&log, [1, 2, 3]));
        let gate = Gate::on(&stream);
        for round in 0..5 {
            stream.run(&log.append(10 * round)).unwrap();
            exec.launch(&stream).unwrap();
            stream.run(&log.append(10 * round + 9)).unwrap();
        }
        gate.open();
        let expected: Vec<u32> = (0..5).flat_map(|round| [10 * round, 1, 2, 3, 10 * round + 9]).collect();
        assert_eq!(log.entries(), expected);
    });
}

#[test]
fn events_and_other_streams_wait_for_the_end_of_the_graph() {
    both_ways(|way| {
        let (first, second, log) = (stream(), stream(), Log::new(30));
        let exec = way.instantiate(&chain(&log, 0..10));
        let gate = Gate::on(&first);
        let event = Event::new(false);
        exec.launch(&first).unwrap();
        first.record_event(&event).unwrap();
        second.wait(&event).unwrap();
        second.run(&log.append(10)).unwrap();
        // On another stream, behind the launch before: the executable is never in flight twice.
        exec.launch(&second).unwrap();
        gate.open();
        assert_eq!(log.entries(), (0..=10).chain(0..10).collect::<Vec<_>>());
    });
}

#[test]
fn copies_fills_and_child_graphs_are_resident_too() {
    both_ways(|way| {
        let stream = stream();
        let data = buffer(&[7; 500]);
        let host = HostBuffer::<u32>::new(&device(), 500, 0).unwrap();
        let mut inner = Graph::new(&device());
        inner.kernel(&affine(&data, 3, 1), &[]).unwrap();
        let mut graph = Graph::new(&device());
        let filled = graph.fill(data.slice(), 1, &[]).unwrap();
        let child = graph.child(&inner, &[filled]).unwrap();
        graph.download(&host, data.slice(), &[child]).unwrap();
        let exec = way.instantiate(&graph);
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        let expected = vec![0x0101_0101u32 * 3 + 1; 500];
        assert_eq!(host.to_vec(), expected);
    });
}

#[test]
fn an_image_longer_than_the_ring_is_published_as_room_comes_free() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(2));
        let counter = buffer(&[0; 1]);
        let mut graph = Graph::new(&device());
        let mut last = Vec::new();
        // A ring has 16,384 slots.
        for _ in 0..20_000 {
            last = vec![graph.kernel(&affine(&counter, 1, 1), &last).unwrap()];
        }
        graph.kernel(&log.append(5), &last).unwrap();
        let exec = way.instantiate(&graph);
        exec.launch(&stream).unwrap();
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(counter.read(&stream).unwrap(), [40_000]);
        assert_eq!(log.entries(), [5, 5]);
    });
}

#[test]
fn graphs_of_several_threads_share_the_queues_and_cannot_block_each_other() {
    both_ways(|way| {
        let width = 4;
        let mut edges = Vec::new();
        for layer in 1..20 {
            for a in 0..width {
                edges.push(((layer - 1) * width + a, layer * width + a));
                edges.push(((layer - 1) * width + a, layer * width + (a + 1) % width));
            }
        }
        thread_scope(3, |n| {
            let stream = stream();
            // One of them is launched in the ordinary way.
            let options = super::dags::entangled(2 + n % 3);
            let options = if n < 2 { way.options(options) } else { options };
            let graph = Counting::new(&vec![Work::Kernel; 20 * width], &edges, options);
            assert!(graph.exec.report().lanes > 1);
            for _ in 0..25 {
                graph.exec.launch(&stream).unwrap();
            }
            stream.synchronize().unwrap();
            graph.check(25, &format!("thread {n}"));
        });
    });
}

#[test]
fn launches_in_flight_keep_what_they_had() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(200));
        let mut graph = Graph::new(&device());
        let node = graph.kernel(&log.append(0), &[]).unwrap();
        let exec = way.instantiate(&graph);
        let gate = Gate::on(&stream);
        exec.launch(&stream).unwrap();
        for i in 1..60 {
            exec.set_kernel(node, &log.append(i)).unwrap();
            exec.launch(&stream).unwrap();
        }
        gate.open();
        assert_eq!(log.entries(), (0..60).collect::<Vec<_>>());
    });
}

#[test]
fn updates_of_all_nodes_and_disabled_nodes_reach_the_device() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(200));
        let template = |values: &[u32]| {
            let mut template = Template::new(&device());
            let mut last = Vec::new();
            for &value in values {
                last = vec![
                    template.add(Node::Kernel(super::updates::kernel_node(&log, value)), &last).unwrap(),
                ];
            }
            template
        };
        let exec = Exec::new(&template(&[1, 2, 3]), way.options(Options::default())).unwrap();
        let first = template(&[4, 5, 6]);
        let mut expected = Vec::new();
        let mut launch = |values: &[u32]| {
            exec.launch(&stream).unwrap();
            expected.extend_from_slice(values);
        };
        launch(&[1, 2, 3]);
        exec.update(&first).unwrap();
        launch(&[4, 5, 6]);
        stream.synchronize().unwrap();
        // With nothing in flight arguments are written where they are.
        exec.update(&template(&[7, 8, 9])).unwrap();
        launch(&[7, 8, 9]);
        assert_eq!(log.entries(), expected);
    });
}

#[test]
fn a_disabled_node_does_not_run() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(20));
        let mut template = Template::new(&device());
        let mut nodes = Vec::new();
        for value in 1..=3 {
            let after: Vec<_> = nodes.last().copied().into_iter().collect();
            nodes.push(template.add(Node::Kernel(super::updates::kernel_node(&log, value)), &after).unwrap());
        }
        let exec = Exec::new(&template, way.options(Options::default())).unwrap();
        let gate = Gate::on(&stream);
        exec.launch(&stream).unwrap();
        exec.set_enabled(nodes[1], false).unwrap();
        exec.launch(&stream).unwrap();
        exec.set_enabled(nodes[1], true).unwrap();
        exec.launch(&stream).unwrap();
        gate.open();
        assert_eq!(log.entries(), [1, 2, 3, 1, 3, 1, 2, 3]);
    });
}

#[test]
fn an_executable_can_go_while_it_is_in_flight() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(200));
        let gate = Gate::on(&stream);
        for i in 0..10 {
            way.instantiate(&chain(&log, [i, i + 100])).launch(&stream).unwrap();
        }
        gate.open();
        assert_eq!(log.entries(), (0..10).flat_map(|i| [i, i + 100]).collect::<Vec<_>>());
    });
}

#[test]
fn what_needs_the_host_is_refused_and_named() {
    both_ways(|way| {
        let refused = |template: &Template| {
            let failure = Exec::instantiate(template, way.options(Options::default())).unwrap_err();
            assert!(matches!(failure.error, Error::NotSupported(_)), "{failure}");
            failure.node
        };
        let log = Log::new(1);
        let mut template = Template::new(&device());
        let kernel = template.add(Node::Kernel(super::updates::kernel_node(&log, 1)), &[]).unwrap();
        Exec::new(&template, way.options(Options::default())).unwrap();
        let host = template.add(Node::Host(HostFn::new(|| {})), &[kernel]).unwrap();
        assert_eq!(refused(&template), Some(host));
        let mut template = Template::new(&device());
        let event = template.add(Node::EventRecord(Event::new(false)), &[]).unwrap();
        assert_eq!(refused(&template), Some(event));
        let mut template = Template::new(&device());
        let (allocated, address) = template.add_allocation(&device(), 4096, &[]).unwrap();
        template.add_free(address, &[allocated]).unwrap();
        refused(&template);
    });
}

#[test]
fn an_empty_graph_can_be_launched() {
    both_ways(|way| {
        let (exec, stream) = (way.instantiate(&Graph::new(&device())), stream());
        exec.upload(&stream).unwrap();
        assert_eq!(launch_from_kernel(&stream, &[exec.device_graph().unwrap()]), [LAUNCHED]);
        exec.launch(&stream).unwrap();
        device().synchronize().unwrap();
    });
}

#[test]
fn an_executable_that_is_not_resident_is_no_kernels() {
    let log = Log::new(1);
    let exec = chain(&log, [1]).instantiate().unwrap();
    exec.upload(&stream()).unwrap();
    assert!(matches!(exec.device_graph(), Err(Error::InvalidValue(_))));
}

#[test]
fn a_kernel_launches_a_graph() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(20));
        let exec = way.instantiate(&chain(&log, [1, 2, 3]));
        exec.upload(&stream).unwrap();
        assert_eq!(launch_from_kernel(&stream, &[exec.device_graph().unwrap()]), [LAUNCHED]);
        // Waiting for the device includes what its kernels have launched.
        assert_eq!(log.entries(), [1, 2, 3]);
        // A launch by the host is behind it.
        launch_from_kernel(&stream, &[exec.device_graph().unwrap()]);
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(log.entries(), [1, 2, 3].repeat(3));
    });
}

#[test]
fn work_items_of_a_wave_launch_a_graph_each() {
    both_ways(|way| {
        let stream = stream();
        let counters: Vec<_> = (0..64).map(|_| buffer(&[0])).collect();
        let execs: Vec<ExecGraph> = counters
            .iter()
            .map(|counter| {
                let mut graph = Graph::new(&device());
                graph.kernel(&affine(counter, 1, 1), &[]).unwrap();
                way.instantiate(&graph)
            })
            .collect();
        execs.iter().for_each(|exec| exec.upload(&stream).unwrap());
        let handles: Vec<u64> = execs.iter().map(|exec| exec.device_graph().unwrap()).collect();
        for round in 1..=3 {
            assert_eq!(launch_from_kernel(&stream, &handles), [LAUNCHED; 64]);
            device().synchronize().unwrap();
            for counter in &counters {
                assert_eq!(counter.read(&stream).unwrap(), [round]);
            }
        }
    });
}

#[test]
fn a_graph_is_launched_by_one_of_those_who_try() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(100));
        let (exec, other) = (way.instantiate(&chain(&log, [1])), way.instantiate(&chain(&log, [2])));
        exec.upload(&stream).unwrap();
        other.upload(&stream).unwrap();
        let (one, two) = (exec.device_graph().unwrap(), other.device_graph().unwrap());
        // Its kernel is ordered behind nothing, so it may have ended before another work-item tries.
        let outcomes = launch_from_kernel(&stream, &[one, two, one, two, one, two]);
        assert!(outcomes.iter().all(|&outcome| outcome == LAUNCHED || outcome == BUSY), "{outcomes:?}");
        assert_eq!(outcomes[..2], [LAUNCHED; 2]);
        let launched = outcomes.iter().filter(|&&outcome| outcome == LAUNCHED).count();
        assert_eq!(log.entries().len(), launched);
    });
}

#[test]
fn a_graph_that_is_in_flight_is_launched_by_no_kernel() {
    both_ways(|way| {
        let (held, stream, log) = (stream(), stream(), Log::new(100));
        let mut graph = chain(&log, [1]);
        let _ = &mut graph;
        let inner = way.instantiate(&graph);
        inner.upload(&stream).unwrap();
        stream.synchronize().unwrap();
        // A graph whose kernel tries to launch the graph itself: it is in flight then.
        let results = buffer(&[u32::MAX; 2]);
        let handles = buffer(&[0; 4]);
        let launch =
            kernels().launch_graphs.launch(&device(), [1; 3], [2, 1, 1], 0, &[&handles, &results]).unwrap();
        let mut graph = Graph::new(&device());
        graph.kernel(&launch, &[]).unwrap();
        let exec = way.instantiate(&graph);
        let words: Vec<u32> = [exec.device_graph().unwrap(), inner.device_graph().unwrap()]
            .iter()
            .flat_map(|&at| [at as u32, (at >> 32) as u32])
            .collect();
        handles.write(&stream, &words).unwrap();
        exec.launch(&held).unwrap();
        held.synchronize().unwrap();
        assert_eq!(results.read(&stream).unwrap(), [BUSY, LAUNCHED]);
        assert_eq!(log.entries(), [1]);
    });
}

#[test]
fn a_kernel_launches_a_graph_again_and_again() {
    both_ways(|way| {
        let (stream, counter, launched) = (stream(), buffer(&[0]), buffer(&[0]));
        let mut graph = Graph::new(&device());
        let mut last = Vec::new();
        for _ in 0..50 {
            last = vec![graph.kernel(&affine(&counter, 1, 1), &last).unwrap()];
        }
        let exec = way.instantiate(&graph);
        exec.upload(&stream).unwrap();
        let (at, count) = (exec.device_graph().unwrap(), 40u32);
        stream.run(&single(&kernels().launch_graph_often, &[&at, &count, &launched])).unwrap();
        device().synchronize().unwrap();
        assert_eq!(launched.read(&stream).unwrap(), [count]);
        assert_eq!(counter.read(&stream).unwrap(), [50 * count]);
    });
}

#[test]
fn a_kernel_launches_nothing_that_is_not_there_as_it_is() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(20));
        let mut graph = Graph::new(&device());
        let node = graph.kernel(&log.append(1), &[]).unwrap();
        let exec = way.instantiate(&graph);
        let at = exec.device_graph().unwrap();
        assert_eq!(launch_from_kernel(&stream, &[at]), [NOT_UPLOADED]);
        // The upload is in stream order, and what is behind it finds the graph.
        let gate = Gate::on(&stream);
        exec.upload(&stream).unwrap();
        exec.set_kernel(node, &log.append(2)).unwrap();
        gate.open();
        assert_eq!(launch_from_kernel(&stream, &[at]), [NOT_UPLOADED]);
        exec.upload(&stream).unwrap();
        assert_eq!(launch_from_kernel(&stream, &[at]), [LAUNCHED]);
        assert_eq!(log.entries(), [2]);
        // Nothing is in flight: the arguments are written where the graph finds them.
        exec.set_kernel(node, &log.append(3)).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(launch_from_kernel(&stream, &[at]), [LAUNCHED]);
        assert_eq!(log.entries(), [2, 3, 3]);
        assert_eq!(exec.device_graph().unwrap(), at);
    });
}

#[test]
fn an_update_leaves_what_a_kernel_has_launched() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(40));
        let (out, turns) = (buffer(&[0]), 3000u32);
        let mut graph = Graph::new(&device());
        let slow = graph.kernel(&single(&kernels().slow, &[&out, &turns, &1u32]), &[]).unwrap();
        let node = graph.kernel(&log.append(1), &[slow]).unwrap();
        let exec = way.instantiate(&graph);
        for value in 2..12 {
            exec.upload(&stream).unwrap();
            assert_eq!(launch_from_kernel(&stream, &[exec.device_graph().unwrap()]), [LAUNCHED]);
            // Whether it has ended or not.
            exec.set_kernel(node, &log.append(value)).unwrap();
            if value % 3 == 0 {
                // The host's launch is behind it, with the new arguments.
                exec.launch(&stream).unwrap();
            }
            // A launch that has not ended would refuse the next.
            device().synchronize().unwrap();
        }
        let mut expected = Vec::new();
        for value in 2..12 {
            expected.push(value - 1);
            expected.extend((value % 3 == 0).then_some(value));
        }
        assert_eq!(log.entries(), expected);
    });
}

#[test]
fn an_executable_can_go_while_a_kernel_has_launched_it() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(100));
        for i in 0..10 {
            let exec = way.instantiate(&chain(&log, [i; 5]));
            exec.upload(&stream).unwrap();
            assert_eq!(launch_from_kernel(&stream, &[exec.device_graph().unwrap()]), [LAUNCHED]);
        }
        assert_eq!(log.entries().len(), 50);
    });
}

/// An address that nothing is at.
pub(super) const NOWHERE: u64 = 0x10_0000;

#[test]
fn a_fault_in_a_resident_graph_is_reported_and_everything_works_again() {
    if device().backend() != Backend::Emulated {
        return; // A memory fault takes a device of ROCr's for good.
    }
    in_child(
        "runtime::resident::a_fault_in_a_resident_graph_is_reported_and_everything_works_again",
        &[],
        || {
            both_ways(|way| {
                let (stream, log) = (stream(), Log::new(100));
                let good = way.instantiate(&chain(&log, [1, 2]));
                good.launch(&stream).unwrap();
                stream.synchronize().unwrap();
                let mut graph = Graph::new(&device());
                graph.kernel(&single(&kernels().poke, &[&NOWHERE, &1u32]), &[]).unwrap();
                let bad = way.instantiate(&graph);
                for round in 0..3 {
                    // Behind it another launch waits for the queues, and a long one publishes to them.
                    bad.launch(&stream).unwrap();
                    let outcome = good.launch(&stream).and_then(|()| stream.synchronize());
                    assert!(matches!(outcome, Err(Error::IllegalAddress(_))), "round {round}: {outcome:?}");
                    good.launch(&stream).unwrap();
                    stream.synchronize().unwrap();
                    assert_eq!(launch_from_kernel(&stream, &[good.device_graph().unwrap()]), [LAUNCHED]);
                    device().synchronize().unwrap();
                    // The same by a kernel.
                    bad.upload(&stream).unwrap();
                    let outcome = launch_outcome(&stream, bad.device_graph().unwrap());
                    assert!(matches!(outcome, Err(Error::IllegalAddress(_))), "round {round}: {outcome:?}");
                    // Its queues are gone.
                    assert_eq!(launch_from_kernel(&stream, &[good.device_graph().unwrap()]), [NOT_UPLOADED]);
                    good.upload(&stream).unwrap();
                    assert_eq!(launch_from_kernel(&stream, &[good.device_graph().unwrap()]), [LAUNCHED]);
                    device().synchronize().unwrap();
                }
                assert!(log.entries().len() >= 2 + 3 * 6);
            })
        },
    );
}

/// What the device says behind a launch by a kernel.
fn launch_outcome(stream: &Stream, graph: u64) -> aqlipse::Result<()> {
    let handles = buffer(&[graph as u32, (graph >> 32) as u32]);
    let results = buffer(&[u32::MAX]);
    stream.run(&single(&kernels().launch_graphs, &[&handles, &results]))?;
    device().synchronize()
}
