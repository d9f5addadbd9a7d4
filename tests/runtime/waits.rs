//! Streams that wait for a word hold up nothing but what comes behind them.

use std::{
    sync::atomic::Ordering::SeqCst,
    thread,
    time::{Duration, Instant},
};

use aqlipse::{
    Condition, Event, Exec, Function, Options, Template, Word, capture,
    graph::{KernelAttributes, Node, WordAction, WordStep},
};

use super::{allocations::fork_join, updates::kernel_node, values::Shared, *};

/// More streams than there are queues for them to share: one of them is on any stream's queue.
const MANY: usize = 12;

fn many() -> Vec<Stream> {
    (0..MANY).map(|_| stream()).collect()
}

/// Has a stream wait until the word is not 0.
fn wait(stream: &Stream, word: &Shared) {
    stream.wait_value(word.address(), Condition::AtLeast, Word::U64(1), u64::MAX).unwrap();
}

fn write(stream: &Stream, word: &Shared) {
    stream.write_value(word.address(), Word::U64(1)).unwrap();
}

/// A node that waits until the word is not 0.
fn waiting_node(word: &Shared) -> Node {
    let action = WordAction::Wait { condition: Condition::AtLeast, mask: u64::MAX };
    Node::BatchMemOp([WordStep { address: word.address(), value: Word::U64(1), action }].into())
}

