//! Graphs whose nodes check that what they depend on has run: each as often as it should have, and no sooner.

use aqlipse::{
    Event, Options, Stream,
    schedule::Candidate,
    typed::{DeviceBuffer, ExecGraph, Graph, Node},
};
use fastrand::Rng;

use super::*;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Kernel,
    Host,
    Empty,
    /// Records an event of its own.
    Record,
    /// Waits for the event that was recorded last among the nodes before it, as an earlier launch has left it.
    Wait,
}

/// Every kind of plan on `lanes` queues, also those that the scheduler would not choose.
pub fn on_lanes(lanes: usize) -> Vec<Options> {
    const SEVERAL: [Candidate; 4] =
        [Candidate::Strict, Candidate::Relaxed, Candidate::LevelLanes, Candidate::Turns];
    const ONE: [Candidate; 3] = [Candidate::Levels, Candidate::Balanced, Candidate::Serial];
    let kinds: &[Candidate] = if lanes > 1 { &SEVERAL } else { &ONE };
    let chosen = std::iter::once(None).chain(kinds.iter().copied().map(Some));
    chosen.map(|candidate| Options { lanes, candidate, ..Options::default() }).collect()
}

/// A plan that entangles `lanes` queues as much as it can.
pub fn entangled(lanes: usize) -> Options {
    Options { lanes, candidate: Some(Candidate::Relaxed), ..Options::default() }
}

/// A graph of counting nodes, and its executable.
pub struct Counting {
    pub exec: ExecGraph,
    runs: DeviceBuffer<u32>,
    errors: DeviceBuffer<u32>,
    kernels: Vec<bool>,
    events: Vec<Event>,
}

impl Counting {
    /// A graph of `work`, whose node `to` runs behind `from` for each edge; edges lead to greater numbers.
    ///
    /// A kernel checks the kernels before it, also across other nodes; one without any checks that all kernels of the
    /// launch before have run.
    pub fn new(work: &[Work], edges: &[(usize, usize)], options: Options) -> Self {
        Self::spread(work, edges, options, |_| device())
    }

    /// As [`Counting::new`], with the nodes on devices that may access the first one's memory.
    pub fn spread(
        work: &[Work],
        edges: &[(usize, usize)],
        options: Options,
        device_of: impl Fn(usize) -> Device,
    ) -> Self {
        let n = work.len();
        let (runs, errors) = (buffer(&vec![0; n.max(1)]), buffer(&[0]));
        let mut graph = Graph::new(&device());
        let mut nodes: Vec<Node> = Vec::new();
        let mut kernels_before: Vec<Vec<u32>> = Vec::new();
        let mut events: Vec<Event> = Vec::new();
        let all: Vec<u32> = (0..n as u32).filter(|&i| work[i as usize] == Work::Kernel).collect();
        for (i, &what) in work.iter().enumerate() {
            let mut preds: Vec<usize> = edges.iter().filter(|e| e.1 == i).map(|e| e.0).collect();
            preds.sort_unstable();
            preds.dedup();
            let mut before = Vec::new();
            for &pred in &preds {
                match work[pred] {
                    Work::Kernel => before.push(pred as u32),
                    _ => before.extend_from_slice(&kernels_before[pred]),
                }
            }
            before.sort_unstable();
            before.dedup();
            let after: Vec<Node> = preds.iter().map(|&pred| nodes[pred]).collect();
            graph.on(&device_of(i));
            let node = match what {
                Work::Empty => graph.empty(&after),
                Work::Host => graph.host(|| (), &after),
                Work::Record => {
                    events.push(Event::new(false));
                    graph.record(&events[events.len() - 1], &after)
                }
                Work::Wait => graph.wait(&events.last().cloned().unwrap_or(Event::new(false)), &after),
                Work::Kernel => {
                    let (list, preds, last) = match before.len() {
                        0 => (all.clone(), 0, all.len()),
                        len => (before.clone(), len, 0),
                    };
                    let list = buffer(&list);
                    let (preds, last) = (preds as u32, last as u32);
                    let arguments: [&dyn Argument; 6] = [&runs, &(i as u32), &list, &preds, &last, &errors];
                    graph.kernel(&single_on(&device_of(i), &kernels().count_after, &arguments), &after)
                }
            };
            nodes.push(node.unwrap());
            kernels_before.push(before);
        }
        let exec = graph.instantiate_with(options).unwrap();
        let kernels = work.iter().map(|&w| w == Work::Kernel).collect();
        Self { exec, runs, errors, kernels, events }
    }

