//! Interrupts that launches raise, as the emulated device counts them.

use aqlipse::Backend;

use super::{allocations::fork_join, *};

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
