use std::sync::{Arc, Barrier};

use crate::{
    Device, Event, Stream, StreamKind,
    graph::HostFn,
    memory::stream_pool::Ordered as _,
    stream::{ExecutionContext, activity_counter::ActivityCounter},
};

/// Work that runs until it is told to end.
struct Gate(Arc<Barrier>);

impl Gate {
    fn on(stream: &Stream) -> Self {
        let gate = Arc::new(Barrier::new(2));
        let other = gate.clone();
        let hold = move || {
            other.wait();
        };
        stream.host(HostFn::new(hold)).unwrap();
        Self(gate)
    }

    fn open(self) {
        self.0.wait();
    }
}

/// A new stream that publishes to the default stream's lane, and one that does not.
fn streams(device: &Device, kind: StreamKind) -> [Stream; 2] {
    let on = |wanted: bool| {
        let is_wanted = |stream: &Stream| (stream.lane_number() == 0) == wanted;
        std::iter::repeat_with(|| Stream::new(device, kind, 0)).find(is_wanted).unwrap()
    };
    [on(true), on(false)]
}

/// Has the stream's state such that a fence lies at its end.
fn end_with_a_fence(stream: &Stream) {
    stream.host(HostFn::new(|| {})).unwrap();
    stream.fence().unwrap();
}

#[test]
fn the_default_stream_is_busy_with_a_new_streams_first_work() {
    let device = Device::get(0).unwrap();
    let default = device.default_stream();
    for stream in streams(&device, StreamKind::Blocking) {
        // The new stream's submission puts a fence behind this, and the default stream has nothing behind the fence.
        default.host(HostFn::new(|| {})).unwrap();
        let gate = Gate::on(&stream);
        assert_eq!(default.is_idle(), Ok(false), "lane {}", stream.lane_number());
        assert!(!default.fence().unwrap().is_complete());
        let event = Event::new(false);
        default.record_event(&event).unwrap();
        assert_eq!(event.is_complete(), Ok(false));
        gate.open();
        default.synchronize().unwrap();
        assert_eq!((stream.is_idle(), event.is_complete()), (Ok(true), Ok(true)));
    }
}

#[test]
fn the_default_stream_is_busy_with_work_of_streams_that_are_gone() {
    let device = Device::get(0).unwrap();
    let default = device.default_stream();
    for stream in streams(&device, StreamKind::Blocking) {
        end_with_a_fence(default);
        let gate = Gate::on(&stream);
        drop(stream);
        assert_eq!(default.is_idle(), Ok(false));
        gate.open();
        default.synchronize().unwrap();
    }
}

#[test]
fn the_default_stream_is_busy_with_work_of_other_threads_own_streams() {
    let device = Device::get(0).unwrap();
    let default = device.default_stream();
    // As many threads as there are lanes: each has a stream on another.
    for _ in 0..crate::device::LANES {
        end_with_a_fence(default);
        let there = device.clone();
        let gate = std::thread::spawn(move || Gate::on(&Stream::per_thread(&there))).join().unwrap();
        assert_eq!(default.is_idle(), Ok(false));
        gate.open();
        default.synchronize().unwrap();
    }
}

#[test]
fn a_blocking_stream_that_waits_for_the_default_stream_is_behind_it() {
    let device = Device::get(0).unwrap();
    let default = device.default_stream();
    for stream in streams(&device, StreamKind::Blocking) {
        end_with_a_fence(&stream);
        let gate = Gate::on(default);
        let event = Event::new(false);
        stream.record_event(&event).unwrap();
        assert_eq!(event.is_complete(), Ok(false));
        gate.open();
        event.synchronize().unwrap();
    }
}

#[test]
fn a_stream_is_busy_until_the_event_that_it_waits_for() {
    let device = Device::get(0).unwrap();
    let [first, other] = streams(&device, StreamKind::NonBlocking);
    let second = streams(&device, StreamKind::NonBlocking).into_iter().next().unwrap();
    for waiting in [&second, &other] {
        end_with_a_fence(waiting);
        let (event, behind) = (Event::new(false), Event::new(false));
        let gate = Gate::on(&first);
        first.record_event(&event).unwrap();
        waiting.wait(&event).unwrap();
        assert_eq!(waiting.is_idle(), Ok(false), "lane {}", waiting.lane_number());
        waiting.record_event(&behind).unwrap();
        assert_eq!(behind.is_complete(), Ok(false));
        gate.open();
        behind.synchronize().unwrap();
    }
}

