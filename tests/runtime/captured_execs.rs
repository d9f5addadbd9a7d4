//! Executables launched into a capture: child graphs with the parameters that they have then.

use aqlipse::{
    CaptureError, Error, Exec, Options, Stream,
    capture::{self, Mode, SharedTemplate},
    graph::{HostFn, Node, NodeId},
};

use super::*;

/// A graph of one kernel that appends `value`.
fn appends(log: &Log, value: u32) -> SharedTemplate {
    captured(|stream| stream.run(&log.append(value)).unwrap())
}

fn captured(work: impl FnOnce(&Stream)) -> SharedTemplate {
    let stream = stream();
    capture::begin(&stream, Mode::Relaxed, None).unwrap();
    work(&stream);
    capture::end(&stream).unwrap()
}

fn instantiate(template: &SharedTemplate) -> Exec {
    Exec::new(&template.lock(), Options::default()).unwrap()
}

fn nodes(template: &SharedTemplate) -> Vec<NodeId> {
    template.lock().graph().nodes().map(|(id, _)| id).collect()
}

fn run(template: &SharedTemplate) {
    let stream = stream();
    instantiate(template).launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

/// The node that appends `value`.
fn parameters(log: &Log, value: u32) -> aqlipse::GraphNode {
    let template = appends(log, value);
    let template = template.lock();
    template.graph().nodes().next().unwrap().1.clone()
}

#[test]
fn a_launch_into_a_capture_becomes_a_child_graph_in_its_place() {
    let log = Log::new(8);
    let inner = captured(|stream| {
        stream.run(&log.append(2)).unwrap();
        stream.run(&log.append(3)).unwrap();
    });
    let exec = instantiate(&inner);
    drop(inner);
    let outer = captured(|stream| {
        stream.run(&log.append(1)).unwrap();
        exec.launch(stream).unwrap();
        stream.run(&log.append(4)).unwrap();
    });
    // The child is a copy: nobody needs the executable any more.
    drop(exec);
    {
        let outer = outer.lock();
        let kinds: Vec<_> = outer.graph().nodes().map(|(_, node)| matches!(node, Node::Child(_))).collect();
        assert_eq!((kinds, outer.graph().topology().edge_count()), (vec![false, true, false], 2));
    }
    assert!(log.entries().is_empty());
    run(&outer);
    assert_eq!(log.entries(), [1, 2, 3, 4]);
}

#[test]
fn the_child_has_what_the_executable_was_given_last() {
    let log = Log::new(16);
    let inner = captured(|stream| {
        stream.run(&log.append(1)).unwrap();
        stream.run(&log.append(2)).unwrap();
    });
    let (exec, ids) = (instantiate(&inner), nodes(&inner));
    let recorded = || captured(|stream| exec.launch(stream).unwrap());
    let as_made = recorded();
    exec.set_node(ids[1], &parameters(&log, 20)).unwrap();
    let one_set = recorded();
    // A whole update takes back what was set before it.
    let other = captured(|stream| {
        stream.run(&log.append(5)).unwrap();
        stream.run(&log.append(6)).unwrap();
    });
    exec.update(&other.lock()).unwrap();
    let updated = recorded();
    exec.set_node(ids[0], &parameters(&log, 50)).unwrap();
    let set_behind = recorded();
    // Edits of the templates come too late for the executable.
    inner.lock().graph_mut().set(ids[0], parameters(&log, 99)).unwrap();
    let first = nodes(&other)[0];
    other.lock().graph_mut().set(first, parameters(&log, 99)).unwrap();
    let edited = recorded();
    for template in [as_made, one_set, updated, set_behind, edited] {
        run(&template);
    }
    assert_eq!(log.entries(), [1, 2, 1, 20, 5, 6, 50, 6, 50, 6]);
}

#[test]
fn nested_graphs_are_recorded_with_what_they_were_given_last() {
    let log = Log::new(16);
    let inner = appends(&log, 1);
    let outer = captured(|_| ());
    let child = outer.lock().add_child(&inner.lock(), &[]).unwrap();
    let exec = instantiate(&outer);
    exec.update_child(child, &appends(&log, 2).lock()).unwrap();
    exec.update_child(child, &appends(&log, 3).lock()).unwrap();
    run(&captured(|stream| exec.launch(stream).unwrap()));
    let inside = {
        let outer = outer.lock();
        outer.graph().child(child).unwrap().nodes().next().unwrap().0
    };
    exec.set_node(inside, &parameters(&log, 4)).unwrap();
    run(&captured(|stream| exec.launch(stream).unwrap()));
    // A recorded executable can be recorded again, a level deeper.
    let twice = captured(|stream| exec.launch(stream).unwrap());
    run(&captured(|stream| instantiate(&twice).launch(stream).unwrap()));
    assert_eq!(log.entries(), [3, 4, 4]);
}

#[test]
fn host_functions_and_kept_objects_live_in_the_child() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let graph = aqlipse::typed::Graph::capture(&stream(), |stream| {
        let data = buffer(&[1; 8]);
        stream.run(&affine(&data, 2, 0))?;
        stream.host(HostFn::new(move || sender.send(()).unwrap()))
    });
    let exec = graph.unwrap().instantiate().unwrap();
    let outer = aqlipse::typed::Graph::capture(&stream(), |stream| exec.launch(stream)).unwrap();
    drop(exec);
    let (stream, exec) = (stream(), outer.instantiate().unwrap());
    drop(outer);
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(receiver.try_iter().count(), 1);
}

#[test]
fn graph_memory_has_one_owner_and_is_not_recorded() {
    let stream = stream();
    let template = captured(|stream| {
        let memory = stream.allocate::<u32>(64).unwrap();
        stream.fill(memory, 1).unwrap();
        stream.free(memory).unwrap();
    });
    let exec = instantiate(&template);
    capture::begin(&stream, Mode::Relaxed, None).unwrap();
    assert!(matches!(exec.launch(&stream), Err(Error::NotSupported(_))));
    assert_eq!(capture::end(&stream).map(drop), Err(Error::Capture(CaptureError::Invalidated)));
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn an_empty_executable_becomes_an_empty_child() {
    let exec = instantiate(&captured(|_| ()));
    let outer = captured(|stream| exec.launch(stream).unwrap());
    assert_eq!(nodes(&outer).len(), 1);
    run(&outer);
}
