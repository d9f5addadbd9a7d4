//! Bodies of conditional nodes under what is done to graphs: disabling, recording, user objects, several devices.

use aqlipse::{
    Error, Exec, Options, Template, UpdateReason, UserObject, Word,
    capture::{self, Mode},
    graph::{
        ConditionalKind, CopyKind, HostFn, Kernel, KernelAttributes, Memcpy, Memset, Node, NodeId,
        WordAction, WordCondition, WordStep,
    },
};

use super::{conditionals::both, devices::with_devices, updates::kernel_node, *};

const IF: ConditionalKind = ConditionalKind::If;

fn template() -> Template {
    Template::new(&device())
}

/// A chain of kernels that append.
fn chain(log: &Log, values: &[u32]) -> (Template, Vec<NodeId>) {
    let (mut template, mut ids) = (template(), Vec::<NodeId>::new());
    for &value in values {
        let node = Node::Kernel(kernel_node(log, value));
        ids.push(template.add(node, ids.last().copied().as_slice()).unwrap());
    }
    (template, ids)
}

/// A graph that runs a chain by way of a conditional node, and the node.
fn around(body: Template) -> (Template, NodeId) {
    let mut graph = template();
    let condition = graph.create_condition(1).unwrap();
    let node = graph.add_conditional(&condition, IF, vec![body], &[]).unwrap();
    (graph, node)
}

fn run(exec: &Exec) {
    let stream = stream();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

/// Captures a launch of an executable, and runs what was captured.
fn recorded(exec: &Exec) -> aqlipse::Result<()> {
    let stream = stream();
    capture::begin(&stream, Mode::Relaxed, None)?;
    exec.launch(&stream)?;
    let template = capture::end(&stream)?;
    run(&Exec::new(&template.lock(), Options::default())?);
    Ok(())
}

#[test]
fn nodes_in_bodies_are_disabled_until_they_are_enabled_again() {
    for options in both() {
        let (stream, log) = (stream(), Log::new(40));
        let (body, ids) = chain(&log, &[1, 2, 3]);
        let exec = Exec::new(&around(body).0, options).unwrap();
        let gate = Gate::on(&stream);
        exec.launch(&stream).unwrap();
        exec.set_enabled(ids[1], false).unwrap();
        assert_eq!((exec.is_enabled(ids[0]), exec.is_enabled(ids[1])), (Ok(true), Ok(false)));
        exec.launch(&stream).unwrap();
        gate.open();
        stream.synchronize().unwrap();
        // Parameters can be given meanwhile, and an update leaves the node disabled.
        exec.set_node(ids[1], &Node::Kernel(kernel_node(&log, 20))).unwrap();
        exec.set_enabled(ids[0], false).unwrap();
        run(&exec);
        exec.update(&around(chain(&log, &[4, 5, 6]).0).0).unwrap();
        run(&exec);
        exec.set_enabled(ids[0], true).unwrap();
        exec.set_enabled(ids[1], true).unwrap();
        run(&exec);
        assert_eq!(log.entries(), [1, 2, 3, 1, 3, 3, 6, 4, 5, 6], "{options:?}");
    }
}

#[test]
fn a_disabled_copy_in_a_body_touches_no_pageable_memory() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let mut source = vec![7u32; 8];
    let (to, from) = (data.slice().address(), source.as_mut_ptr() as u64);
    let mut body = template();
    let copy = body.add(Node::Memcpy(Memcpy::linear(to, from, 32)), &[]).unwrap();
    let exec = Exec::new(&around(body).0, Options::default()).unwrap();
    exec.set_enabled(copy, false).unwrap();
    run(&exec);
    assert_eq!(data.read(&stream).unwrap(), [1; 8]);
    exec.set_enabled(copy, true).unwrap();
    run(&exec);
    assert_eq!(data.read(&stream).unwrap(), [7; 8]);
    exec.set_enabled(copy, false).unwrap();
    drop(source);
    run(&exec);
}

#[test]
fn only_kernels_copies_and_fills_in_bodies_are_disabled_and_nothing_changes_its_kind() {
    let log = Log::new(4);
    let (mut body, ids) = chain(&log, &[1]);
    let host = body.add(Node::Host(HostFn::new(|| {})), &[]).unwrap();
    let empty = body.add(Node::Empty, &[]).unwrap();
    let data = buffer(&[0; 4]);
    let memory = data.slice().address();
    let copied = |kind| Node::Memcpy(Memcpy::Linear { dst: memory, src: memory, bytes: 0, kind });
    let copy = body.add(copied(CopyKind::DeviceToDevice), &[]).unwrap();
    let (graph, node) = around(body);
    let exec = Exec::new(&graph, Options::default()).unwrap();
    let foreign = chain(&log, &[1]).1[0];
    let invalid = |outcome: aqlipse::Result<()>| matches!(outcome, Err(Error::InvalidValue(_)));
    for id in [host, empty, node, foreign] {
        assert!(invalid(exec.set_enabled(id, false)) && invalid(exec.is_enabled(id).map(drop)), "{id}");
    }
    assert!(invalid(exec.set_node(ids[0], &Node::Host(HostFn::new(|| {})))));
    assert!(invalid(exec.set_node(empty, &Node::Empty)));
    assert!(invalid(exec.set_node(copy, &copied(CopyKind::HostToDevice))), "directions stay");
    let cooperative = KernelAttributes { cooperative: 1, ..KernelAttributes::DEFAULT };
    let kernel = Kernel { attributes: cooperative.into(), ..kernel_node(&log, 2) };
    assert!(invalid(exec.set_node(ids[0], &Node::Kernel(kernel))));
    run(&exec);
    assert_eq!(log.entries(), [1]);
}

