//! Interrupts that launches raise, as the emulated device counts them.

use aqlipse::{
    Backend, Function, Options, Together,
    graph::{Kernel, KernelAttributes},
    launch_together, memory,
};

use super::{
    allocations::{fork_join, fork_join_with},
    devices::with_devices,
    resident::both_ways,
    updates::kernel_node,
    *,
};

/// Interrupts that device 0 has raised so far.
fn interrupts() -> u64 {
    emulator::counters(0).expect("a device").interrupts
}

/// A host thread can only sleep on the signal at a launch's end: what its lanes wait for among each other interrupts
/// nobody.
#[test]
fn a_launch_interrupts_the_host_once_whatever_its_lanes() {
    in_child("runtime::interrupts::a_launch_interrupts_the_host_once_whatever_its_lanes", &[], || {
        if device().backend() == Backend::Rocr {
            return; // The thunk counts for ROCr (`tests/against.rs`).
        }
        let (stream, data) = (stream(), [(); 4].map(|()| buffer(&[0])));
        for (width, length) in [(1, 8), (2, 3), (4, 2)] {
            let exec = fork_join(width, length, &data);
            for _ in 0..4 {
                let before = interrupts();
                exec.launch(&stream).unwrap();
                stream.synchronize().unwrap();
                assert_eq!(interrupts() - before, 1, "a launch on {width} lanes");
            }
        }
    });
}

/// A host function waits for what is before it, which takes one interrupt; what is behind it waits for the host.
#[test]
fn a_host_function_takes_one_interrupt_more() {
    in_child("runtime::interrupts::a_host_function_takes_one_interrupt_more", &[], || {
        if device().backend() == Backend::Rocr {
            return;
        }
        let (stream, data) = (stream(), buffer(&[0]));
        let before = interrupts();
        stream.run(&affine(&data, 1, 1)).unwrap();
        stream.call(|| ()).unwrap();
        stream.run(&affine(&data, 1, 1)).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(interrupts() - before, 2);
    });
}

/// A cooperative kernel that appends a 7 to a log.
fn cooperative(log: &Log) -> Kernel<Function> {
    let attributes = KernelAttributes { cooperative: 1, ..KernelAttributes::DEFAULT };
    Kernel { attributes: attributes.into(), ..kernel_node(log, 7) }
}

/// Interrupts of each launch, once everything is made that launches use again.
fn interrupts_of_each(launch: impl Fn()) -> Vec<u64> {
    let each = |_| {
        let before = interrupts();
        launch();
        interrupts() - before
    };
    (0..4).map(each).skip(1).collect()
}

#[test]
fn a_cooperative_launch_interrupts_the_host_once() {
    in_child("runtime::interrupts::a_cooperative_launch_interrupts_the_host_once", &[], || {
        if device().backend() == Backend::Rocr {
            return;
        }
        let (stream, log) = (stream(), Log::new(4));
        let launch = || {
            stream.launch(cooperative(&log)).unwrap();
            stream.synchronize().unwrap();
        };
        assert_eq!(interrupts_of_each(launch), [1; 3]);
        assert_eq!(log.entries(), [7; 4]);
    });
}

/// The streams of the other devices are not waited for.
#[test]
fn a_cooperative_launch_on_several_devices_interrupts_the_host_once() {
    let test = "a_cooperative_launch_on_several_devices_interrupts_the_host_once";
    with_devices("runtime::interrupts", test, |devices| {
        if device().backend() == Backend::Rocr {
            return;
        }
        let streams: Vec<_> = devices.iter().map(|it| Stream::new(it, StreamKind::NonBlocking, 0)).collect();
        let logs = [(); 4].map(|()| Log::new(4));
        devices[1..].iter().for_each(|it| memory::enable_peer_access(it, &devices[0]).unwrap());
        let launch = || {
            let kernels = streams.iter().cloned().zip(logs.iter().map(cooperative)).collect();
            launch_together(kernels, Together { before: true, after: true, cooperative: true }).unwrap();
            streams[0].synchronize().unwrap();
        };
        assert_eq!(interrupts_of_each(launch), [1; 3]);
        logs.iter().for_each(|log| assert_eq!(log.entries(), [7; 4]));
        let elsewhere = (1..4).map(|n| emulator::counters(n).expect("a device").interrupts);
        assert_eq!(elsewhere.sum::<u64>(), 0);
    });
}

#[test]
fn a_launch_of_a_resident_graph_interrupts_the_host_once() {
    in_child("runtime::interrupts::a_launch_of_a_resident_graph_interrupts_the_host_once", &[], || {
        if device().backend() == Backend::Rocr {
            return;
        }
        let (stream, data) = (stream(), [(); 4].map(|()| buffer(&[0])));
        both_ways(|way| {
            for (width, length) in [(1, 8), (4, 2)] {
                let exec = fork_join_with(width, length, &data, way.options(Options::default()));
                let launch = || {
                    exec.launch(&stream).unwrap();
                    stream.synchronize().unwrap();
                };
                assert_eq!(interrupts_of_each(launch), [1; 3], "{way:?} on {width} lanes");
            }
        });
    });
}