    /// Checks that all of `launches` launches have run and in order; they have been waited for.
    pub fn check(&self, launches: u32, what: &str) {
        let stream = stream();
        assert_eq!(self.errors.read(&stream).unwrap(), [0], "{what}: nodes ran before what they wait for");
        let runs = self.runs.read(&stream).unwrap();
        for (runs, _) in runs.iter().zip(&self.kernels).filter(|(_, kernel)| **kernel) {
            assert_eq!(*runs, launches, "{what}");
        }
        for event in &self.events {
            assert_eq!(event.is_complete(), Ok(true), "{what}");
        }
    }
}

/// A random graph with some host, event and empty nodes.
pub fn random(random: &mut Rng, options: Options, hosts: bool) -> Counting {
    random_over(random, options, hosts, &[device()])
}

/// As [`random`], with the nodes on random devices that may access the first one's memory.
pub fn random_over(random: &mut Rng, options: Options, hosts: bool, devices: &[Device]) -> Counting {
    let n = 1 + random.usize(..40);
    let density = 1 + random.usize(..4);
    let mut edges = Vec::new();
    for to in 1..n {
        for _ in 0..random.usize(..density + 1) {
            // Near ones as often as any.
            let from = if random.bool() { random.usize(..to) } else { to - 1 - random.usize(..to.min(3)) };
            edges.push((from, to));
        }
    }
    let work: Vec<Work> = (0..n)
        .map(|_| match random.usize(..12) {
            0 if hosts => Work::Host,
            1 => Work::Empty,
            2 => Work::Record,
            3 => Work::Wait,
            _ => Work::Kernel,
        })
        .collect();
    let places: Vec<usize> =
        (0..n).map(|_| if devices.len() > 1 { random.usize(..devices.len()) } else { 0 }).collect();
    Counting::spread(&work, &edges, options, |node| devices[places[node]].clone())
}

fn launch_and_wait(graph: &Counting, stream: &Stream, launches: u32) {
    for _ in 0..launches {
        graph.exec.launch(stream).unwrap();
    }
    stream.synchronize().unwrap();
}

#[test]
fn random_graphs_keep_their_order() {
    let stream = stream();
    let mut widest = 0;
    for seed in 0..30 {
        for options in (1..=4).flat_map(on_lanes) {
            let graph = random(&mut Rng::with_seed(seed), options, seed % 2 == 1);
            widest = widest.max(graph.exec.report().lanes);
            launch_and_wait(&graph, &stream, 4);
            graph.check(4, &format!("seed {seed}, {options:?}"));
        }
    }
    assert_eq!(widest, 4, "some graph must need all queues");
}

/// The shapes of GraphBench: a chain, independent paths, layers that are fully connected.
#[test]
fn chains_paths_and_full_layers_keep_their_order() {
    let stream = stream();
    for (name, width, full) in
        [("straight", 1, false), ("paths", 4, false), ("full2", 2, true), ("full4", 4, true)]
    {
        let layers = 24;
        let mut edges = Vec::new();
        for layer in 1..layers {
            for a in 0..width {
                for b in (0..width).filter(|&b| full || a == b) {
                    edges.push(((layer - 1) * width + a, layer * width + b));
                }
            }
        }
        for options in (1..=4).flat_map(on_lanes) {
            let graph = Counting::new(&vec![Work::Kernel; layers * width], &edges, options);
            launch_and_wait(&graph, &stream, 5);
            graph.check(5, &format!("{name}, {options:?}"));
        }
    }
}

#[test]
fn launches_of_one_executable_on_several_streams_do_not_overlap() {
    let streams: Vec<_> = (0..5).map(|_| stream()).collect();
    for (seed, options) in (1..=4).flat_map(on_lanes).enumerate() {
        let graph = random(&mut Rng::with_seed(100 + seed as u64), options, seed % 2 == 0);
        for i in 0..60 {
            graph.exec.launch(&streams[i % streams.len()]).unwrap();
        }
        device().synchronize().unwrap();
        graph.check(60, &format!("{options:?}"));
    }
}

#[test]
fn executables_of_several_threads_share_the_queues() {
    thread_scope(4, |n| {
        let stream = stream();
        let mut seeds = Rng::with_seed(n as u64);
        for round in 0..6 {
            let graph = random(&mut seeds, entangled(1 + (n + round) % 4), round % 2 == 0);
            launch_and_wait(&graph, &stream, 25);
            graph.check(25, &format!("thread {n}, round {round}"));
        }
    });
}

/// Two lanes each, so entangled that each graph waits across them all the time.
#[test]
fn entangled_graphs_of_two_threads_cannot_block_each_other() {
    let width = 4;
    let mut edges = Vec::new();
    for layer in 1..30 {
        for a in 0..width {
            edges.push(((layer - 1) * width + a, layer * width + a));
            edges.push(((layer - 1) * width + a, layer * width + (a + 1) % width));
        }
    }
    thread_scope(3, |n| {
        let stream = stream();
        let graph = Counting::new(&vec![Work::Kernel; 30 * width], &edges, entangled(2 + n % 3));
        assert!(graph.exec.report().lanes > 1);
        launch_and_wait(&graph, &stream, 40);
        graph.check(40, &format!("thread {n}"));
    });
}

