//! What must outlive whom: streams, buffers, executables and threads that end before their work does.

use std::{sync::Arc, thread, time::Duration};

use aqlipse::{Event, Stream, StreamKind, typed::Graph};

use super::*;

#[test]
fn a_stream_that_is_let_go_finishes_its_work() {
    let (first, data) = (stream(), buffer(&[3; 64]));
    let gate = Gate::on(&first);
    first.run(&affine(&data, 2, 1)).unwrap();
    drop(first);
    // Would overwrite kernel arguments that were given back too early.
    let (other, noise) = (stream(), buffer(&[0; 64]));
    for i in 0..1000 {
        other.run(&affine(&noise, 1, i)).unwrap();
    }
    gate.open();
    device().synchronize().unwrap();
    assert_eq!(data.read(&other).unwrap(), [7; 64]);
}

#[test]
fn the_default_stream_waits_for_blocking_streams_that_are_gone() {
    let log = Log::new(8);
    let mut gates = Vec::new();
    for _ in 0..4 {
        let blocking = Stream::new(&device(), StreamKind::Blocking, 0);
        gates.push(Gate::on(&blocking));
        blocking.run(&log.append(1)).unwrap();
    }
    device().default_stream().run(&log.append(2)).unwrap();
    for gate in gates {
        thread::sleep(Duration::from_millis(5));
        gate.open();
    }
    assert_eq!(log.entries(), [1, 1, 1, 1, 2]);
}

#[test]
fn the_stream_of_a_thread_outlives_it() {
    let data = buffer(&[1; 16]);
    let gate = thread::scope(|scope| {
        let run = || {
            let stream = Stream::per_thread(&device());
            let gate = Gate::on(&stream);
            stream.run(&affine(&data, 4, 2)).unwrap();
            gate
        };
        scope.spawn(run).join().unwrap()
    });
    gate.open();
    device().synchronize().unwrap();
    assert_eq!(data.read(&stream()).unwrap(), [6; 16]);
}

#[test]
fn a_buffer_may_be_dropped_while_work_uses_it() {
    let (stream, event) = (stream(), Event::new(false));
    for i in 0..20 {
        let data = buffer(&[i; 64]);
        stream.run(&affine(&data, 2, 1)).unwrap();
        stream.record_event(&event).unwrap();
        // The stream holds the last reference now, and lets go of it in one of the calls that follow.
        let launch = affine(&data, 2, 1);
        drop(data);
        stream.run(&launch).unwrap();
        drop(launch);
        thread::sleep(Duration::from_millis(2));
    }
    stream.synchronize().unwrap();
}

#[test]
fn an_executable_may_be_dropped_while_it_runs() {
    let (stream, data) = (stream(), buffer(&[1; 64]));
    let mut graph = Graph::new(&device());
    let first = graph.kernel(&affine(&data, 3, 1), &[]).unwrap();
    graph.kernel(&affine(&data, 5, 2), &[first]).unwrap();
    let exec = graph.instantiate().unwrap();
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    // In flight, and then changed: both versions' arguments outlive the executable.
    exec.set_kernel(first, &affine(&data, 7, 0)).unwrap();
    exec.launch(&stream).unwrap();
    drop((exec, graph));
    let noise = buffer(&[0; 64]);
    let other = super::stream();
    for i in 0..300 {
        other.run(&affine(&noise, 1, i)).unwrap();
    }
    gate.open();
    assert_eq!(data.read(&stream).unwrap(), [((3 + 1) * 5 + 2) * 7 * 5 + 2; 64]);
}

#[test]
fn the_last_buffer_of_a_dropped_executable_is_freed_behind_its_launch() {
    let stream = stream();
    let weak = {
        let data = buffer(&[1; 64]);
        let marker = Arc::new(());
        let held = marker.clone();
        let mut graph = Graph::new(&device());
        let kernel = graph.kernel(&affine(&data, 3, 1), &[]).unwrap();
        graph.host(move || drop(held.clone()), &[kernel]).unwrap();
        graph.instantiate().unwrap().launch(&stream).unwrap();
        Arc::downgrade(&marker)
    };
    stream.synchronize().unwrap();
    for _ in 0..200 {
        if weak.upgrade().is_none() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
        stream.run(&Log::new(1).append(0)).unwrap();
    }
    panic!("the graph's closure is still alive");
}

#[test]
fn launches_without_end_take_no_more_memory() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let launch = affine(&data, 1, 1);
    let run = |n| {
        for _ in 0..n {
            stream.run(&launch).unwrap();
        }
    };
    run(5_000);
    let (reserved, _) = device().kernarg_bytes();
    run(20_000);
    // What is in flight is bounded by the ring, 16384 packets, of 64 bytes of arguments each.
    let (after, _) = device().kernarg_bytes();
    assert!(after <= reserved.max(2 << 20), "{reserved} bytes of slabs, then {after}");
    assert_eq!(data.read(&stream).unwrap(), [25_001; 8]);
    stream.synchronize().unwrap();
}

#[test]
fn memory_nodes_have_one_user_at_a_time_even_if_an_executable_is_gone() {
    let (first, second, seen) = (stream(), stream(), Arc::new(std::sync::Mutex::new(Vec::new())));
    let out = aqlipse::typed::HostBuffer::new(&device(), 1, 0u32).unwrap();
    let gate = Gate::default();
    let mut graph = Graph::new(&device());
    let (alloc, memory) = graph.allocate::<u32>(1, &[]).unwrap();
    let held = gate.clone();
    let fill = graph.fill(memory, 1, &[alloc]).unwrap();
    let wait = graph.host(move || held.wait(), &[fill]).unwrap();
    let copy = graph.download(&out, memory, &[wait]).unwrap();
    let log = seen.clone();
    let read = graph.host(move || log.lock().unwrap().push("launch"), &[copy]).unwrap();
    graph.free(memory, &[read]).unwrap();
    graph.instantiate().unwrap().launch(&first).unwrap();
    // The executable is gone, its launch is not: the next one has the same addresses.
    graph.instantiate().unwrap().launch(&second).unwrap();
    thread::sleep(Duration::from_millis(20));
    seen.lock().unwrap().push("open");
    gate.open();
    second.synchronize().unwrap();
    assert_eq!((*seen.lock().unwrap()).as_slice(), ["open", "launch", "launch"]);
    assert_eq!(first.is_idle(), Ok(true), "the second launch was behind the first");
}

#[test]
fn freed_blocks_of_all_sizes_take_no_more_than_was_ever_in_use() {
    let stream = stream();
    let free = || device().memory_info().0;
    let before = free();
    for i in 0..600 {
        let memory = stream.allocate::<u8>(4096 * (100 + i)).unwrap();
        stream.free(memory).unwrap();
        stream.synchronize().unwrap();
    }
    let kept = before - free();
    assert!(kept < 16 << 20, "{kept} bytes");
}
