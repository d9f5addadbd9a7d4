//! What a broken capture says: the call, the stream, the thread, the rule, and what to do instead.

use std::thread;

use aqlipse::{
    CaptureError, Error, Event, Stream, StreamKind,
    capture::{self, Call, Class, Mode, Rule},
    last_error_detail,
};

use super::*;

/// A call of a library above, by its name.
fn making<T>(name: &'static str, body: impl FnOnce() -> T) -> T {
    let rule = |name: &str| {
        let (class, instead) = match name {
            "malloc" => (Class::Unsafe, "use malloc_async"),
            "set cache" => (Class::Restricted, "call it before the capture"),
            "copy" => (Class::DefaultStream, "use the asynchronous form"),
            "synchronize" => (Class::Waits, "end the capture"),
            "synchronize all" => (Class::WaitsDevice, "end the capture"),
            "wait for an event" => (Class::WaitsEvent, "record it behind the launch"),
            "add a callback" => (Class::Callback, "launch a host function"),
            "prefetch" => (Class::Uncapturable, "prefetch elsewhere"),
            _ => return None,
        };
        Some(Rule { class, instead })
    };
    capture::making(Box::leak(Box::new(Call { name, rule })), body)
}

fn blocking() -> Stream {
    Stream::new(&device(), StreamKind::Blocking, 0)
}

/// Breaks a capture of a new stream from a thread with a name; what that thread was told, and what the end repeats.
fn told(mode: Mode, make: impl FnOnce(&Stream) -> aqlipse::Result<()> + Send) -> (String, String, u64) {
    let stream = blocking();
    capture::begin(&stream, mode, None).unwrap();
    let breaker = || {
        assert!(make(&stream).is_err());
        last_error_detail().expect("an explanation")
    };
    let told = thread::scope(|scope| {
        thread::Builder::new()
            .name("the breaker".into())
            .spawn_scoped(scope, breaker)
            .unwrap()
            .join()
            .unwrap()
    });
    assert_eq!(capture::end(&stream).map(drop), Err(Error::Capture(CaptureError::Invalidated)));
    (told, last_error_detail().expect("an explanation"), stream.id())
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

#[test]
fn the_call_the_stream_the_thread_the_rule_and_the_way_out_are_named() {
    let (told, repeated, id) = told(Mode::Global, |stream| making("synchronize", || stream.synchronize()));
    let broken = format!("synchronize on stream {id} in thread \"the breaker\": ");
    says(
        &told,
        &[&broken, "has not been submitted", "; instead, end the capture", "mode Global", "invalid now"],
    );
    says(&repeated, &[&broken, "had been invalidated by", "; instead, end the capture"]);
}

#[test]
fn each_class_of_calls_has_its_rule_and_its_way_out() {
    let unsafe_call = |call: &'static str| {
        told(Mode::Global, move |_| making(call, || capture::admit(|| Some(device())))).0
    };
    says(&unsafe_call("malloc"), &["malloc in thread", "acts at once", "; instead, use malloc_async"]);
    says(&unsafe_call("set cache"), &["changes what later work relies on", "before the capture"]);
    says(&unsafe_call("copy"), &["copy on the default stream", "asynchronous form"]);
    let wait = told(Mode::Relaxed, |_| making("synchronize all", || device().synchronize())).0;
    says(&wait, &["synchronize all on stream", "has not been submitted", "mode Relaxed"]);
    let outside = told(Mode::Global, |_| making("wait for an event", || Event::new(false).synchronize())).0;
    says(
        &outside,
        &["wait for an event in thread", "outside the capture", "hipThreadExchangeStreamCaptureMode"],
    );
    let inside = told(Mode::Relaxed, |stream| {
        let event = Event::new(false);
        stream.record_event(&event)?;
        making("wait for an event", || event.synchronize())
    });
    says(&inside.0, &["wait for an event in thread", "a place in a graph", "behind the launch"]);
    let callback =
        told(Mode::Relaxed, |stream| making("add a callback", || capture::refuse_callback(stream)));
    says(&callback.0, &["add a callback on stream", "no graph can hold", "hipLaunchHostFunc"]);
    let prefetch =
        told(Mode::Relaxed, |stream| making("prefetch", || capture::refuse_uncapturable(stream, "")));
    says(&prefetch.0, &["prefetch on stream", "no node", "; instead, prefetch elsewhere"]);
    let legacy = told(Mode::Relaxed, |_| capture::refuse_callback(device().default_stream()));
    says(&legacy.0, &["adding a callback on the default stream", "blocking stream that captures"]);
}

#[test]
fn what_is_refused_without_a_forbidden_call_is_explained_too() {
    let (stream, other) = (blocking(), blocking());
    let [outside, elsewhere] = [Event::new(false), Event::new(false)];
    other.record_event(&outside).unwrap();
    capture::begin(&stream, Mode::Relaxed, None).unwrap();
    capture::begin(&other, Mode::Relaxed, None).unwrap();
    other.record_event(&elsewhere).unwrap();
    let refused = |stream: &Stream, event: &Event| {
        assert!(making("wait in order", || stream.wait(event)).is_err());
        last_error_detail().expect("an explanation")
    };
    says(
        &refused(&stream, &outside),
        &["wait in order on stream", "recorded outside the capture", "hipEventWaitExternal"],
    );
    says(&refused(&stream, &elsewhere), &["wait in order on stream", "another capture", "child graphs"]);
    let default = device().default_stream().clone();
    says(&refused(&default, &elsewhere), &["on the default stream", "cannot join", "that was created"]);
    assert!(capture::end(&stream).is_ok() && capture::end(&other).is_ok(), "the captures go on");
    let failed = told(Mode::Relaxed, |stream| stream.free_async(4096));
    says(&failed.0, &["a captured call on stream", "it failed"]);
}

#[test]
fn ends_that_are_refused_say_where_to_end() {
    let (first, second, event) = (blocking(), blocking(), Event::new(false));
    capture::begin(&first, Mode::Global, None).unwrap();
    first.record_event(&event).unwrap();
    second.wait(&event).unwrap();
    assert!(capture::end(&second).is_err());
    says(&last_error_detail().unwrap(), &["ending a capture on stream", "the stream on which it began"]);
    let elsewhere = thread::scope(|scope| {
        let end = || {
            assert!(capture::end(&first).is_err());
            last_error_detail().unwrap()
        };
        scope.spawn(end).join().unwrap()
    });
    says(&elsewhere, &["in the thread that began it", "capture in relaxed mode"]);
    second.call(|| ()).unwrap();
    assert_eq!(capture::end(&first).map(drop), Err(Error::Capture(CaptureError::Unjoined)));
    says(&last_error_detail().unwrap(), &["a forked stream has work", "record an event"]);
    assert!(capture::begin(device().default_stream(), Mode::Global, None).is_err());
    says(&last_error_detail().unwrap(), &["on the default stream", "capture a stream that was created"]);
}
