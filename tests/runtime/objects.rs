//! User objects: who holds them, and when their destructors run.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

use aqlipse::{Exec, Options, Template, UserObject, graph::Node};

use super::{updates::kernel_node, *};

/// An object with references of the caller, and what hears of its end.
fn object(count: u32) -> (UserObject, Receiver<()>) {
    let (sender, receiver) = channel();
    let object = UserObject::new(count, move || sender.send(()).expect("the test listens")).unwrap();
    (object, receiver)
}

fn is_gone(end: &Receiver<()>) -> bool {
    end.try_recv().is_ok()
}

fn is_alive(end: &Receiver<()>) -> bool {
    end.try_recv() == Err(TryRecvError::Empty)
}

fn template() -> Template {
    Template::new(&device())
}

fn hold(template: &mut Template, object: &UserObject, count: u32, from_caller: bool) {
    template.retain_object(object, count, from_caller).unwrap();
}

#[test]
fn a_graph_holds_what_it_was_given_and_its_copies_too() {
    let (object, end) = object(1);
    let mut graph = template();
    hold(&mut graph, &object, 2, false);
    object.release(1).unwrap();
    let copy = graph.try_clone().unwrap();
    graph.release_object(&object, 2).unwrap();
    graph.release_object(&object, 1).unwrap();
    drop(graph);
    assert!(is_alive(&end), "the copy has references of its own");
    drop(copy);
    assert!(is_gone(&end));
}

#[test]
fn moved_references_are_the_graphs_and_no_longer_the_callers() {
    let (object, end) = object(3);
    let mut graph = template();
    hold(&mut graph, &object, 2, true);
    graph.retain_object(&object, 2, true).unwrap();
    object.retain(1).unwrap();
    object.release(2).unwrap();
    assert!(is_alive(&end));
    drop(graph);
    assert!(is_gone(&end));
}

#[test]
fn an_executable_holds_what_its_template_held_when_it_was_made() {
    let ((early, early_end), (late, late_end)) = (object(1), object(1));
    let mut graph = template();
    hold(&mut graph, &early, 1, true);
    let exec = Exec::new(&graph, Options::default()).unwrap();
    hold(&mut graph, &late, 1, true);
    drop(graph);
    assert!(is_gone(&late_end));
    assert!(is_alive(&early_end));
    drop(exec);
    assert!(is_gone(&early_end));
}

#[test]
fn a_nested_graph_holds_its_own_and_gives_them_up_with_its_node() {
    let (object, end) = object(1);
    let mut inner = template();
    hold(&mut inner, &object, 1, true);
    let mut outer = template();
    let node = outer.add_child(&inner, &[]).unwrap();
    drop(inner);
    let path = [node];
    outer.release_object(&object, 1).unwrap();
    assert!(is_alive(&end), "the reference is the nested graph's");
    outer.at(&path).unwrap().retain_object(&object, 1, false).unwrap();
    outer.at(&path).unwrap().release_object(&object, 1).unwrap();
    let exec = Exec::new(&outer, Options::default()).unwrap();
    outer.remove(node).unwrap();
    assert!(is_alive(&end), "the executable holds what nested graphs hold");
    drop(exec);
    assert!(is_gone(&end));
}

#[test]
fn a_launch_in_flight_outlives_the_executable_that_held_the_object() {
    let (stream, log) = (stream(), Log::new(4));
    let (object, end) = object(1);
    let mut graph = template();
    graph.add(Node::Kernel(kernel_node(&log, 1)), &[]).unwrap();
    hold(&mut graph, &object, 1, true);
    let exec = Exec::new(&graph, Options::default()).unwrap();
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    drop((graph, exec));
    assert!(is_alive(&end));
    gate.open();
    stream.synchronize().unwrap();
    assert!(is_gone(&end));
    assert_eq!(log.entries(), [1]);
}

#[test]
fn an_update_replaces_what_is_held_behind_the_launches_in_flight() {
    let (stream, log) = (stream(), Log::new(4));
    let graph = |value, object: &UserObject| {
        let mut graph = template();
        graph.add(Node::Kernel(kernel_node(&log, value)), &[]).unwrap();
        hold(&mut graph, object, 1, true);
        graph
    };
    let ((old, old_end), (new, new_end)) = (object(1), object(1));
    let exec = Exec::new(&graph(1, &old), Options::default()).unwrap();
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    exec.update(&graph(2, &new)).unwrap();
    assert!(is_alive(&old_end), "the launch may need it");
    gate.open();
    stream.synchronize().unwrap();
    assert!(is_gone(&old_end));
    assert!(is_alive(&new_end));
    exec.launch(&stream).unwrap();
    drop(exec);
    stream.synchronize().unwrap();
    assert!(is_gone(&new_end));
    assert_eq!(log.entries(), [1, 2]);
}

#[test]
fn a_refused_update_takes_no_references_over() {
    let ((kept, kept_end), (refused, refused_end)) = (object(1), object(1));
    let mut graph = template();
    hold(&mut graph, &kept, 1, true);
    let exec = Exec::new(&graph, Options::default()).unwrap();
    drop(graph);
    let mut other = template();
    other.add(Node::Empty, &[]).unwrap();
    hold(&mut other, &refused, 1, true);
    exec.update(&other).unwrap_err();
    drop(other);
    assert!(is_gone(&refused_end));
    assert!(is_alive(&kept_end));
    drop(exec);
    assert!(is_gone(&kept_end));
}

#[test]
fn an_update_of_a_child_graph_replaces_what_that_graph_holds() {
    let inner = |object: &UserObject| {
        let mut inner = template();
        hold(&mut inner, object, 1, true);
        inner
    };
    let ((outer_object, outer_end), (old, old_end), (new, new_end)) = (object(1), object(1), object(1));
    let mut outer = inner(&outer_object);
    let node = outer.add_child(&inner(&old), &[]).unwrap();
    let exec = Exec::new(&outer, Options::default()).unwrap();
    drop(outer);
    exec.update_child(node, &inner(&new)).unwrap();
    assert!(is_gone(&old_end));
    assert!(is_alive(&new_end) && is_alive(&outer_end));
    drop(exec);
    assert!(is_gone(&new_end) && is_gone(&outer_end));
}
