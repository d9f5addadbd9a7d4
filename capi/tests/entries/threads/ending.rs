//! The ends of things: while they run, and by two threads at once.

use std::ptr;

use super::{
    worker::*,
    world::{Contested, World},
    *,
};

/// The destructor of user objects.
unsafe extern "C" fn gone(world: *mut c_void) {
    // SAFETY: the world waits for its objects before it goes.
    let world = unsafe { &*world.cast::<World>() };
    // ORDER: Release. The world may go as soon as it has seen this.
    world.objects_gone.fetch_add(1, Ordering::Release);
}

/// Template, executable, event and stream go while the work is under way, and a user object with the last of them; the
/// work is done all the same.
pub fn destroys_what_runs(w: &mut Worker<'_>) {
    let ([a, b, _], word, template, event) = (w.device, w.word(), Template::new(), new_event());
    let (stream, waiter) = (independent_stream(), w.streams[0]);
    let mut object = hipUserObject_t::NULL;
    let world = ptr::from_ref(w.world).cast_mut().cast();
    w.world.objects.fetch_add(1, Ordering::Relaxed);
    ok!(
        hipUserObjectCreate(&mut object, world, Some(gone), 1, hipUserObjectNoDestructorSync.0),
        hipGraphRetainUserObject(template.0, object, 1, hipGraphUserObjectMove.0),
    );
    let filled = template.fill(&[], a, word);
    let counted = template.host(&[filled], w.counting());
    template.copy(&[counted], b, a);
    // Recorded by the graph, and below behind it: neither must keep the other.
    let mut recorded = hipGraphNode_t::NULL;
    ok!(hipGraphAddEventRecordNode(&mut recorded, template.0, &filled, 1, event));
    let exec = template.into_exec();
    ok!(
        hipGraphLaunch(exec, stream),
        hipEventRecord(event, stream),
        hipStreamWaitEvent(waiter, event, 0),
        hipGraphExecDestroy(exec),
        hipEventDestroy(event),
        hipStreamDestroy(stream),
    );
    w.expect_words(b, word, waiter);
    assert_eq!(w.take_count(), 1);
}

/// Destroys what two threads know; says whether it was there.
pub fn destroy(contested: Contested) -> bool {
    // SAFETY: handles, alive or not.
    let code = unsafe {
        match contested {
            Contested::Exec(exec) => hipGraphExecDestroy(exec),
            Contested::Graph(graph) => hipGraphDestroy(graph),
            Contested::Event(event) => hipEventDestroy(event),
            Contested::Stream(stream) => hipStreamDestroy(stream),
        }
    };
    code == capi::error::hipSuccess
}

/// Of those who destroy a handle one succeeds; those who use it meanwhile get an answer.
pub fn contests_a_destruction(w: &mut Worker<'_>) {
    let exec = || Contested::Exec(Template::new().into_exec());
    let made = match w.below(4) {
        0 => exec(),
        1 => Contested::Graph(Template::new().0),
        2 => Contested::Event(new_event()),
        _ => Contested::Stream(independent_stream()),
    };
    w.world.contest(made);
    let (n, stream) = (w.below(16), w.streams[1]);
    let Some(contested) = w.world.contested(n) else { return };
    // SAFETY: handles, alive or not.
    unsafe {
        let _ = match contested {
            Contested::Exec(exec) => hipGraphLaunch(exec, stream),
            Contested::Graph(graph) => hipGraphGetNodes(graph, ptr::null_mut(), &mut 0),
            Contested::Event(event) => hipEventRecord(event, stream),
            Contested::Stream(other) => hipStreamSynchronize(other),
        };
    }
    if destroy(contested) {
        w.world.settle(contested);
    }
    ok!(hipStreamSynchronize(stream));
}
