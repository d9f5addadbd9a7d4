//! Order on streams and between them.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use aqlipse::{Error, Event, Stream, StreamKind, graph::Memcpy, memory};

use super::*;

#[test]
fn kernels_of_a_stream_run_in_order() {
    let (stream, data) = (stream(), buffer(&[1; 300]));
    let mut expected = 1u32;
    for i in 0..1000 {
        stream.run(&affine(&data, 3, i)).unwrap();
        expected = expected.wrapping_mul(3).wrapping_add(i);
    }
    assert_eq!(data.read(&stream).unwrap(), vec![expected; 300]);
}

#[test]
fn the_default_stream_is_not_held_by_the_first_stream_created() {
    let (other, data) = (stream(), buffer(&[1; 64]));
    let gate = Gate::on(&other);
    let device = device();
    let default = device.default_stream();
    default.run(&affine(&data, 3, 4)).unwrap();
    default.synchronize().unwrap();
    assert_eq!(other.is_idle(), Ok(false));
    gate.open();
    other.synchronize().unwrap();
    assert_eq!(data.read(&other).unwrap(), [7; 64]);
}

#[test]
fn a_stream_without_work_is_idle() {
    assert_eq!(stream().is_idle(), Ok(true));
    assert_eq!(Stream::new(&device(), StreamKind::Blocking, 0).is_idle(), Ok(true));
}

#[test]
fn an_event_holds_another_stream_back() {
    let (first, second) = (stream(), stream());
    let (log, event) = (Log::new(2), Event::new(false));
    let gate = Gate::on(&first);
    first.run(&log.append(1)).unwrap();
    first.record_event(&event).unwrap();
    second.wait(&event).unwrap();
    second.run(&log.append(2)).unwrap();
    thread::sleep(Duration::from_millis(20));
    assert_eq!((second.is_idle(), event.is_complete()), (Ok(false), Ok(false)));
    gate.open();
    second.synchronize().unwrap();
    assert_eq!(event.is_complete(), Ok(true));
    assert_eq!(log.entries(), [1, 2]);
}

#[test]
fn an_event_stands_for_the_point_of_its_latest_record() {
    let (first, second) = (stream(), stream());
    let (log, event) = (Log::new(3), Event::new(false));
    first.record_event(&event).unwrap();
    let gate = Gate::on(&first);
    second.wait(&event).unwrap();
    first.run(&log.append(2)).unwrap();
    first.record_event(&event).unwrap();
    // The wait was for the point before the gate.
    second.run(&log.append(1)).unwrap();
    second.synchronize().unwrap();
    gate.open();
    event.synchronize().unwrap();
    assert_eq!(log.entries(), [1, 2]);
}

#[test]
fn elapsed_time_is_that_of_the_device() {
    let (stream, out) = (stream(), buffer(&[0]));
    let (start, end, untimed) = (Event::new(true), Event::new(true), Event::new(false));
    assert_eq!(end.elapsed_since(&start), Err(Error::InvalidHandle));
    stream.record_event(&start).unwrap();
    // On a busy machine the device may be late to reach it: the sleep below begins behind it.
    start.synchronize().unwrap();
    let gate = Gate::on(&stream);
    stream.run(&single(&kernels().slow, &[&out, &1000u32, &1u32])).unwrap();
    stream.record_event(&end).unwrap();
    assert_eq!(end.elapsed_since(&start), Err(Error::NotReady));
    thread::sleep(Duration::from_millis(30));
    gate.open();
    end.synchronize().unwrap();
    let elapsed = end.elapsed_since(&start).unwrap();
    assert!((29.0..20_000.0).contains(&elapsed), "{elapsed} ms");
    stream.record_event(&untimed).unwrap();
    assert_eq!(untimed.elapsed_since(&start), Err(Error::InvalidHandle));
}

#[test]
fn the_default_stream_and_blocking_streams_wait_for_each_other() {
    let device = device();
    let log = Log::new(9);
    // One of them may share the default stream's queue, and be ordered by it alone: try all queues.
    let blocking: Vec<_> = (0..4).map(|_| Stream::new(&device, StreamKind::Blocking, 0)).collect();
    let gates: Vec<_> = blocking.iter().map(Gate::on).collect();
    for stream in &blocking {
        stream.run(&log.append(1)).unwrap();
    }
    device.default_stream().run(&log.append(2)).unwrap();
    thread::sleep(Duration::from_millis(20));
    for gate in gates {
        assert_eq!(device.default_stream().is_idle(), Ok(false));
        gate.open();
    }
    let gate = Gate::on(device.default_stream());
    for stream in &blocking {
        stream.run(&log.append(3)).unwrap();
    }
    thread::sleep(Duration::from_millis(20));
    for stream in &blocking {
        assert_eq!(stream.is_idle(), Ok(false));
    }
    gate.open();
    assert_eq!(log.entries(), [1, 1, 1, 1, 2, 3, 3, 3, 3]);
}