/// As above, with rings that are full: launches are published in parts, with others' in between.
#[test]
fn entangled_graphs_of_threads_that_fill_the_rings_cannot_block_each_other() {
    let (width, layers) = (4, 60);
    let mut edges = Vec::new();
    for layer in 1..layers {
        for a in 0..width {
            edges.push(((layer - 1) * width + a, layer * width + a));
            edges.push(((layer - 1) * width + a, layer * width + (a + 1) % width));
        }
    }
    thread_scope(3, |n| {
        let stream = stream();
        let graph = Counting::new(&vec![Work::Kernel; layers * width], &edges, entangled(2 + n));
        assert_eq!(graph.exec.report().lanes, 2 + n);
        // More than 25,000 packets a lane from each thread, and nobody waits for a launch.
        launch_and_wait(&graph, &stream, 200);
        graph.check(200, &format!("thread {n}"));
    });
}

/// Graphs publish to several queues one after the other; other streams' waits get in between.
#[test]
fn streams_that_wait_for_each_other_cannot_block_a_graph_on_the_same_queues() {
    let width = 3;
    let mut edges = Vec::new();
    for layer in 1..12 {
        for a in 0..width {
            edges.push(((layer - 1) * width + a, layer * width + a));
            edges.push(((layer - 1) * width + a, layer * width + (a + 1) % width));
        }
    }
    thread_scope(4, |n| {
        let stream = stream();
        if n < 2 {
            let graph = Counting::new(&vec![Work::Kernel; 12 * width], &edges, entangled(3));
            assert_eq!(graph.exec.report().lanes, 3);
            launch_and_wait(&graph, &stream, 150);
            return graph.check(150, &format!("thread {n}"));
        }
        // One stream on every queue, each behind the one before, round and round.
        let streams: Vec<_> = (0..4).map(|_| super::stream()).collect();
        let data = buffer(&[0; 4]);
        for i in 0..1200 {
            let event = aqlipse::Event::new(false);
            streams[i % 4].run(&affine(&data, 1, 1)).unwrap();
            streams[i % 4].record_event(&event).unwrap();
            streams[(i + 1) % 4].wait(&event).unwrap();
        }
        assert_eq!(data.read(&streams[0]).unwrap(), [1200; 4]);
    });
}

/// More packets than the rings hold: published in parts, as room comes free.
#[test]
fn graphs_larger_than_the_ring_run() {
    let n = 20_000;
    for (lanes, stride) in [(1, 1), (2, 2), (4, 5)] {
        let log = buffer(&[0; 2]);
        let mut graph = Graph::new(&device());
        let launch = affine(&log, 1, 1);
        let mut nodes: Vec<Node> = Vec::with_capacity(n);
        for i in 0..n {
            // Paths that meet now and then.
            let mut after: Vec<Node> = if i >= stride { vec![nodes[i - stride]] } else { Vec::new() };
            if i % 1000 >= stride && i % 1000 < 2 * stride {
                after = nodes[i - i % 1000..i - i % 1000 + stride].to_vec();
            }
            nodes.push(graph.kernel(&launch, &after).unwrap());
        }
        let end = graph.host(|| (), &nodes[n - stride..]).unwrap();
        graph.kernel(&launch, &[end]).unwrap();
        let options = if lanes == 1 { Options::default() } else { entangled(lanes) };
        let exec = graph.instantiate_with(options).unwrap();
        assert_eq!(exec.report().lanes, lanes);
        let stream = stream();
        exec.launch(&stream).unwrap();
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        if lanes == 1 {
            // Kernels that do not wait for each other may lose additions.
            assert_eq!(log.read(&stream).unwrap(), [2 * (n as u32 + 1); 2]);
        }
    }
}

/// The packets behind a host node stay in the ring until it has run, and it is only queued by the same launch.
#[test]
fn a_graph_larger_than_the_ring_waits_for_its_own_host_nodes() {
    let (stream, data) = (stream(), buffer(&[0; 2]));
    let mut graph = Graph::new(&device());
    let launch = affine(&data, 1, 1);
    let mut last: Vec<Node> = Vec::new();
    for i in 0..18_000 {
        last = match i {
            100 => vec![graph.host(|| (), &last).unwrap()],
            _ => vec![graph.kernel(&launch, &last).unwrap()],
        };
    }
    graph.instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [17_999; 2]);
}

pub fn thread_scope(threads: usize, work: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for n in 0..threads {
            let work = &work;
            scope.spawn(move || work(n));
        }
    });
}
