//! Who takes resident graphs to where they run, and what becomes of launches that meet.

use std::env;

use aqlipse::{
    Backend, Error, Options, RESIDENT_VARIABLE, Residence,
    typed::{ExecGraph, Graph},
};

use super::{
    dags::thread_scope,
    resident::{BUSY, LAUNCHED, NOWHERE, Way, both_ways, chain, launch_from_kernel},
    *,
};

/// Whether the packet processor takes graphs of one lane unless it is told not to.
fn takes_buffers() -> bool {
    let told = env::var(RESIDENT_VARIABLE).as_deref() == Ok("launcher");
    device().backend() == Backend::Emulated && !told
}

fn residence(exec: &ExecGraph) -> Residence {
    exec.report().residence.expect("the executable is resident")
}

#[test]
fn the_packet_processor_takes_graphs_of_one_lane_if_it_can() {
    let log = Log::new(1);
    let graph = chain(&log, [1, 2]);
    assert_eq!(graph.instantiate().unwrap().report().residence, None);
    let taken = if takes_buffers() { Residence::IndirectBuffer } else { Residence::Launcher };
    assert_eq!(residence(&Way::Buffer.instantiate(&graph)), taken);
    assert_eq!(residence(&Way::Launcher.instantiate(&graph)), Residence::Launcher);
    // Two chains that meet.
    let mut graph = chain(&log, [1, 2]);
    let one = graph.kernel(&log.append(3), &[]).unwrap();
    let two = graph.kernel(&log.append(4), &[]).unwrap();
    graph.kernel(&log.append(5), &[one, two]).unwrap();
    let exec = graph.instantiate_with(Way::Buffer.options(super::dags::entangled(2))).unwrap();
    assert!(exec.report().lanes > 1, "{:?}", exec.report());
    assert_eq!(residence(&exec), Residence::Launcher);
}

#[test]
fn the_environment_keeps_packet_processors_from_taking_graphs() {
    for value in ["launcher", "auto", "neither"] {
        let test = "runtime::residence::the_environment_keeps_packet_processors_from_taking_graphs";
        in_child(test, &[(RESIDENT_VARIABLE, value)], || {
            let log = Log::new(4);
            let graph = chain(&log, [1, 2]);
            if env::var(RESIDENT_VARIABLE).as_deref() == Ok("neither") {
                let outcome = graph.instantiate_with(Way::Buffer.options(Options::default()));
                assert!(matches!(outcome, Err(Error::InvalidValue(_))), "{:?}", outcome.err());
                return;
            }
            let exec = Way::Buffer.instantiate(&graph);
            let taken = if takes_buffers() { Residence::IndirectBuffer } else { Residence::Launcher };
            assert_eq!(residence(&exec), taken);
            exec.launch(&stream()).unwrap();
            assert_eq!(log.entries(), [1, 2]);
        });
        if env::var(CHILD).is_ok() {
            return; // The child has one value.
        }
    }
}

#[test]
fn kernels_wait_for_launches_from_before_they_could_have_the_graph() {
    both_ways(|way| {
        // Of another priority, so that the two streams share no queue.
        let (held, stream) = (Stream::new(&device(), StreamKind::NonBlocking, -1), stream());
        let log = Log::new(20);
        let exec = way.instantiate(&chain(&log, [1, 2, 3]));
        exec.upload(&stream).unwrap();
        stream.synchronize().unwrap();
        // Not within the gate's time: memory that goes waits for the device.
        let (handles, results) = (buffer(&[0; 2]), buffer(&[u32::MAX]));
        let launch = single(&kernels().launch_graphs, &[&handles, &results]);
        let gate = Gate::on(&held);
        exec.launch(&held).unwrap();
        let at = exec.device_graph().unwrap();
        handles.write(&stream, &[at as u32, (at >> 32) as u32]).unwrap();
        stream.run(&launch).unwrap();
        // The launcher has not begun: who comes first launches.
        let expected = if residence(&exec) == Residence::IndirectBuffer { BUSY } else { LAUNCHED };
        assert_eq!(results.read(&stream).unwrap(), [expected]);
        gate.open();
        held.synchronize().unwrap();
        device().synchronize().unwrap();
        assert_eq!(launch_from_kernel(&stream, &[at]), [LAUNCHED]);
        let launches = if expected == BUSY { 2 } else { 3 };
        assert_eq!(log.entries(), [1, 2, 3].repeat(launches));
    });
}

#[test]
fn launches_by_hosts_and_by_kernels_never_overlap() {
    both_ways(|way| {
        let (hosts, by_host, by_kernel) = (2usize, 15usize, 30u32);
        let log = Log::new(4 * (hosts * by_host + by_kernel as usize));
        let exec = way.instantiate(&chain(&log, [1, 2, 3, 4]));
        let (own, launched) = (stream(), buffer(&[0]));
        exec.upload(&own).unwrap();
        let at = exec.device_graph().unwrap();
        own.run(&single(&kernels().launch_graph_often, &[&at, &by_kernel, &launched])).unwrap();
        thread_scope(hosts, |_| {
            let stream = stream();
            for _ in 0..by_host {
                exec.launch(&stream).unwrap();
            }
            stream.synchronize().unwrap();
        });
        device().synchronize().unwrap();
        assert_eq!(launched.read(&own).unwrap(), [by_kernel]);
        assert_eq!(log.entries(), [1, 2, 3, 4].repeat(hosts * by_host + by_kernel as usize));
    });
}

#[test]
fn threads_that_launch_one_executable_take_turns() {
    both_ways(|way| {
        let log = Log::new(4 * 3 * 40);
        let exec = way.instantiate(&chain(&log, [1, 2, 3, 4]));
        thread_scope(3, |_| {
            let stream = stream();
            for _ in 0..40 {
                exec.launch(&stream).unwrap();
            }
            stream.synchronize().unwrap();
        });
        assert_eq!(log.entries(), [1, 2, 3, 4].repeat(3 * 40));
    });
}