#[test]
fn a_non_blocking_stream_does_not_wait_for_the_default_stream() {
    let log = Log::new(5);
    let default = device().default_stream().clone();
    let gate = Gate::on(&default);
    default.run(&log.append(2)).unwrap();
    // A queue that the default stream does not use.
    let free: Vec<_> = (0..4).map(|_| stream()).collect();
    let ran = AtomicU32::new(0);
    thread::scope(|scope| {
        for stream in &free {
            scope.spawn(|| {
                stream.run(&log.append(1)).unwrap();
                stream.synchronize().unwrap();
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
        // One of the four shares its queue.
        let begun = Instant::now();
        while ran.load(Ordering::Relaxed) < 3 && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        let ran = ran.load(Ordering::Relaxed);
        gate.open();
        assert!(ran >= 3, "{ran} of four streams went on");
    });
}

#[test]
fn work_on_a_blocking_stream_precedes_what_any_thread_puts_on_the_default_stream_later() {
    let default = device().default_stream().clone();
    let blocking = [0, 1].map(|_| Stream::new(&device(), StreamKind::Blocking, 0));
    for round in 0..60 {
        let logs = [Log::new(3), Log::new(3)];
        let start = Barrier::new(2);
        thread::scope(|scope| {
            for (log, stream) in logs.iter().zip(&blocking) {
                let (start, default) = (&start, &default);
                scope.spawn(move || {
                    let out = buffer(&[0]);
                    start.wait();
                    stream.run(&single(&kernels().slow, &[&out, &500u32, &1u32])).unwrap();
                    stream.run(&log.append(1)).unwrap();
                    default.run(&log.append(2)).unwrap();
                    stream.run(&log.append(3)).unwrap();
                });
            }
        });
        for log in &logs {
            assert_eq!(log.entries(), [1, 2, 3], "round {round}");
        }
    }
}

#[test]
fn host_functions_stand_between_the_kernels_around_them() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let pinned = aqlipse::typed::HostBuffer::new(&device(), 8, 0u32).unwrap();
    for i in 0..5 {
        stream.run(&affine(&data, 2, i)).unwrap();
        stream.download(&pinned, data.slice()).unwrap();
        let (seen, pinned) = (seen.clone(), pinned.clone());
        stream.call(move || seen.lock().unwrap().push(pinned.to_vec()[7])).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(*seen.lock().unwrap(), [2, 5, 12, 27, 58]);
}

#[test]
fn host_functions_of_two_threads_on_one_stream_all_run() {
    let stream = stream();
    let calls = Arc::new(AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let calls = calls.clone();
                    stream
                        .call(move || {
                            calls.fetch_add(1, Ordering::Relaxed);
                        })
                        .unwrap();
                }
            });
        }
    });
    stream.synchronize().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 600);
}

#[test]
fn a_host_function_that_would_wait_for_the_device_is_refused() {
    let stream = stream();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let (inner, results, data) = (stream.clone(), outcomes.clone(), buffer(&[1, 2]));
    stream
        .call(move || {
            let mut results = results.lock().unwrap();
            results.push(inner.synchronize());
            results.push(device().synchronize());
            results.push(data.read(&inner).map(drop));
            let mut host = [0u8; 8];
            let copy = Memcpy::linear(host.as_mut_ptr() as u64, data.slice().address(), 8);
            // SAFETY: the array outlives the copy, which is refused or over when the call returns.
            results.push(unsafe { inner.memcpy(copy) });
            results.push(memory::free(data.slice().address()));
        })
        .unwrap();
    stream.synchronize().unwrap();
    for outcome in outcomes.lock().unwrap().iter() {
        assert!(matches!(outcome, Err(Error::IllegalState(_))), "{outcome:?}");
    }
}

#[test]
fn a_panic_in_a_host_function_does_not_stop_the_stream() {
    let (stream, log) = (stream(), Log::new(1));
    stream.call(|| panic!("on purpose")).unwrap();
    stream.run(&log.append(1)).unwrap();
    assert_eq!(log.entries(), [1]);
}

#[test]
fn freed_memory_is_reused_at_once_on_its_stream_and_later_on_others() {
    let (first, second) = (stream(), stream());
    let a = first.allocate::<u32>(5000).unwrap();
    let gate = Gate::on(&first);
    first.free(a).unwrap();
    let elsewhere = second.allocate::<u32>(5000).unwrap();
    assert_ne!(elsewhere.address(), a.address(), "the free has not been passed");
    let again = first.allocate::<u32>(5000).unwrap();
    assert_eq!(again.address(), a.address());
    first.free(again).unwrap();
    gate.open();
    first.synchronize().unwrap();
    assert_eq!(second.allocate::<u32>(5000).unwrap().address(), a.address());
    assert!(first.free(elsewhere).is_ok());
    assert!(matches!(first.free(elsewhere), Err(Error::InvalidValue(_))), "freed twice");
}

#[test]
fn streams_of_many_threads_do_not_disturb_each_other() {
    let events: Vec<_> = (0..8).map(|_| Event::new(false)).collect();
    let results: Vec<u32> = thread::scope(|scope| {
        let spawn = |n: usize| {
            let (own, other) = (&events[n], &events[(n + 1) % 8]);
            scope.spawn(move || {
                let kind = if n.is_multiple_of(2) { StreamKind::Blocking } else { StreamKind::NonBlocking };
                let (stream, data) = (Stream::new(&device(), kind, 0), buffer(&[n as u32; 64]));
                for i in 0..200 {
                    stream.run(&affine(&data, 5, i)).unwrap();
                    match i % 40 {
                        10 => stream.record_event(own).unwrap(),
                        // Whatever another thread has recorded by now.
                        20 => stream.wait(other).unwrap(),
                        30 => stream.call(|| ()).unwrap(),
                        39 if n == 0 => device().default_stream().run(&affine(&data, 1, 0)).unwrap(),
                        _ => {}
                    }
                }
                data.read(&stream).unwrap()[63]
            })
        };
        let threads: Vec<_> = (0..8).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (n, result) in results.into_iter().enumerate() {
        let expected = (0..200).fold(n as u32, |x, i| x.wrapping_mul(5).wrapping_add(i));
        assert_eq!(result, expected, "thread {n}");
    }
}