#[test]
fn a_recorded_executable_has_what_its_bodies_were_given_last() {
    for options in both() {
        let log = Log::new(60);
        let (body, ids) = chain(&log, &[1, 2]);
        let (graph, _) = around(around(body).0);
        let exec = Exec::new(&graph, options).unwrap();
        recorded(&exec).unwrap();
        exec.set_node(ids[0], &Node::Kernel(kernel_node(&log, 10))).unwrap();
        recorded(&exec).unwrap();
        exec.update(&around(around(chain(&log, &[3, 4]).0).0).0).unwrap();
        recorded(&exec).unwrap();
        exec.set_node(ids[1], &Node::Kernel(kernel_node(&log, 40))).unwrap();
        recorded(&exec).unwrap();
        exec.set_enabled(ids[0], false).unwrap();
        recorded(&exec).unwrap();
        // The executable is as it was, and shares its conditions with what was recorded.
        run(&exec);
        assert_eq!(log.entries(), [1, 2, 10, 2, 3, 4, 3, 40, 40, 40], "{options:?}");
    }
}

#[test]
fn a_graph_takes_an_executable_with_conditions_once() {
    let (stream, log) = (stream(), Log::new(4));
    let exec = Exec::new(&around(chain(&log, &[1]).0).0, Options::default()).unwrap();
    capture::begin(&stream, Mode::Relaxed, None).unwrap();
    exec.launch(&stream).unwrap();
    exec.launch(&stream).unwrap();
    let template = capture::end(&stream).unwrap();
    let refused = Exec::new(&template.lock(), Options::default()).unwrap_err();
    assert!(refused.to_string().contains("two nodes use the condition"), "{refused}");
}

#[test]
fn memory_of_a_body_is_not_recorded() {
    let mut body = template();
    let (alloc, address) = body.add_allocation(&device(), 64, &[]).unwrap();
    body.add_free(address, &[alloc]).unwrap();
    let exec = Exec::new(&around(body).0, Options::default()).unwrap();
    let refused = recorded(&exec).unwrap_err();
    assert!(matches!(refused, Error::NotSupported(_)), "{refused}");
}

#[test]
fn an_executable_holds_the_user_objects_of_its_bodies() {
    let (sender, ends) = std::sync::mpsc::channel();
    let object = |name: u32| {
        let sender = sender.clone();
        UserObject::new(1, move || sender.send(name).expect("the test listens")).unwrap()
    };
    let made = |name: u32| {
        let mut body = template();
        body.add(Node::Empty, &[]).unwrap();
        body.retain_object(&object(name), 1, true).unwrap();
        around(body).0
    };
    let ended = || ends.recv_timeout(Duration::from_secs(60)).unwrap();
    let exec = Exec::new(&made(1), Options::default()).unwrap();
    run(&exec);
    assert!(ends.recv_timeout(Duration::from_millis(30)).is_err(), "the executable holds it");
    exec.update(&made(2)).unwrap();
    assert_eq!(ended(), 1);
    drop(exec);
    assert_eq!(ended(), 2);
}

#[test]
fn what_bodies_cannot_have_is_refused() {
    let words = buffer(&[0; 2]);
    let word = words.slice().address();
    let wait = WordAction::Wait { condition: WordCondition::Equal, mask: 1 };
    let step = |action| WordStep { address: word, value: Word::U32(1), action };
    let with = |action| {
        let mut body = template();
        body.add(Node::BatchMemOp([step(action)].into()), &[]).unwrap();
        around(body)
    };
    Exec::new(&with(WordAction::Write).0, Options::default()).unwrap();
    let (graph, node) = with(wait);
    let refused = Exec::instantiate(&graph, Options::default()).unwrap_err();
    assert!(matches!(refused.error, Error::NotSupported(_)), "{refused}");
    assert_eq!(refused.node, Some(node));

    let mut cyclic = template();
    let [first, second] = [(); 2].map(|()| cyclic.add(Node::Host(HostFn::new(|| {})), &[]).unwrap());
    cyclic.graph_mut().add_dependencies([(first, second), (second, first)]).unwrap();
    let (graph, node) = around(cyclic);
    let refused = Exec::instantiate(&graph, Options::default()).unwrap_err();
    assert!(refused.structure && refused.node == Some(node), "{refused}");

    // What another graph leaves allocated would be freed by each turn, or by none.
    let mut owner = template();
    let (_, address) = owner.add_allocation(&device(), 64, &[]).unwrap();
    let mut body = template();
    body.add_free(address, &[]).unwrap();
    let mut graph = template();
    let condition = graph.create_condition(1).unwrap();
    let refused = graph.add_conditional(&condition, IF, vec![body], &[]).unwrap_err();
    assert!(matches!(refused, Error::NotSupported(_)), "{refused}");
}

