//! What launches allocate, and how many instructions they take, on the threads that launch.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    thread,
};

use aqlipse::{
    Event, Options,
    schedule::Candidate,
    typed::{ExecGraph, Graph, Node},
};

use super::*;

/// Counts what each thread asks the allocator for.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // While a thread ends its value may be gone; nobody asks for it then.
    let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
}

// SAFETY: every request is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps `realloc`'s contract; the block came from the system's allocator.
        unsafe { System.realloc(ptr, layout, new_size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract; the block came from the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Requests of this thread while `work` runs.
fn requests_in(work: impl FnOnce()) -> usize {
    let before = REQUESTS.get();
    work();
    REQUESTS.get() - before
}

#[test]
fn requests_are_counted_by_thread() {
    assert_eq!(requests_in(|| drop(std::hint::black_box(vec![1u8; 100]))), 1);
    let elsewhere = thread::spawn(|| drop(std::hint::black_box(vec![1u8; 100])));
    let join = || elsewhere.join().unwrap();
    assert_eq!(requests_in(join), 0);
}

/// A root, `width` chains of `length` kernels behind it, and a join, on as many queues.
pub fn fork_join(width: usize, length: usize, data: &[DeviceBuffer<u32>]) -> ExecGraph {
    fork_join_with(width, length, data, Options::default())
}

/// As [`fork_join`], with further options.
pub fn fork_join_with(
    width: usize,
    length: usize,
    data: &[DeviceBuffer<u32>],
    options: Options,
) -> ExecGraph {
    let mut graph = Graph::new(&device());
    let root = graph.kernel(&affine(&data[0], 1, 1), &[]).unwrap();
    let ends: Vec<Node> = (0..width)
        .map(|chain| {
            let step = |after, _| graph.kernel(&affine(&data[chain], 1, 1), &[after]).unwrap();
            (0..length).fold(root, step)
        })
        .collect();
    graph.kernel(&affine(&data[0], 1, 1), &ends).unwrap();
    let options = Options { lanes: width, candidate: Some(Candidate::Strict), ..options };
    let exec = graph.instantiate_with(options).unwrap();
    assert_eq!(exec.report().lanes, width, "the graph runs on as many queues as it has chains");
    exec
}

/// A chain of `length` kernels with a host function in its middle.
fn chain_with_host(length: usize, data: &DeviceBuffer<u32>) -> ExecGraph {
    let mut graph = Graph::new(&device());
    let mut last = Vec::new();
    for node in 0..length {
        last = vec![graph.kernel(&affine(data, 1, 1), &last).unwrap()];
        if node == length / 2 {
            last = vec![graph.host(|| {}, &last).unwrap()];
        }
    }
    graph.instantiate().unwrap()
}

/// A wait for `waited`, `length` kernels, and a record of each of `recorded`.
fn with_events(waited: &Event, recorded: &[Event], length: usize, data: &DeviceBuffer<u32>) -> ExecGraph {
    let mut graph = Graph::new(&device());
    let mut last = graph.wait(waited, &[]).unwrap();
    for _ in 0..length {
        last = graph.kernel(&affine(data, 1, 1), &[last]).unwrap();
    }
    for event in recorded {
        last = graph.record(event, &[last]).unwrap();
    }
    graph.instantiate().unwrap()
}

fn buffers(n: usize) -> Vec<DeviceBuffer<u32>> {
    (0..n).map(|_| buffer(&[0])).collect()
}

/// Requests of `launches` launches, of which none begins before all are launched, when as many have been before.
fn requests_of(exec: &ExecGraph, stream: &Stream, launches: usize) -> usize {
    let burst = || {
        let gate = Gate::on(stream);
        // The stream keeps what the gate needs behind what follows.
        exec.launch(stream).unwrap();
        let requests = requests_in(|| (0..launches).for_each(|_| exec.launch(stream).unwrap()));
        gate.open();
        stream.synchronize().unwrap();
        requests
    };
    for _ in 0..3 {
        burst();
    }
    burst()
}

const LAUNCHES: usize = 50;

#[test]
fn a_launch_again_allocates_nothing() {
    let (stream, data) = (stream(), buffers(4));
    for width in [1, 2, 4] {
        for length in [1, 40, 1000] {
            let exec = fork_join(width, length, &data);
            let launches = if length == 1000 { 3 } else { LAUNCHES };
            assert_eq!(requests_of(&exec, &stream, launches), 0, "{width} chains of {length}");
        }
    }
    assert_eq!(requests_of(&chain_with_host(3, &data[0]), &stream, LAUNCHES), 0, "a host node");
    let waited = Event::new(false);
    let other = super::stream();
    let gate = Gate::on(&other);
    other.record_event(&waited).unwrap();
    gate.open();
    assert_eq!(requests_of(&with_events(&waited, &[], 3, &data[0]), &stream, LAUNCHES), 0, "a wait");
}

#[test]
fn a_record_node_allocates_its_point_and_nothing_else() {
    let (stream, data, waited) = (stream(), buffers(1), Event::new(false));
    for count in [1, 2] {
        let recorded: Vec<_> = (0..count).map(|_| Event::new(false)).collect();
        let requests = requests_of(&with_events(&waited, &recorded, 3, &data[0]), &stream, LAUNCHES);
        // A fence and the signal that it shares.
        assert!(requests <= 2 * count * LAUNCHES, "{requests} for {LAUNCHES} launches with {count} records");
    }
}

/// For callgrind: launches of a graph that the environment names, each launch behind the one before.
#[test]
#[ignore = "run by what counts its instructions"]
fn launches_to_count() {
    let shape = env::var(SHAPE).expect("a shape and its kernels");
    let (shape, kernels) = shape.split_once('/').expect("a shape and its kernels");
    let kernels: usize = kernels.parse().expect("a number of kernels");
    let (stream, data, event) = (stream(), buffers(4), Event::new(false));
    let exec = match shape {
        "lanes2" => fork_join(2, (kernels - 2) / 2, &data),
        "lanes4" => fork_join(4, (kernels - 2) / 4, &data),
        "host" => chain_with_host(kernels, &data[0]),
        "wait" => with_events(&event, &[], kernels, &data[0]),
        "record" => with_events(&event, &[Event::new(false)], kernels, &data[0]),
        _ => panic!("no shape {shape}"),
    };
    for launch in 0..4 + COUNTED {
        match launch {
            // The first ones find queues and make signals.
            ..4 => exec.launch(&stream).unwrap(),
            _ => counted_launch(&exec, &stream),
        }
        stream.synchronize().unwrap();
    }
}

#[inline(never)]
fn counted_launch(exec: &ExecGraph, stream: &Stream) {
    exec.launch(stream).unwrap();
}

/// The shape whose launches are counted, and its kernels.
const SHAPE: &str = "AQLIPSE_TEST_SHAPE";

/// Launches that are counted.
const COUNTED: usize = 100;

/// Instructions of a launch of a shape with so many kernels.
pub fn instructions_of(shape: &str, kernels: usize) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*counted_launch*")
        .arg(env::current_exe().expect("this program"))
        .args(["runtime::allocations::launches_to_count", "--exact", "--ignored", "--test-threads=1"])
        .env(SHAPE, format!("{shape}/{kernels}"))
        .env("AQLIPSE_EMULATE_NULL", "1")
        .output()
        .expect("valgrind starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("1 passed"), "{shape}/{kernels}: {}\n{out}\n{err}", output.status);
    crate::instructions::collected(&err) / COUNTED as f64
}
