//! What several threads use at once: executables, templates, events.

use std::ptr;

use super::{worker::*, world::Doubler, *};

/// An executable never runs concurrently with itself, whoever launches it: its doublings are counted in the end.
pub fn launches_a_shared_executable(w: &mut Worker<'_>) {
    let (which, stream) = (w.below(w.world.doublers.len()), w.stream());
    let doubler: &Doubler = &w.world.doublers[which];
    for _ in 0..1 + w.below(3) {
        if doubler.may_launch() {
            ok!(hipGraphLaunch(doubler.exec, stream));
        }
    }
    if w.perhaps() {
        ok!(hipStreamSynchronize(stream));
    }
}

/// A launch runs with the parameters of one update or of another, never with some of both.
pub fn retunes_a_shared_executable(w: &mut Worker<'_>) {
    let (tuned, word, stream) = (&w.world.tuned, w.word(), w.stream());
    if w.perhaps() {
        ok!(hipGraphExecMemsetNodeSetParams(tuned.exec, tuned.fill, &fill(tuned.memory, word)));
    } else {
        let template = tuned.with_word(word);
        let (mut node, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateError);
        ok!(hipGraphExecUpdate(tuned.exec, template.0, &mut node, &mut result));
        assert_eq!(result, hipGraphExecUpdateSuccess);
        template.destroy();
    }
    for _ in 0..1 + w.below(2) {
        ok!(hipGraphLaunch(tuned.exec, stream));
        tuned.launches.fetch_add(1, Ordering::Relaxed);
    }
}

/// Nodes are added, joined by edges and taken out while others clone and instantiate the template.
pub fn grows_a_shared_template(w: &mut Worker<'_>) {
    let shared = &w.world.template;
    let mut nodes = [hipGraphNode_t::NULL; 3];
    for node in &mut nodes {
        ok!(hipGraphAddEmptyNode(node, shared.0, ptr::null(), 0));
    }
    ok!(hipGraphAddDependencies(shared.0, nodes.as_ptr(), nodes[1..].as_ptr(), 2));
    let gone = nodes[w.below(3)];
    let snapshot = shared.copied();
    assert!(snapshot.nodes() >= 3);
    let mut twin = hipGraphNode_t::NULL;
    ok!(hipGraphNodeFindInClone(&mut twin, gone, snapshot.0), hipGraphDestroyNode(gone));
    w.world.added.fetch_add(2, Ordering::Relaxed);
    fails!(hipErrorInvalidValue, hipGraphDestroyNode(gone));
    // The clone is this thread's.
    snapshot.host(&[twin], w.counting());
    let (exec, stream) = (snapshot.into_exec(), w.stream());
    ok!(hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec), hipStreamSynchronize(stream));
    assert_eq!(w.take_count(), 1);
    if w.below(4) == 0 {
        let exec = shared.instantiate();
        ok!(hipGraphLaunch(exec, stream), hipStreamSynchronize(stream), hipGraphExecDestroy(exec));
    }
}

/// What one thread wrote before it recorded the event, another one finds behind it.
pub fn passes_work_through_a_shared_event(w: &mut Worker<'_>) {
    let (stream, [a, ..], word) = (w.one_of(&w.streams.clone()), w.device, w.word());
    let (event, before) = {
        let mut relay = lock(&w.world.relay);
        // Also orders our writing behind what others read.
        ok!(hipStreamWaitEvent(stream, relay.event, 0));
        copy_async(a, relay.memory, stream);
        fill_async(relay.memory, word, stream);
        ok!(hipEventRecord(relay.event, stream));
        (relay.event, relay.word.replace(word))
    };
    match w.below(3) {
        0 => ok!(hipEventSynchronize(event)),
        1 => {
            // SAFETY: the event lives as long as the world.
            let code = unsafe { hipEventQuery(event) };
            let known = [capi::error::hipSuccess, capi::error::hipErrorNotReady];
            assert!(known.contains(&code), "{code:?}");
        }
        _ => {}
    }
    match before {
        Some(before) => w.expect_words(a, before, stream),
        None => ok!(hipStreamSynchronize(stream)),
    }
}
