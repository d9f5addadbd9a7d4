//! Launches behind launches that have not begun yet: they cost room in a ring, and nothing else of the caller's time.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use aqlipse::typed::{ExecGraph, Graph};

use super::*;

/// Packets that a queue of the runtime holds at most (`src/device/lane.rs`).
const RING: usize = 16 * 1024;

/// A closed gate on `stream`, and whether it has let the stream pass.
fn gate(stream: &Stream) -> (Gate, Arc<AtomicBool>) {
    let (gate, passed) = (Gate::default(), Arc::new(AtomicBool::new(false)));
    let (held, pass) = (gate.clone(), passed.clone());
    stream
        .call(move || {
            held.wait();
            pass.store(true, Ordering::Release);
        })
        .expect("a host function");
    (gate, passed)
}

/// Launches an executable so often while nothing on the stream can begin; lets the stream go on then.
fn launch_without_waiting(exec: &ExecGraph, stream: &Stream, launches: u32) {
    let (gate, passed) = gate(stream);
    for _ in 0..launches {
        exec.launch(stream).unwrap();
    }
    // A launch that had waited for the one before would have had to wait for the gate, which opens by itself in the end.
    assert!(!passed.load(Ordering::Acquire), "a launch waited for what is in flight");
    gate.open();
}

#[test]
fn a_launch_behind_one_that_is_in_flight_does_not_wait_for_it() {
    const NODES: u32 = 4;
    const LAUNCHES: u32 = 1000;
    let (stream, data) = (stream(), buffer(&[0]));
    let mut graph = Graph::new(&device());
    let mut last = Vec::new();
    for _ in 0..NODES {
        last = vec![graph.kernel(&affine(&data, 1, 1), &last).unwrap()];
    }
    let exec = graph.instantiate().unwrap();
    launch_without_waiting(&exec, &stream, LAUNCHES);
    assert_eq!(data.read(&stream).unwrap(), [NODES * LAUNCHES]);
}

#[test]
fn only_a_full_ring_makes_a_launch_wait_and_then_for_room() {
    const LAUNCHES: usize = RING + 4000;
    let (stream, data) = (stream(), buffer(&[0]));
    let mut graph = Graph::new(&device());
    graph.kernel(&affine(&data, 1, 1), &[]).unwrap();
    let exec = graph.instantiate().unwrap();
    let (gate, passed) = gate(&stream);
    let launched = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..LAUNCHES {
                exec.launch(&stream).unwrap();
                launched.fetch_add(1, Ordering::Release);
            }
        });
        // Half of a ring is there for the taking, whatever else has packets in it.
        while launched.load(Ordering::Acquire) < RING / 2 && !passed.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!passed.load(Ordering::Acquire), "a launch waited although the ring had room");
        assert!(
            launched.load(Ordering::Acquire) <= RING,
            "packets were overwritten that nobody has taken yet"
        );
        gate.open();
    });
    assert_eq!(data.read(&stream).unwrap(), [LAUNCHES as u32]);
}

#[test]
fn a_launch_on_several_lanes_does_not_wait_for_the_one_before_it() {
    const LAUNCHES: u32 = 1000;
    for lanes in [2, 4] {
        let (stream, data) = (stream(), [(); 4].map(|()| buffer(&[0])));
        let exec = allocations::fork_join(lanes, 1, &data);
        launch_without_waiting(&exec, &stream, LAUNCHES);
        assert_eq!(data[0].read(&stream).unwrap(), [3 * LAUNCHES], "the root, the join and a chain");
        assert_eq!(data[1].read(&stream).unwrap(), [LAUNCHES]);
    }
}

#[test]
fn a_launch_with_host_nodes_does_not_wait_for_the_one_before_it() {
    const LAUNCHES: u32 = 1000;
    let (stream, data, calls) = (stream(), buffer(&[0]), Arc::new(AtomicUsize::new(0)));
    let mut graph = Graph::new(&device());
    let first = graph.kernel(&affine(&data, 1, 1), &[]).unwrap();
    let called = calls.clone();
    let host = graph.host(move || _ = called.fetch_add(1, Ordering::Relaxed), &[first]).unwrap();
    graph.kernel(&affine(&data, 1, 1), &[host]).unwrap();
    let exec = graph.instantiate().unwrap();
    launch_without_waiting(&exec, &stream, LAUNCHES);
    assert_eq!(data.read(&stream).unwrap(), [2 * LAUNCHES]);
    assert_eq!(calls.load(Ordering::Relaxed), LAUNCHES as usize);
}

#[test]
fn a_launch_while_the_host_is_in_a_step_of_the_one_before_does_not_wait() {
    let (stream, data, gate) = (stream(), buffer(&[0]), Gate::default());
    let mut graph = Graph::new(&device());
    let (held, passed) = (gate.clone(), Arc::new(AtomicBool::new(false)));
    let pass = passed.clone();
    let host = move || {
        held.wait();
        pass.store(true, Ordering::Release);
    };
    let host = graph.host(host, &[]).unwrap();
    graph.kernel(&affine(&data, 1, 1), &[host]).unwrap();
    let exec = graph.instantiate().unwrap();
    for _ in 0..100 {
        exec.launch(&stream).unwrap();
        // So that the host is in the first launch's step for most of the others.
        thread::yield_now();
    }
    assert!(!passed.load(Ordering::Acquire), "a launch waited for a step of the host");
    gate.open();
    assert_eq!(data.read(&stream).unwrap(), [100]);
}
