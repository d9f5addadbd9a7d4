//! Nodes that consist of several parts: batches of copies, and semaphores that other processes may share.

use aqlipse::{
    Exec, Options, Template,
    external::{ExternalSemaphore, SemaphoreKind},
    graph::{ConditionalKind, Node, RunCopy},
};

use super::{Gate, buffer, device, stream};

fn semaphore(kind: SemaphoreKind, initial: u64) -> ExternalSemaphore {
    ExternalSemaphore::create(kind, initial).expect("shared memory").1
}

#[test]
fn a_graph_waits_for_a_semaphore_and_signals_another() {
    let (binary, timeline) = (semaphore(SemaphoreKind::Binary, 0), semaphore(SemaphoreKind::Timeline, 1));
    let (stream, mut template) = (stream(), Template::new(&device()));
    let wait = Node::SemaphoreWait(Box::new([(binary.clone(), 0), (timeline.clone(), 4)]));
    let wait = template.add(wait, &[]).unwrap();
    let signal = Node::SemaphoreSignal(Box::new([(timeline.clone(), 7)]));
    let signal = template.add(signal, &[wait]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();

    exec.launch(&stream).unwrap();
    binary.signal(0);
    assert_eq!((stream.is_idle(), timeline.value()), (Ok(false), 1), "one of two is signalled");
    timeline.signal(4);
    stream.synchronize().unwrap();
    assert_eq!((binary.value(), timeline.value()), (0, 7), "the wait has taken the binary one");

    // As many others, with other values.
    exec.set_node(wait, &Node::SemaphoreWait(Box::new([(timeline.clone(), 7), (timeline.clone(), 5)])))
        .unwrap();
    exec.set_node(signal, &Node::SemaphoreSignal(Box::new([(binary.clone(), 0)]))).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(binary.value(), 1);
    exec.set_node(signal, &Node::SemaphoreSignal(Box::new([]))).unwrap_err();
}

#[test]
fn a_body_that_a_condition_chooses_waits_for_a_semaphore_and_signals_another() {
    let (stream, device) = (stream(), device());
    for (default, expected) in [(1, (0, 5)), (0, (1, 2))] {
        let (binary, timeline) = (semaphore(SemaphoreKind::Binary, 1), semaphore(SemaphoreKind::Timeline, 2));
        let (mut graph, mut body) = (Template::new(&device), Template::new(&device));
        let wait = body.add(Node::SemaphoreWait(Box::new([(binary.clone(), 0)])), &[]).unwrap();
        body.add(Node::SemaphoreSignal(Box::new([(timeline.clone(), 5)])), &[wait]).unwrap();
        let condition = graph.create_condition(default).unwrap();
        graph.add_conditional(&condition, ConditionalKind::If, vec![body], &[]).unwrap();
        Exec::new(&graph, Options::default()).unwrap().launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!((binary.value(), timeline.value()), expected, "default {default}");
    }
}

#[test]
fn a_batch_of_copies_is_one_node() {
    let (stream, mut template) = (stream(), Template::new(&device()));
    let (from, to) = (buffer(&[1, 2, 3, 4]), buffer(&[0; 4]));
    let copies = |words: [(u64, u64); 2]| {
        let (src, dst) = (from.slice().address(), to.slice().address());
        let run = |(at, of): (u64, u64)| RunCopy { dst: dst + 4 * at, src: src + 4 * of, bytes: 4 };
        Node::MemcpyBatch(words.map(run).into())
    };
    let batch = template.add(copies([(0, 3), (3, 0)]), &[]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(to.read(&stream).unwrap(), [4, 0, 0, 1]);
    // What is in flight copies what it was told then.
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    exec.set_node(batch, &copies([(1, 2), (2, 1)])).unwrap();
    exec.launch(&stream).unwrap();
    gate.open();
    assert_eq!(to.read(&stream).unwrap(), [4, 3, 2, 1]);
    exec.set_node(batch, &Node::MemcpyBatch(Box::new([]))).unwrap_err();
}