#[test]
fn a_launch_behind_an_update_waits_for_what_a_kernel_has_launched() {
    both_ways(|way| {
        let (stream, log) = (stream(), Log::new(400));
        let (out, turns) = (buffer(&[0]), 2000u32);
        let mut graph = Graph::new(&device());
        let slow = graph.kernel(&single(&kernels().slow, &[&out, &turns, &1u32]), &[]).unwrap();
        let node = graph.kernel(&log.append(0), &[slow]).unwrap();
        let exec = way.instantiate(&graph);
        let at = exec.device_graph().unwrap();
        let mut expected = Vec::new();
        for value in 1..20 {
            exec.upload(&stream).unwrap();
            assert_eq!(launch_from_kernel(&stream, &[at]), [LAUNCHED]);
            expected.push(value - 1);
            // Its launch may be in flight; the next ones are behind it, each with what it was given.
            exec.set_kernel(node, &log.append(100 + value)).unwrap();
            exec.launch(&stream).unwrap();
            exec.set_kernel(node, &log.append(value)).unwrap();
            exec.launch(&stream).unwrap();
            expected.extend([100 + value, value]);
            device().synchronize().unwrap();
        }
        assert_eq!(log.entries(), expected);
    });
}

#[test]
fn executables_that_are_gone_have_given_their_memory_back() {
    in_child("runtime::residence::executables_that_are_gone_have_given_their_memory_back", &[], || {
        both_ways(|way| {
            let stream = stream();
            let log = Log::new(2 * 64 * 70);
            let round = || {
                let mut graph = Graph::new(&device());
                let node = graph.kernel(&log.append(0), &[]).unwrap();
                let mut last = vec![node];
                for value in 1..64 {
                    last = vec![graph.kernel(&log.append(value), &last).unwrap()];
                }
                let exec = way.instantiate(&graph);
                exec.launch(&stream).unwrap();
                exec.set_kernel(node, &log.append(7)).unwrap();
                let _ = exec.device_graph().unwrap();
                exec.launch(&stream).unwrap();
            };
            let settle = || {
                stream.synchronize().unwrap();
                device().synchronize().unwrap();
                stream.run(&log.append(0)).unwrap();
                stream.synchronize().unwrap();
                (device().memory_info().0, device().kernarg_bytes().1)
            };
            (0..10).for_each(|_| round());
            let before = settle();
            // Two copies of 4 KiB each.
            (0..50).for_each(|_| {
                round();
                settle();
            });
            assert_eq!(settle(), before, "{way:?}");
        });
    });
}

#[test]
fn a_fault_in_a_graph_is_its_kernels_and_takes_what_is_behind() {
    if device().backend() != Backend::Emulated {
        return; // A memory fault takes a device of ROCr's for good.
    }
    in_child("runtime::residence::a_fault_in_a_graph_is_its_kernels_and_takes_what_is_behind", &[], || {
        both_ways(|way| {
            for given in [false, true] {
                let (stream, log) = (stream(), Log::new(9));
                let mut graph = chain(&log, [1, 2]);
                let fault = graph.kernel(&single(&kernels().poke, &[&0x10_0000u64, &1u32]), &[]).unwrap();
                graph.kernel(&log.append(3), &[fault]).unwrap();
                let exec = way.instantiate(&graph);
                if given {
                    exec.device_graph().unwrap();
                }
                exec.launch(&stream).unwrap();
                let outcome = stream.synchronize();
                let Err(Error::IllegalAddress(report)) = &outcome else { panic!("{outcome:?}, {way:?}") };
                assert!(report.contains("poke"), "{report}");
                assert!(!log.entries().contains(&3));
                // With another kernel in its place the executable is as good as new.
                let other = single(&kernels().poke, &[&log.address(), &0u32]);
                exec.set_kernel(fault, &other).unwrap();
                exec.launch(&stream).unwrap();
                stream.synchronize().unwrap();
                assert!(log.entries().contains(&3), "{:?}", log.entries());
            }
        });
    });
}

#[test]
fn faults_among_launches_of_several_threads_leave_queues_that_work() {
    if device().backend() != Backend::Emulated {
        return; // A memory fault takes a device of ROCr's for good.
    }
    in_child(
        "runtime::residence::faults_among_launches_of_several_threads_leave_queues_that_work",
        &[],
        || {
            let mut graph = Graph::new(&device());
            graph.kernel(&single(&kernels().poke, &[&NOWHERE, &1u32]), &[]).unwrap();
            let bad = Way::Launcher.instantiate(&graph);
            let counter = buffer(&[0; 1]);
            let mut graph = Graph::new(&device());
            let mut last = Vec::new();
            for _ in 0..100 {
                last = vec![graph.kernel(&affine(&counter, 1, 1), &last).unwrap()];
            }
            let good: Vec<_> = (0..4).map(|n| (stream(), Way::BOTH[n % 2].instantiate(&graph))).collect();
            thread_scope(4, |n| {
                let (stream, good) = &good[n];
                for round in 0..100 {
                    // What a fault takes, it may take.
                    let _ = good.launch(stream);
                    if round % 4 == n {
                        let _ = bad.launch(stream);
                    }
                    if round % 3 == 0 {
                        let _ = stream.synchronize();
                    }
                }
            });
            let _ = device().synchronize();
            let (stream, log) = (stream(), Log::new(4));
            let exec = Way::Launcher.instantiate(&chain(&log, [1, 2]));
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(log.entries(), [1, 2]);
        },
    );
}