/// Asks whether all work of the streams ends by itself. If it does not the words are written, or the test would wait for
/// the device without end when its memory is freed.
fn assert_ends<'s>(streams: impl IntoIterator<Item = &'s Stream>, words: &[&Shared], what: &str) {
    let start = Instant::now();
    for stream in streams {
        while stream.is_idle() != Ok(true) {
            if start.elapsed() > Duration::from_secs(20) {
                words.iter().for_each(|word| word.word().store(1, SeqCst));
                panic!("{what}: a stream does not go on");
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Asks whether other streams than the one that waits for `word` do their work meanwhile, whatever queue they are on.
fn assert_others_go_on(waiting: &[&Stream], word: &Shared, what: &str) {
    let others = many();
    let data = buffer(&[0; MANY]);
    for (n, other) in others.iter().enumerate() {
        let own = data.slice().address() + 4 * n as u64;
        other.write_value(own, Word::U32(1 + n as u32)).unwrap();
    }
    assert_ends(&others, &[word], what);
    for stream in waiting {
        assert_eq!(stream.is_idle(), Ok(false), "{what}");
    }
    assert_eq!(word.word().load(SeqCst), 0, "{what}");
    write(&others[0], word);
    assert_ends(waiting.iter().copied(), &[word], what);
    assert_eq!(data.read(&others[0]).unwrap(), (1..=MANY as u32).collect::<Vec<_>>(), "{what}");
}

#[test]
fn what_writes_a_word_may_come_behind_the_wait_on_whatever_queue() {
    let (streams, words) = (many(), [(); MANY].map(|()| Shared::new(0)));
    let log = Log::new(2 * MANY);
    for (stream, word) in streams.iter().zip(&words) {
        wait(stream, word);
        stream.run(&log.append(1)).unwrap();
    }
    let all: Vec<_> = words.iter().collect();
    // Each lets the next go on, the last first.
    let first = stream();
    words.iter().skip(1).zip(&streams).for_each(|(next, stream)| write(stream, next));
    write(&first, &words[0]);
    assert_ends(&streams, &all, "waits of which each writes the next word");
    assert_eq!(log.entries(), [1; MANY]);
    // Nothing is in flight, so that they are back on the queues that they share.
    let queues = device().queues().unwrap().count();
    for round in 0..3 {
        words.iter().for_each(|word| word.word().store(0, SeqCst));
        streams.iter().zip(&words).for_each(|(stream, word)| wait(stream, word));
        words.iter().for_each(|word| write(&first, word));
        assert_ends(&streams, &all, "waits again");
        assert_eq!(device().queues().unwrap().count(), queues, "round {round}");
    }
    // What the waits of streams that are gone have left serves others.
    drop(streams);
    words.iter().for_each(|word| word.word().store(0, SeqCst));
    let fresh = many();
    fresh.iter().zip(&words).for_each(|(stream, word)| wait(stream, word));
    words.iter().for_each(|word| write(&first, word));
    assert_ends(&fresh, &all, "waits of other streams");
    assert_eq!(device().queues().unwrap().count(), queues);
}

#[test]
fn a_stream_of_any_kind_waits_by_itself_and_in_its_order() {
    let plain = |kind| Stream::new(&device(), kind, 0);
    type Make = Box<dyn Fn() -> Stream>;
    let kinds: [(&str, Make); 5] = [
        ("non-blocking", Box::new(move || plain(StreamKind::NonBlocking))),
        ("urgent", Box::new(|| Stream::new(&device(), StreamKind::NonBlocking, -1))),
        ("idle", Box::new(|| Stream::new(&device(), StreamKind::NonBlocking, 1))),
        ("on a unit", Box::new(|| Stream::on_units(&device(), &[1]))),
        ("blocking", Box::new(move || plain(StreamKind::Blocking))),
    ];
    for (what, make) in kinds {
        let (waiting, others, word) = (make(), [(); MANY].map(|()| make()), Shared::new(0));
        let (data, units) = (buffer(&[1; 64]), waiting.units());
        waiting.run(&affine(&data, 1, 1)).unwrap();
        wait(&waiting, &word);
        waiting.run(&affine(&data, 3, 0)).unwrap();
        assert_eq!(waiting.units(), units, "{what}");
        // One of the same priority or units, whose work is over while the first one waits.
        let marks = [(); MANY].map(|()| buffer(&[0]));
        others.iter().zip(&marks).for_each(|(other, mark)| other.run(&affine(mark, 1, 7)).unwrap());
        assert_ends(&others, &[&word], what);
        assert!(marks.iter().all(|mark| mark.read(&others[0]).unwrap() == [7]));
        assert_others_go_on(&[&waiting], &word, what);
        waiting.run(&affine(&data, 1, 4)).unwrap();
        assert_eq!(data.read(&waiting).unwrap(), [10; 64], "{what}");
        assert_eq!(waiting.units(), units, "{what}");
    }
}

#[test]
fn the_default_stream_and_blocking_ones_wait_for_each_other_and_hold_up_no_other() {
    let device = device();
    let default = device.default_stream();
    let (blocking, word) = ([(); 2].map(|()| Stream::new(&device, StreamKind::Blocking, 0)), Shared::new(0));
    let data = buffer(&[1]);
    wait(&blocking[0], &word);
    blocking[0].run(&affine(&data, 1, 1)).unwrap();
    default.run(&affine(&data, 3, 0)).unwrap();
    // It is behind the default stream, which is behind the first.
    blocking[1].run(&affine(&data, 1, 4)).unwrap();
    assert_others_go_on(&[&blocking[0], default, &blocking[1]], &word, "a blocking stream waits");
    assert_eq!(data.read(&blocking[1]).unwrap(), [10]);
    word.word().store(0, SeqCst);
    wait(default, &word);
    default.run(&affine(&data, 2, 0)).unwrap();
    blocking[0].run(&affine(&data, 1, 1)).unwrap();
    assert_others_go_on(&[default, &blocking[0]], &word, "the default stream waits");
    assert_eq!(data.read(default).unwrap(), [21]);
}

#[test]
fn what_waits_for_a_stream_that_waits_holds_up_no_other() {
    let (waiting, behind, last, word) = (stream(), stream(), stream(), Shared::new(0));
    let (data, event, latest) = (buffer(&[1]), Event::new(false), Event::new(false));
    wait(&waiting, &word);
    waiting.run(&affine(&data, 1, 1)).unwrap();
    waiting.record_event(&event).unwrap();
    behind.wait(&event).unwrap();
    behind.run(&affine(&data, 3, 0)).unwrap();
    behind.record_event(&latest).unwrap();
    // A kernel with another priority, and one whose blocks wait for each other.
    let log = Log::new(2);
    last.wait(&latest).unwrap();
    last.launch_at(kernel_node(&log, 1), -1).unwrap();
    let attributes = KernelAttributes { cooperative: 1, ..KernelAttributes::DEFAULT };
    let cooperative = |value| graph_kernel(attributes, kernel_node(&log, value));
    last.launch(cooperative(2)).unwrap();
    let other = stream();
    let (their, count) = (Log::new(1), kernel_node);
    other.launch(graph_kernel(attributes, count(&their, 3))).unwrap();
    assert_ends([&other], &[&word], "a cooperative kernel beside a stream that waits");
    assert_others_go_on(&[&waiting, &behind, &last], &word, "events");
    assert_eq!((data.read(&last).unwrap(), log.entries(), their.entries()), (vec![6], vec![1, 2], vec![3]));
}

fn graph_kernel(
    attributes: KernelAttributes,
    kernel: aqlipse::graph::Kernel<Function>,
) -> aqlipse::graph::Kernel<Function> {
    aqlipse::graph::Kernel { attributes: attributes.into(), ..kernel }
}

#[test]
fn graphs_that_wait_or_are_behind_a_wait_hold_up_no_other_stream() {
    let (waiting, word) = (stream(), Shared::new(0));
    let data = [(); 4].map(|()| buffer(&[1]));
    let wide = fork_join(4, 2, &data);
    wide.launch(&waiting).unwrap();
    wait(&waiting, &word);
    wide.launch(&waiting).unwrap();
    wide.launch(&waiting).unwrap();
    // And behind its own launch, on another stream.
    let next = stream();
    wide.launch(&next).unwrap();
    assert_others_go_on(&[&waiting, &next], &word, "a graph behind a wait");
    let words: Vec<u32> = data.iter().flat_map(|data| data.read(&next).unwrap()).collect();
    assert_eq!(words, [1 + 4 * 4, 1 + 4 * 2, 1 + 4 * 2, 1 + 4 * 2]);

    // A wait among the nodes, on one queue or several.
    let (log, event) = (Log::new(20), Event::new(false));
    for lanes in [1, 4] {
        word.word().store(0, SeqCst);
        let mut template = Template::new(&device());
        let append = |value| Node::Kernel(kernel_node(&log, value));
        let before = template.add(append(1), &[]).unwrap();
        let held = template.add(waiting_node(&word), &[before]).unwrap();
        let recorded = template.add(Node::EventRecord(event.clone()), &[held]).unwrap();
        let beside = [2, 2].map(|value| template.add(append(value), &[before]).unwrap());
        template.add(append(3), &[recorded, beside[0], beside[1]]).unwrap();
        let exec = Exec::new(&template, Options { lanes, ..Options::default() }).unwrap();
        let (first, second, third) = (stream(), stream(), stream());
        exec.launch(&first).unwrap();
        exec.launch(&second).unwrap();
        // What waits for the graph's event, in a graph or on a stream.
        let mut waits = Template::new(&device());
        let until = waits.add(Node::EventWait(event.clone()), &[]).unwrap();
        waits.add(append(4), &[until]).unwrap();
        let waits = Exec::new(&waits, Options::default()).unwrap();
        waits.launch(&third).unwrap();
        assert_others_go_on(&[&first, &second, &third], &word, &format!("a graph that waits, {lanes} lanes"));
    }
    let entries = log.entries();
    for (value, times) in [(1, 4), (2, 8), (3, 4), (4, 2)] {
        assert_eq!(entries.iter().filter(|&&entry| entry == value).count(), times, "{entries:?}");
    }
}

#[test]
fn a_captured_wait_holds_up_no_other_stream_and_takes_no_more_queues_each_time() {
    let (first, word, data) = (stream(), Shared::new(0), buffer(&[1]));
    capture::begin(&first, capture::Mode::Relaxed, None).unwrap();
    wait(&first, &word);
    first.run(&affine(&data, 2, 0)).unwrap();
    let template = capture::end(&first).unwrap();
    let exec = Exec::new(&template.lock(), Options::default()).unwrap();
    let mut queues = None;
    for round in 0..4 {
        word.word().store(0, SeqCst);
        let launched = stream();
        (0..3).for_each(|_| exec.launch(&launched).unwrap());
        assert_others_go_on(&[&launched], &word, "a captured wait");
        let now = device().queues().unwrap().count();
        assert_eq!(*queues.get_or_insert(now), now, "round {round}");
    }
    assert_eq!(data.read(&first).unwrap(), [1 << 12]);
}

#[test]
fn graphs_of_several_devices_that_wait_hold_up_no_other_stream() {
    let test = "runtime::waits::graphs_of_several_devices_that_wait_hold_up_no_other_stream";
    in_child(test, &[("AQLIPSE_EMULATE", "2xgfx90a")], || {
        let Some(far) = Device::all().unwrap().get(1) else { return };
        let word = Shared::new(0);
        let (here, there) = (buffer(&[1]), buffer_on(far, &[1]));
        let mut graph = aqlipse::typed::Graph::new(&device());
        let first = graph.kernel(&affine(&here, 2, 0), &[]).unwrap();
        let second = graph.kernel(&affine_on(far, &there, 3, 0), &[first]).unwrap();
        graph.kernel(&affine(&here, 2, 1), &[second]).unwrap();
        let exec = graph.instantiate().unwrap();
        let waiting = Stream::new(far, StreamKind::NonBlocking, 0);
        exec.launch(&waiting).unwrap();
        waiting.synchronize().unwrap();
        wait(&waiting, &word);
        exec.launch(&waiting).unwrap();
        let others: Vec<_> = (0..MANY).map(|_| Stream::new(far, StreamKind::NonBlocking, 0)).collect();
        let data = buffer_on(far, &[0]);
        others.iter().for_each(|other| other.run(&affine_on(far, &data, 1, 0)).unwrap());
        assert_ends(&others, &[&word], "streams of the other device");
        assert_others_go_on(&[&waiting], &word, "a graph of two devices");
        assert_eq!((here.read(&waiting).unwrap(), there.read(&waiting).unwrap()), (vec![21], vec![9]));
    });
}

#[test]
fn more_streams_wait_at_once_than_the_device_has_queues() {
    let test = "runtime::waits::more_streams_wait_at_once_than_the_device_has_queues";
    in_child(test, &[("AQLIPSE_EMULATE_HARDWARE", "few-queues"), ("AQLIPSE_EMULATE_CUS", "8")], || {
        let words = [(); 30].map(|()| Shared::new(0));
        let all: Vec<_> = words.iter().collect();
        let (streams, log) = ([(); 30].map(|()| stream()), Log::new(60));
        for round in 0..2 {
            words.iter().for_each(|word| word.word().store(0, SeqCst));
            for ((stream, word), n) in streams.iter().zip(&words).zip(0..) {
                wait(stream, word);
                stream.run(&log.append(30 * round + n)).unwrap();
            }
            assert!(streams.iter().all(|stream| stream.is_idle() == Ok(false)));
            // The last is the first to go on, and lets the one before it go on.
            for (stream, before) in streams.iter().skip(1).zip(&words) {
                write(stream, before);
            }
            write(&stream(), &words[29]);
            assert_ends(&streams, &all, "thirty streams");
        }
        let expected: Vec<u32> =
            (0..2).flat_map(|round| (0..30).rev().map(move |n| 30 * round + n)).collect();
        assert_eq!(log.entries(), expected);
        let queues = device().queues().unwrap();
        assert!(queues.count() > queues.limit && queues.count() <= 40, "{queues:?}");
    });
}

#[test]
fn a_stream_that_is_let_go_while_it_waits_ends() {
    let (word, data) = (Shared::new(0), buffer(&[1]));
    let waiting = stream();
    wait(&waiting, &word);
    waiting.run(&affine(&data, 5, 0)).unwrap();
    drop(waiting);
    assert_others_go_on(&[], &word, "a stream that is gone");
    device().synchronize().unwrap();
    assert_eq!(data.read(&stream()).unwrap(), [5]);
}
