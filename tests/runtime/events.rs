//! Event nodes: what they mark in a launch, and what they wait for.

use aqlipse::{Error, Event, Exec, Options, Template, graph::Node, typed::Graph};

use super::{dags::on_lanes, *};

#[test]
fn a_record_node_is_reached_when_what_is_before_it_has_run_and_not_later() {
    let (stream, log) = (stream(), Log::new(99));
    for options in (1..=4).flat_map(on_lanes) {
        let (before, after, event) = (Gate::default(), Gate::default(), Event::new(false));
        let mut graph = Graph::new(&device());
        let held = before.clone();
        let first = graph.host(move || held.wait(), &[]).unwrap();
        let kernel = graph.kernel(&log.append(1), &[first]).unwrap();
        let record = graph.record(&event, &[kernel]).unwrap();
        let held = after.clone();
        let last = graph.host(move || held.wait(), &[record]).unwrap();
        graph.kernel(&log.append(2), &[last]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        assert_eq!(event.is_complete(), Ok(true), "never recorded");
        exec.launch(&stream).unwrap();
        assert_eq!(event.is_complete(), Ok(false), "{options:?}");
        before.open();
        event.synchronize().unwrap();
        assert_eq!((event.is_complete(), stream.is_idle()), (Ok(true), Ok(false)), "{options:?}");
        after.open();
        stream.synchronize().unwrap();
    }
    assert_eq!(log.entries(), [1, 2].repeat((1..=4).flat_map(on_lanes).count()));
}

#[test]
fn a_stream_waits_for_the_record_node_of_the_latest_launch() {
    let (first, second, log, event) = (stream(), stream(), Log::new(4), Event::new(false));
    let mut graph = Graph::new(&device());
    let kernel = graph.kernel(&log.append(1), &[]).unwrap();
    graph.record(&event, &[kernel]).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.launch(&first).unwrap();
    event.synchronize().unwrap();
    let gate = Gate::on(&first);
    exec.launch(&first).unwrap();
    second.wait(&event).unwrap();
    second.run(&log.append(2)).unwrap();
    assert_eq!((event.is_complete(), second.is_idle()), (Ok(false), Ok(false)));
    gate.open();
    assert_eq!(log.entries(), [1, 1, 2]);
}

#[test]
fn a_wait_node_waits_for_what_its_event_stands_for_at_the_launch() {
    let log = Log::new(99);
    for options in (1..=4).flat_map(on_lanes) {
        let (first, second, event) = (stream(), stream(), Event::new(false));
        let mut graph = Graph::new(&device());
        let wait = graph.wait(&event, &[]).unwrap();
        graph.kernel(&log.append(2), &[wait]).unwrap();
        let exec = graph.instantiate_with(options).unwrap();
        exec.launch(&second).unwrap();
        second.synchronize().unwrap();
        let gate = Gate::on(&first);
        first.run(&log.append(1)).unwrap();
        first.record_event(&event).unwrap();
        exec.launch(&second).unwrap();
        // What is recorded later is not waited for.
        let later = Gate::on(&first);
        first.record_event(&event).unwrap();
        assert_eq!(second.is_idle(), Ok(false), "{options:?}");
        gate.open();
        second.synchronize().unwrap();
        assert_eq!(event.is_complete(), Ok(false), "{options:?}");
        later.open();
        first.synchronize().unwrap();
    }
    assert_eq!(log.entries(), [2, 1, 2].repeat((1..=4).flat_map(on_lanes).count()));
}

#[test]
fn one_graph_waits_for_the_record_node_of_another() {
    let (first, second, log, event) = (stream(), stream(), Log::new(200), Event::new(false));
    let mut graph = Graph::new(&device());
    let kernel = graph.kernel(&log.append(1), &[]).unwrap();
    graph.record(&event, &[kernel]).unwrap();
    let recording = graph.instantiate().unwrap();
    let back = Event::new(false);
    let mut graph = Graph::new(&device());
    let wait = graph.wait(&event, &[]).unwrap();
    let kernel = graph.kernel(&log.append(2), &[wait]).unwrap();
    graph.record(&back, &[kernel]).unwrap();
    let waiting = graph.instantiate().unwrap();
    for _ in 0..50 {
        recording.launch(&first).unwrap();
        waiting.launch(&second).unwrap();
        first.wait(&back).unwrap();
    }
    assert_eq!(log.entries(), [1, 2].repeat(50));
}

#[test]
fn time_between_record_nodes_is_that_of_what_runs_between_them() {
    let stream = stream();
    let (start, end, untimed) = (Event::new(true), Event::new(true), Event::new(false));
    let mut graph = Graph::new(&device());
    let first = graph.record(&start, &[]).unwrap();
    let between = graph.host(|| std::thread::sleep(Duration::from_millis(30)), &[first]).unwrap();
    let last = graph.record(&end, &[between]).unwrap();
    graph.record(&untimed, &[last]).unwrap();
    let exec = graph.instantiate().unwrap();
    assert_eq!(end.elapsed_since(&start), Err(Error::InvalidHandle));
    for _ in 0..2 {
        let gate = Gate::on(&stream);
        exec.launch(&stream).unwrap();
        assert_eq!(end.elapsed_since(&start), Err(Error::NotReady));
        gate.open();
        stream.synchronize().unwrap();
        let elapsed = end.elapsed_since(&start).unwrap();
        assert!((29.0..20_000.0).contains(&elapsed), "{elapsed} ms");
    }
    assert_eq!(untimed.elapsed_since(&start), Err(Error::InvalidHandle));
}

/// A graph of one node that records an event.
fn recording(event: &Event) -> (Template, aqlipse::graph::NodeId) {
    let mut template = Template::new(&device());
    let node = template.add(Node::EventRecord(event.clone()), &[]).unwrap();
    (template, node)
}

#[test]
fn an_executable_can_be_given_other_events() {
    let (stream, events) = (stream(), [0; 3].map(|_| Event::new(true)));
    let (template, node) = recording(&events[0]);
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.set_node(node, &Node::EventRecord(events[1].clone())).unwrap();
    exec.launch(&stream).unwrap();
    exec.update(&recording(&events[2]).0).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    let recorded = events.each_ref().map(|event| event.elapsed_since(event).is_ok());
    assert_eq!(recorded, [false, true, true]);
    let wait = Node::EventWait(events[0].clone());
    assert!(matches!(exec.set_node(node, &wait), Err(Error::InvalidValue(_))));
}

#[test]
fn an_event_outlives_the_graph_that_recorded_it() {
    let (stream, event) = (stream(), Event::new(true));
    {
        let (template, _) = recording(&event);
        let exec = Exec::new(&template, Options::default()).unwrap();
        exec.launch(&stream).unwrap();
    }
    event.synchronize().unwrap();
    // Its signal must not have been armed again for somebody else.
    let (template, _) = recording(&Event::new(true));
    let exec = Exec::new(&template, Options::default()).unwrap();
    let gate = Gate::on(&stream);
    for _ in 0..20 {
        exec.launch(&stream).unwrap();
    }
    assert_eq!((event.is_complete(), event.elapsed_since(&event)), (Ok(true), Ok(0.0)));
    gate.open();
    stream.synchronize().unwrap();
}