#[test]
fn the_default_stream_is_behind_what_a_blocking_stream_waits_for() {
    let device = Device::get(0).unwrap();
    let default = device.default_stream();
    let [first, _] = streams(&device, StreamKind::NonBlocking);
    for lets_go in [false, true] {
        for stream in streams(&device, StreamKind::Blocking) {
            end_with_a_fence(&stream);
            default.synchronize().unwrap();
            let (event, gate) = (Event::new(false), Gate::on(&first));
            first.record_event(&event).unwrap();
            stream.wait(&event).unwrap();
            let kept = (!lets_go).then_some(stream);
            assert_eq!(default.is_idle(), Ok(false));
            gate.open();
            default.synchronize().unwrap();
            drop(kept);
        }
    }
}

#[test]
fn memory_that_is_freed_behind_an_event_is_not_free_before_it() {
    let device = Device::get(0).unwrap();
    let [first, _] = streams(&device, StreamKind::NonBlocking);
    let [second, _] = streams(&device, StreamKind::NonBlocking);
    end_with_a_fence(&second);
    second.synchronize().unwrap();
    let (event, gate) = (Event::new(false), Gate::on(&first));
    first.record_event(&event).unwrap();
    second.wait(&event).unwrap();
    let point = second.0.free_point(true);
    let behind = second.0.behind(&mut [point].into_iter(), true).unwrap().unwrap();
    assert!(behind[0].is_some(), "the first stream may still use it");
    gate.open();
    second.synchronize().unwrap();
}

#[test]
fn an_event_of_a_context_is_behind_streams_on_its_own_lane() {
    let device = Device::get(0).unwrap();
    let context = ExecutionContext::of_device(&device);
    for stream in streams(&device, StreamKind::NonBlocking) {
        // Whatever lane the context's event lies on.
        for _ in 0..crate::device::LANES {
            end_with_a_fence(&stream);
            let (event, gate) = (Event::new(false), Gate::on(&stream));
            context.record_event(&event).unwrap();
            assert_eq!(event.is_complete(), Ok(false));
            gate.open();
            event.synchronize().unwrap();
        }
    }
}

#[test]
fn a_stream_is_idle_while_only_the_default_stream_is_busy() {
    let device = Device::get(0).unwrap();
    for stream in streams(&device, StreamKind::Blocking) {
        let gate = Gate::on(device.default_stream());
        assert_eq!(stream.is_idle(), Ok(true));
        stream.host(HostFn::new(|| {})).unwrap();
        assert_eq!(stream.is_idle(), Ok(false), "its own work waits for the default stream's");
        gate.open();
        stream.synchronize().unwrap();
    }
}

#[test]
fn a_look_is_good_until_the_next_submission() {
    let activity_counter = ActivityCounter::default();
    assert!(!activity_counter.is_none_since(0), "nobody has looked yet");
    let first = activity_counter.look();
    assert!(activity_counter.is_none_since(first));
    activity_counter.submitted();
    activity_counter.submitted();
    assert!(!activity_counter.is_none_since(first));
    let second = activity_counter.look();
    assert!(activity_counter.is_none_since(second) && !activity_counter.is_none_since(first));
    // One that comes while the streams are looked at may have been missed.
    let third = activity_counter.look();
    activity_counter.submitted();
    assert!(!activity_counter.is_none_since(third));
}

#[test]
fn a_host_function_holds_up_other_streams_of_its_queue_alone() {
    let device = Device::get(0).unwrap();
    let [first, elsewhere] = streams(&device, StreamKind::NonBlocking);
    let [second, _] = streams(&device, StreamKind::NonBlocking);
    let gate = Gate::on(&first);
    for stream in [&second, &elsewhere] {
        stream.host(HostFn::new(|| {})).unwrap();
    }
    elsewhere.synchronize().unwrap();
    assert_eq!(second.is_idle(), Ok(false));
    gate.open();
    second.synchronize().unwrap();
}
