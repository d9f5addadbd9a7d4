use std::{
    sync::mpsc::{Receiver, TryRecvError, channel},
    thread,
};

use super::{due::Call, *};

/// An object of calls or of whoever drops it, and what hears where its destructor ran.
fn object_of(count: u32, in_calls: bool) -> (UserObject, Receiver<thread::ThreadId>) {
    let (sender, receiver) = channel();
    let destructor = move || sender.send(thread::current().id()).unwrap();
    (UserObject::make(count, Box::new(destructor), in_calls).unwrap(), receiver)
}

fn object(count: u32) -> (UserObject, Receiver<thread::ThreadId>) {
    object_of(count, false)
}

#[test]
fn the_destructor_runs_once_inside_the_release() {
    let (object, gone) = object(3);
    object.release(1).unwrap();
    object.retain(1).unwrap();
    object.release(2).unwrap();
    assert_eq!(gone.try_recv(), Err(TryRecvError::Empty));
    object.release(1).unwrap();
    assert_eq!(gone.try_recv(), Ok(thread::current().id()));
    assert!(object.retain(1).is_err());
    object.release(1).unwrap();
    assert_eq!(gone.try_recv(), Err(TryRecvError::Disconnected), "the sender went with the destructor");
}

#[test]
fn giving_up_more_than_there_is_gives_up_all() {
    let (object, gone) = object(2);
    let mut graph = References::default();
    assert!(object.release_from(&mut graph, 1).unwrap().is_none(), "the graph has none");
    object.retain_for(&mut graph, 3, true).unwrap();
    assert_eq!(graph.count(object.0.id), 3);
    object.release(7).unwrap();
    assert_eq!(gone.try_recv(), Err(TryRecvError::Empty), "the graph has them");
    object.retain(1).unwrap();
    drop(object.release_from(&mut graph, 7).unwrap());
    assert_eq!(gone.try_recv(), Err(TryRecvError::Empty), "the caller has one again");
    object.release(7).unwrap();
    assert!(gone.try_recv().is_ok());
}

#[test]
fn counts_are_positive_and_do_not_overflow() {
    for count in [0, MAX_COUNT + 1, u32::MAX] {
        assert!(UserObject::new(count, || {}).is_err());
    }
    let (object, _gone) = object(MAX_COUNT);
    object.retain(MAX_COUNT).unwrap();
    object.retain(1).unwrap();
    assert_eq!(object.retain(1), Err(Error::InvalidValue("too many references")));
    for count in [0, MAX_COUNT + 1] {
        assert!(object.retain(count).is_err() && object.release(count).is_err());
    }
    object.release(MAX_COUNT).unwrap();
}

#[test]
fn a_destructor_that_panics_takes_nothing_along() {
    let first = UserObject::new(1, || panic!("on purpose")).unwrap();
    let (second, gone) = object(1);
    first.release(1).unwrap();
    second.release(1).unwrap();
    assert!(gone.try_recv().is_ok());
}

#[test]
fn within_a_call_the_destructor_runs_at_its_end() {
    let ((outer, outer_gone), (inner, inner_gone)) = (object_of(1, true), object_of(1, true));
    let (inside, seen) = channel();
    let destructor = move || {
        // As a destructor that calls the runtime.
        let call = Call::begin();
        inner.release(1).unwrap();
        drop(call);
        inside.send(inner_gone.try_recv().is_ok()).unwrap();
    };
    let nested = UserObject::of_calls(1, destructor).unwrap();
    let call = Call::begin();
    outer.release(1).unwrap();
    let within = Call::begin();
    nested.release(1).unwrap();
    drop(within);
    assert!(outer_gone.try_recv().is_err() && seen.try_recv().is_err());
    drop(call);
    assert_eq!((outer_gone.try_recv(), seen.try_recv()), (Ok(thread::current().id()), Ok(true)));
}

#[test]
fn what_goes_outside_of_calls_is_left_to_the_next_one() {
    let (object, gone) = object_of(1, true);
    thread::spawn(move || object.release(1).unwrap()).join().unwrap();
    assert_eq!(gone.try_recv(), Err(TryRecvError::Empty));
    drop(Call::begin());
    assert_eq!(gone.try_recv(), Ok(thread::current().id()));
}

#[test]
fn a_thread_of_ours_runs_what_its_calls_release_and_nothing_else() {
    let (left, left_gone) = object(1);
    let ((released, gone), (told, tell)) = (object_of(1, true), channel());
    crate::thread::start("aqlipse-test", move || {
        left.release(1).unwrap();
        let call = Call::begin();
        released.release(1).unwrap();
        drop(call);
        tell_from(&told);
    })
    .unwrap();
    let there = tell.recv().unwrap();
    assert_eq!(gone.try_recv(), Ok(there));
    assert_eq!(left_gone.try_recv(), Err(TryRecvError::Empty));
    drop(Call::begin());
    assert_eq!(left_gone.try_recv(), Ok(thread::current().id()));
}

fn tell_from(told: &std::sync::mpsc::Sender<thread::ThreadId>) {
    told.send(thread::current().id()).unwrap();
}
