//! Queues whose rings lie in device memory run what others run.

use std::{process::Command, thread};

use aqlipse::{Backend, RING_VARIABLE, Rings, Stream, StreamKind, typed::Graph};

use super::*;

/// Priorities that have queues of their own, each of which gets its ring elsewhere.
const PLACES: [(i32, Rings); 3] = [(0, Rings::System), (-1, Rings::Device), (1, Rings::DeviceOrdinary)];

/// A stream for each place; on ROCr that cannot, all are in system memory.
fn streams() -> [Stream; 3] {
    PLACES.map(|(priority, rings)| {
        device().set_rings(rings);
        let stream = Stream::new(&device(), StreamKind::NonBlocking, priority);
        assert_eq!(stream.rings().expect("a queue"), or_system(rings));
        stream
    })
}

/// What the emulated device has, and what a runtime that cannot falls back to.
fn or_system(rings: Rings) -> Rings {
    let can = device().backend() == Backend::Emulated && device().properties().large_bar;
    if can { rings } else { Rings::System }
}

#[test]
fn the_environment_says_where_rings_are() {
    for rings in [Rings::Device, Rings::DeviceOrdinary, Rings::System] {
        let test = "runtime::rings::the_environment_says_where_rings_are";
        in_child(test, &[(RING_VARIABLE, rings.name())], || {
            let name = std::env::var(RING_VARIABLE).unwrap();
            let wanted =
                PLACES.map(|(_, rings)| rings).into_iter().find(|rings| rings.name() == name).unwrap();
            let (device, data) = (device(), buffer(&[1, 2, 3]));
            let stream = device.default_stream();
            assert_eq!(stream.rings().unwrap(), or_system(wanted));
            stream.run(&affine(&data, 3, 1)).unwrap();
            assert_eq!(data.read(stream).unwrap(), [4, 7, 10]);
        });
        if std::env::var(CHILD).is_ok() {
            return; // The child has one of them.
        }
    }
}

/// Graphs that wrap around a ring at many places, and one that is longer than a ring.
#[test]
fn graphs_give_the_same_on_every_ring() {
    in_child("runtime::rings::graphs_give_the_same_on_every_ring", &[], || {
        let streams = streams();
        for nodes in [1u32, 2, 63, 64, 65, 700, 1025, 9000, 17_000] {
            let data: Vec<_> = streams.iter().map(|_| buffer(&[1, 5])).collect();
            for (stream, data) in streams.iter().zip(&data) {
                let mut graph = Graph::new(&device());
                let mut last = Vec::new();
                for node in 0..nodes {
                    // Which one runs before which shows in the outcome.
                    last = vec![graph.kernel(&affine(data, 3, node), &last).unwrap()];
                }
                let exec = graph.instantiate().unwrap();
                for _ in 0..if nodes > 1025 { 1 } else { 3 } {
                    exec.launch(stream).unwrap();
                }
            }
            let run = |start: u32| {
                let launches = if nodes > 1025 { 1 } else { 3 };
                let steps = (0..launches).flat_map(|_| 0..nodes);
                steps.fold(start, |value, node| value.wrapping_mul(3).wrapping_add(node))
            };
            for (stream, data) in streams.iter().zip(&data) {
                assert_eq!(data.read(stream).unwrap(), [run(1), run(5)], "{nodes} nodes");
            }
        }
    });
}

#[test]
fn threads_share_a_ring_in_device_memory() {
    const THREADS: usize = 4;
    const LAUNCHES: u32 = 300;
    let test = "runtime::rings::threads_share_a_ring_in_device_memory";
    in_child(test, &[(RING_VARIABLE, "device")], || {
        // More streams than queues, so that some share one.
        let outcomes = thread::scope(|scope| {
            let work = |thread: usize| {
                scope.spawn(move || {
                    let streams = [stream(), stream()];
                    let data = [buffer(&[0]), buffer(&[0])];
                    let execs = [0, 1].map(|at| {
                        let mut graph = Graph::new(&device());
                        let mut last = Vec::new();
                        for _ in 0..=thread * 40 + at {
                            last = vec![graph.kernel(&affine(&data[at], 1, 1), &last).unwrap()];
                        }
                        graph.instantiate().unwrap()
                    });
                    for _ in 0..LAUNCHES {
                        for at in [0, 1] {
                            execs[at].launch(&streams[at]).unwrap();
                        }
                    }
                    [0, 1].map(|at| data[at].read(&streams[at]).unwrap()[0])
                })
            };
            let threads: Vec<_> = (0..THREADS).map(work).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (thread, outcome) in outcomes.into_iter().enumerate() {
            let nodes = [0, 1].map(|at| (thread * 40 + at + 1) as u32);
            assert_eq!(outcome, nodes.map(|nodes| nodes * LAUNCHES), "thread {thread}");
        }
    });
}

/// Topics of this program whose tests put rings to the test: lanes, several devices, kernels that publish, full rings,
/// faults after which queues are made anew; with caches that show a missing fence, too. One after the other: some count
/// what the process holds.
#[test]
fn tests_pass_with_rings_in_device_memory() {
    if std::env::var_os(RING_VARIABLE).is_some() || or_system(Rings::Device) == Rings::System {
        return; // With the variable set all tests are such; of a runtime that cannot, none is.
    }
    let program = std::env::current_exe().expect("this program");
    for coherence in ["off", "strict"] {
        for topic in ["dags", "devices", "resident", "relaunches", "events", "updates", "faults"] {
            let mut command = Command::new(&program);
            command.args([&format!("runtime::{topic}::"), "--test-threads=1"]);
            command.env(RING_VARIABLE, "device").env("AQLIPSE_EMULATE_COHERENCE", coherence);
            let output = command.output().expect("this program starts");
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(
                output.status.success(),
                "{topic}, coherence {coherence}: {}\n{out}\n{err}",
                output.status
            );
            assert!(!out.contains(" 0 passed"), "{topic} has tests\n{out}");
        }
    }
}
