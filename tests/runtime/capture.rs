//! Stream capture: what becomes a node, what is forbidden to whom, and how a capture ends.

use std::{sync::Arc, thread};

use aqlipse::{
    CaptureError, Error, Event, Exec, Options, Result, Stream, StreamKind,
    capture::{self, Mode, SharedTemplate, Status},
    graph::Memcpy,
    memory,
};

use super::*;

/// The modes that are reset when a test's thread ends: each test has its own.
const MODES: [Mode; 3] = [Mode::Global, Mode::ThreadLocal, Mode::Relaxed];

fn broken<T>(rule: CaptureError) -> Result<T> {
    Err(Error::Capture(rule))
}

fn size(template: &SharedTemplate) -> (usize, usize) {
    let template = template.lock();
    let topology = template.graph().topology();
    (topology.node_count(), topology.edge_count())
}

fn end(stream: &Stream) -> Result<(usize, usize)> {
    capture::end(stream).map(|template| size(&template))
}

fn run(template: &SharedTemplate) {
    let stream = stream();
    Exec::new(&template.lock(), Options::default()).unwrap().launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn fork_and_join_become_edges() {
    let (first, second, third) = (stream(), stream(), stream());
    let (log, fork, join) = (Log::new(8), Event::new(false), [Event::new(false), Event::new(false)]);
    capture::begin(&first, Mode::Global, None).unwrap();
    first.run(&log.append(1)).unwrap();
    first.record_event(&fork).unwrap();
    for (stream, join) in [&second, &third].into_iter().zip(&join) {
        stream.wait(&fork).unwrap();
        assert_eq!(capture::info(stream).unwrap().id, capture::info(&first).unwrap().id);
        stream.run(&log.append(2)).unwrap();
        stream.record_event(join).unwrap();
        first.wait(join).unwrap();
    }
    first.call(|| ()).unwrap();
    first.run(&log.append(3)).unwrap();
    let template = capture::end(&first).unwrap();
    assert_eq!(size(&template), (5, 2 + 3 + 1));
    for stream in [&first, &second, &third] {
        assert_eq!(capture::status(stream), Status::None);
    }
    assert!(log.entries().is_empty(), "nothing runs while it is captured");
    run(&template);
    assert_eq!(log.entries(), [1, 2, 2, 3]);
}

#[test]
fn forked_work_must_be_joined() {
    let (first, second) = (stream(), stream());
    let (log, event) = (Log::new(8), Event::new(false));
    let fork = || {
        capture::begin(&first, Mode::Global, None).unwrap();
        first.record_event(&event).unwrap();
        second.wait(&event).unwrap();
    };
    fork();
    second.run(&log.append(1)).unwrap();
    assert_eq!(end(&first), broken(CaptureError::Unjoined));
    // More work behind the join counts as well.
    fork();
    second.run(&log.append(1)).unwrap();
    second.record_event(&event).unwrap();
    first.wait(&event).unwrap();
    second.run(&log.append(2)).unwrap();
    assert_eq!(end(&first), broken(CaptureError::Unjoined));
    // Events alone are no work.
    fork();
    assert_eq!(end(&first), Ok((0, 0)));
    for stream in [&first, &second] {
        assert_eq!((capture::status(stream), stream.is_idle()), (Status::None, Ok(true)));
    }
}

#[test]
fn a_capture_ends_where_and_by_whom_it_was_begun() {
    let (first, second, event) = (stream(), stream(), Event::new(false));
    assert_eq!(capture::end(&first).map(drop), Err(Error::IllegalState("the stream does not capture")));
    for mode in MODES {
        capture::begin(&first, mode, None).unwrap();
        assert!(matches!(capture::begin(&first, mode, None), Err(Error::IllegalState(_))));
        first.record_event(&event).unwrap();
        second.wait(&event).unwrap();
        assert!(matches!(capture::begin(&second, mode, None), Err(Error::IllegalState(_))));
        assert_eq!(end(&second), broken(CaptureError::Unmatched));
        let elsewhere = thread::scope(|scope| scope.spawn(|| end(&first)).join().unwrap());
        if mode == Mode::Relaxed {
            assert_eq!(elsewhere, Ok((0, 0)));
        } else {
            assert_eq!(elsewhere, broken(CaptureError::WrongThread));
            assert_eq!(end(&first), Ok((0, 0)), "the right thread still can");
        }
    }
    let default = device().default_stream().clone();
    assert_eq!(capture::begin(&default, Mode::Relaxed, None), broken(CaptureError::Unsupported));
}

#[test]
fn waits_do_not_cross_the_boundary_of_a_capture() {
    let (first, second, log) = (stream(), stream(), Log::new(4));
    let (outside, inside) = (Event::new(false), Event::new(false));
    second.record_event(&outside).unwrap();
    capture::begin(&first, Mode::Relaxed, None).unwrap();
    assert_eq!(first.wait(&outside), broken(CaptureError::Isolation));
    assert_eq!(capture::status(&first), Status::Active, "a wait that is refused changes nothing");
    assert_eq!(end(&first), Ok((0, 0)));

    capture::begin(&first, Mode::Relaxed, None).unwrap();
    capture::begin(&second, Mode::Relaxed, None).unwrap();
    first.record_event(&inside).unwrap();
    assert_eq!(second.wait(&inside), broken(CaptureError::Merge));
    let default = &device().default_stream().clone();
    assert_eq!(default.wait(&inside), Err(Error::InvalidHandle), "it cannot be captured");
    first.run(&log.append(1)).unwrap();
    assert_eq!((end(&first), end(&second)), (Ok((1, 0)), Ok((0, 0))));
    // The capture is over: the event counts as never recorded.
    for stream in [&second, default] {
        stream.wait(&inside).unwrap();
        assert_eq!(capture::status(stream), Status::None);
    }
    // An event that was never recorded holds nothing back.
    capture::begin(&first, Mode::Relaxed, None).unwrap();
    first.wait(&Event::new(false)).unwrap();
    assert_eq!(end(&first), Ok((0, 0)));
}

#[test]
fn a_captured_event_cannot_be_waited_for_on_the_host() {
    for mode in MODES {
        let (stream, event) = (stream(), Event::new(true));
        capture::begin(&stream, mode, None).unwrap();
        stream.record_event(&event).unwrap();
        assert_eq!(event.is_complete(), broken(CaptureError::CapturedEvent));
        assert_eq!(event.synchronize(), broken(CaptureError::CapturedEvent));
        assert_eq!(event.elapsed_since(&event), broken(CaptureError::CapturedEvent));
        assert_eq!(end(&stream), broken(CaptureError::Invalidated));
        stream.record_event(&event).unwrap();
        event.synchronize().unwrap();
    }
}

#[test]
fn a_capturing_stream_cannot_be_waited_for() {
    for mode in MODES {
        for wait in
            [Stream::synchronize, |s: &Stream| s.is_idle().map(drop), |_: &Stream| device().synchronize()]
        {
            let stream = stream();
            capture::begin(&stream, mode, None).unwrap();
            assert_eq!(wait(&stream), broken(CaptureError::Unsupported));
            assert_eq!(end(&stream), broken(CaptureError::Invalidated));
            assert!(aqlipse::last_error_detail().is_some());
            stream.synchronize().unwrap();
        }
    }
}

#[test]
fn a_kernel_on_the_default_stream_breaks_captures_of_blocking_streams_only() {
    let (log, default) = (Log::new(9), device().default_stream().clone());
    for mode in MODES {
        let (blocking, free) = (Stream::new(&device(), StreamKind::Blocking, 0), stream());
        capture::begin(&free, mode, None).unwrap();
        default.run(&log.append(1)).unwrap();
        capture::begin(&blocking, mode, None).unwrap();
        assert_eq!(default.run(&log.append(1)), broken(CaptureError::Implicit));
        assert_eq!((end(&free), end(&blocking)), (Ok((0, 0)), broken(CaptureError::Invalidated)));
    }
    assert_eq!(log.entries(), [1; 3]);
}

#[test]
fn what_waits_for_its_copy_on_the_default_stream_breaks_every_capture() {
    let (default, data, host) = (device().default_stream().clone(), buffer(&[1; 8]), [7u32; 8]);
    for kind in [StreamKind::Blocking, StreamKind::NonBlocking] {
        for mode in MODES {
            let stream = Stream::new(&device(), kind, 0);
            capture::begin(&stream, mode, None).unwrap();
            // What is not waited for, and what only asks, is no concern of the capture's.
            let event = Event::new(false);
            default.record_event(&event).unwrap();
            default.wait(&event).unwrap();
            default.synchronize().unwrap();
            assert_eq!((default.is_idle(), event.is_complete()), (Ok(true), Ok(true)));
            assert_eq!(capture::status(&stream), Status::Active);
            let copy = Memcpy::linear(data.slice().address(), host.as_ptr() as u64, 32);
            // SAFETY: the host's end lives on.
            let copied = unsafe { default.memcpy_and_wait(copy) };
            assert_eq!(
                (copied, end(&stream)),
                (broken(CaptureError::Implicit), broken(CaptureError::Invalidated))
            );
        }
    }
}

/// Which captures, by mode of the capture and of the calling thread, forbid a call that acts at once.
#[test]
fn an_unsafe_call_is_refused_as_the_modes_say() {
    for (capture_mode, thread_mode, own_thread, refused) in [
        (Mode::Global, Mode::Global, true, true),
        (Mode::Global, Mode::ThreadLocal, true, true),
        (Mode::Global, Mode::Relaxed, true, false),
        (Mode::ThreadLocal, Mode::Global, true, true),
        (Mode::ThreadLocal, Mode::ThreadLocal, true, true),
        (Mode::ThreadLocal, Mode::Relaxed, true, false),
        (Mode::Relaxed, Mode::Global, true, false),
        (Mode::Relaxed, Mode::ThreadLocal, true, false),
        (Mode::Relaxed, Mode::Relaxed, true, false),
        (Mode::Global, Mode::Global, false, true),
        (Mode::Global, Mode::ThreadLocal, false, false),
        (Mode::Global, Mode::Relaxed, false, false),
        (Mode::ThreadLocal, Mode::Global, false, false),
        (Mode::ThreadLocal, Mode::ThreadLocal, false, false),
        (Mode::ThreadLocal, Mode::Relaxed, false, false),
        (Mode::Relaxed, Mode::Global, false, false),
        (Mode::Relaxed, Mode::ThreadLocal, false, false),
        (Mode::Relaxed, Mode::Relaxed, false, false),
    ] {
        // Other tests of the process may capture globally.
        let case = format!("{capture_mode:?} capture, {thread_mode:?} thread, own {own_thread}");
        let stream = stream();
        capture::begin(&stream, capture_mode, None).unwrap();
        let call = || {
            let before = capture::exchange_thread_mode(thread_mode);
            let outcome = capture::check_unsafe_call("the test");
            assert_eq!(capture::exchange_thread_mode(before), thread_mode);
            outcome
        };
        let outcome = match own_thread {
            true => call(),
            false => thread::scope(|scope| scope.spawn(call).join().unwrap()),
        };
        let (expected, ended) = match refused {
            true => (broken(CaptureError::Unsupported), broken(CaptureError::Invalidated)),
            false => (Ok(()), Ok((0, 0))),
        };
        assert_eq!((outcome, end(&stream)), (expected, ended), "{case}");
    }
    assert_eq!(capture::check_unsafe_call("the test"), Ok(()), "no capture is left open");
}

#[test]
fn a_capture_whose_stream_is_gone_forbids_nothing_any_more() {
    let (first, second, event, log) = (stream(), stream(), Event::new(false), Log::new(1));
    capture::begin(&first, Mode::Global, None).unwrap();
    first.record_event(&event).unwrap();
    second.wait(&event).unwrap();
    second.run(&log.append(1)).unwrap();
    drop(first);
    assert_eq!(capture::check_unsafe_call("the test"), Ok(()));
    assert_eq!(capture::status(&second), Status::None);
    second.run(&log.append(2)).unwrap();
    assert_eq!(log.entries(), [2]);
}

#[test]
fn a_capture_that_panics_is_over() {
    let stream = stream();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        aqlipse::typed::Graph::capture(&stream, |_| panic!("on purpose"))
    }));
    assert!(panicked.is_err());
    assert_eq!((capture::status(&stream), stream.synchronize()), (Status::None, Ok(())));
}