#[test]
fn conditions_have_their_defaults_where_priorities_decide_about_the_order() {
    for options in both() {
        let options = Options { node_priority: true, ..options };
        let (stream, log) = (stream(), Log::new(40));
        let mut graph = template();
        let mut last = Vec::new();
        for (n, default) in [(0u32, 1), (10, 0), (20, 1), (30, 0)] {
            let condition = graph.create_condition(default).unwrap();
            let bodies = vec![chain(&log, &[n]).0, chain(&log, &[n + 1]).0];
            last.push(graph.add_conditional(&condition, IF, bodies, &[]).unwrap());
            let priority = -(n as i32);
            let attributes = KernelAttributes { priority, ..KernelAttributes::DEFAULT };
            let kernel = Kernel { attributes: attributes.into(), ..kernel_node(&log, n + 5) };
            last.push(graph.add(Node::Kernel(kernel), &[]).unwrap());
        }
        graph.add(Node::Kernel(kernel_node(&log, 99)), &last).unwrap();
        let exec = Exec::new(&graph, options).unwrap();
        for _ in 0..2 {
            exec.launch(&stream).unwrap();
        }
        for turn in log.entries().chunks(9) {
            let mut sorted = turn.to_vec();
            sorted.sort_unstable();
            assert_eq!((sorted, turn[8]), (vec![0, 5, 11, 15, 20, 25, 31, 35, 99], 99), "{options:?}");
        }
        assert_eq!(log.entries().len(), 18);
    }
}

#[test]
fn bodies_run_on_the_device_of_their_node_and_on_no_other() {
    with_devices("runtime::bodies", "bodies_run_on_the_device_of_their_node_and_on_no_other", |devices| {
        for options in both() {
            let memory: Vec<_> = devices.iter().map(|device| buffer_on(device, &[1; 8])).collect();
            let fill = |n: usize, value| {
                let dst = memory[n].slice().address();
                Node::Memset(Memset { dst, pitch: 32, value, element_size: 4, width: 8, height: 1 })
            };
            // One conditional node on each of two devices, behind each other; the bodies are where their memory is.
            let made = |places: [usize; 2], values: [u64; 2]| {
                let mut graph = Template::new(&devices[0]);
                let mut last: Vec<NodeId> = Vec::new();
                for (place, value) in places.into_iter().zip(values) {
                    let condition = graph.create_condition(1).unwrap();
                    let mut body = Template::new(&devices[place]);
                    body.add(fill(place, value), &[]).unwrap();
                    let mut on = graph.on(&devices[place]);
                    last = vec![on.add_conditional(&condition, IF, vec![body], &last).unwrap()];
                }
                (graph, last[0])
            };
            let (graph, last) = made([1, 2], [5, 6]);
            let exec = Exec::new(&graph, options).unwrap();
            assert_eq!((exec.device_of(last), exec.report().devices), (Ok(devices[2].clone()), 2));
            // From the stream of a third.
            let stream = Stream::new(&devices[3], StreamKind::NonBlocking, 0);
            for n in 0..3 {
                exec.update(&made([1, 2], [7 + n, 70 + n]).0).unwrap();
                exec.launch(&stream).unwrap();
            }
            stream.synchronize().unwrap();
            let read =
                |n: usize| memory[n].read(&Stream::new(&devices[n], StreamKind::NonBlocking, 0)).unwrap();
            assert_eq!((read(1), read(2)), (vec![9; 8], vec![72; 8]), "{options:?}");
            let refusal = exec.update(&made([1, 3], [1, 1]).0).unwrap_err();
            assert_eq!(refusal.reason, UpdateReason::Device, "{refusal}");

            let mut graph = Template::new(&devices[0]);
            let condition = graph.create_condition(1).unwrap();
            let mut body = Template::new(&devices[0]);
            body.add(fill(3, 1), &[]).unwrap();
            let node = graph.add_conditional(&condition, IF, vec![body], &[]).unwrap();
            let refused = Exec::instantiate(&graph, options).unwrap_err();
            assert!(matches!(refused.error, Error::NotSupported(_)), "{refused}");
            assert_eq!(refused.node, Some(node));
        }
    });
}