#[test]
fn dropping_a_buffer_breaks_no_capture() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let graph = aqlipse::typed::Graph::capture(&stream, |stream| {
        drop(buffer(&[0; 8]));
        stream.run(&affine(&data, 2, 0))
    });
    graph.unwrap().instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [2; 8]);
}

#[test]
fn allocations_become_nodes_whose_addresses_stay() {
    let (stream, out) = (stream(), aqlipse::typed::HostBuffer::new(&device(), 64, 0u32).unwrap());
    capture::begin(&stream, Mode::Global, None).unwrap();
    let a = stream.allocate::<u32>(64).unwrap();
    stream.fill(a, 1).unwrap();
    stream.free(a).unwrap();
    assert!(stream.is_capturing());
    // The first one's bytes are free again behind its free node; addresses are had twice where they are the memory's.
    let b = stream.allocate::<u32>(64).unwrap();
    assert_eq!(b.address() == a.address(), !device().shares_graph_memory());
    stream.fill(b, 2).unwrap();
    stream.download(&out, b).unwrap();
    stream.free(b).unwrap();
    let template = capture::end(&stream).unwrap();
    assert_eq!(size(&template), (7, 6));
    let template = template.lock();
    let exec = Exec::new(&template, Options::default()).unwrap();
    assert_eq!(exec.report().memory_bytes, 4096);
    let second = Exec::new(&template, Options::default());
    assert_eq!(
        second.map(drop),
        Err(Error::NotSupported("a second executable of a graph with memory nodes"))
    );
    for _ in 0..3 {
        exec.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(out.to_vec(), vec![0x0202_0202; 64]);
    drop(exec);
    Exec::new(&template, Options::default()).unwrap();
}

#[test]
fn an_allocation_that_a_launch_leaves_must_be_freed_before_the_next() {
    let stream = stream();
    capture::begin(&stream, Mode::Global, None).unwrap();
    let left = stream.allocate::<u32>(64).unwrap();
    stream.fill(left, 3).unwrap();
    let template = capture::end(&stream).unwrap();
    let instantiate = |auto_free| {
        let options = Options { auto_free, ..Options::default() };
        Exec::new(&template.lock(), options).unwrap()
    };
    let exec = instantiate(false);
    assert!(memory::free(left.address()).is_err(), "no launch has allocated it yet");
    for _ in 0..3 {
        exec.launch(&stream).unwrap();
        assert!(matches!(exec.launch(&stream), Err(Error::InvalidValue(_))));
        stream.free_async(left.address()).unwrap();
        assert!(stream.free_async(left.address()).is_err());
    }
    drop(exec);
    let exec = instantiate(true);
    for _ in 0..3 {
        exec.launch(&stream).unwrap();
    }
    drop((exec, template));
    // What is allocated survives its graph.
    let target = buffer(&[0; 64]);
    let copy = aqlipse::graph::Memcpy::linear(target.slice().address(), left.address(), 256);
    // SAFETY: both ends are device memory.
    unsafe { stream.memcpy(copy) }.unwrap();
    assert_eq!(target.read(&stream).unwrap(), [0x0303_0303; 64]);
    memory::free(left.address()).unwrap();
    assert!(memory::free(left.address()).is_err());
}

#[test]
fn a_failing_call_breaks_the_capture_it_belongs_to() {
    let stream = stream();
    let eager = stream.allocate::<u32>(8).unwrap();
    capture::begin(&stream, Mode::Global, None).unwrap();
    assert!(matches!(stream.free(eager), Err(Error::InvalidValue(_))), "no allocation of the graph");
    assert_eq!(end(&stream), broken(CaptureError::Invalidated));
    stream.free(eager).unwrap();
}

#[test]
fn captures_continue_a_graph_behind_given_nodes() {
    let (stream, log) = (stream(), Log::new(9));
    capture::begin(&stream, Mode::Global, None).unwrap();
    stream.run(&log.append(1)).unwrap();
    let after = capture::info(&stream).unwrap().dependencies;
    let template = capture::end(&stream).unwrap();
    capture::begin(&stream, Mode::Global, Some((template.clone(), after.clone()))).unwrap();
    stream.run(&log.append(2)).unwrap();
    // Replacing what comes next by an older point, or adding one.
    capture::update_dependencies(&stream, &after, true).unwrap();
    stream.run(&log.append(2)).unwrap();
    let again = capture::end(&stream).unwrap();
    assert!(Arc::ptr_eq(&template, &again));
    assert_eq!(size(&template), (3, 2));
    assert!(matches!(capture::update_dependencies(&stream, &after, true), Err(Error::IllegalState(_))));
    run(&template);
    assert_eq!(log.entries(), [1, 2, 2]);
}
