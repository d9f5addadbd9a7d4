//! Captures: in every mode, over several streams, by several threads, and broken ones.

use std::ptr;

use capi::error::{hipErrorStreamCaptureInvalidated, hipErrorStreamCaptureUnjoined, hipSuccess};

use super::{
    worker::*,
    world::{Open, World},
    *,
};

const MODES: [hipStreamCaptureMode; 3] =
    [hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed];

/// Captures whose threads have left them to others, at most.
const OPEN: usize = 8;

/// A capture of this thread that is under way.
struct Capture<'w> {
    world: &'w World,
    origin: hipStream_t,
    mode: hipStreamCaptureMode,
    /// How often captures had been broken when this one began.
    broke: u64,
}

impl<'w> Capture<'w> {
    fn begin(w: &Worker<'w>, origin: hipStream_t, mode: hipStreamCaptureMode) -> Self {
        let broke = w.world.broke.load(Ordering::SeqCst);
        ok!(hipStreamBeginCapture(origin, mode));
        Self { world: w.world, origin, mode, broke }
    }

    /// The graph, unless another thread has broken a capture that is everybody's concern.
    fn end(self, recorded: Result<(), hipError_t>) -> Option<Template> {
        let mut graph = hipGraph_t::NULL;
        // SAFETY: a stream, and a place for the graph.
        let ended = unsafe { hipStreamEndCapture(self.origin, &mut graph) };
        if let (Ok(()), hipSuccess) = (recorded, ended) {
            return Some(Template(graph));
        }
        assert_eq!(ended, hipErrorStreamCaptureInvalidated, "behind {recorded:?}");
        assert!(recorded.is_ok() || recorded == Err(hipErrorStreamCaptureInvalidated));
        assert_eq!((graph, self.mode), (hipGraph_t::NULL, hipStreamCaptureModeGlobal));
        let breaking = self.world.breaking.load(Ordering::SeqCst);
        assert!(breaking > self.broke, "nobody did anything that breaks a capture");
        None
    }
}

fn is_capturing(stream: hipStream_t) -> bool {
    let mut status = hipStreamCaptureStatusNone;
    ok!(hipStreamIsCapturing(stream, &mut status));
    status != hipStreamCaptureStatusNone
}

/// Instantiates, launches on any stream, destroys at once.
fn run_once(w: &mut Worker<'_>, template: Template) -> hipStream_t {
    let (exec, stream) = (template.into_exec(), w.stream());
    ok!(hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec));
    stream
}

/// A side stream takes part between two events; what it does and what the origin does are both ordered before the end.
pub fn forks_and_joins(w: &mut Worker<'_>) {
    let [origin, side, _] = w.streams;
    let [a, b, c] = w.device;
    let (fork, join, word, other) = (new_event(), new_event(), w.word(), w.word());
    let (mode, forgotten) = (w.one_of(&MODES), w.below(8) == 0);
    let capture = Capture::begin(w, origin, mode);
    let record = || {
        // SAFETY: streams, events and memory of this thread.
        unsafe {
            done(hipMemsetD32Async(a, word as c_int, BYTES / 4, origin))?;
            done(hipEventRecord(fork, origin))?;
            done(hipStreamWaitEvent(side, fork, 0))?;
            done(hipMemcpyAsync(b, a, BYTES, hipMemcpyDefault, side))?;
            done(hipMemsetD32Async(c, other as c_int, BYTES / 4, origin))?;
            done(hipLaunchHostFunc(origin, Some(count), w.counter()))?;
            if !forgotten {
                done(hipEventRecord(join, side))?;
                done(hipStreamWaitEvent(origin, join, 0))?;
            }
            done(hipMemcpyAsync(a, c, BYTES, hipMemcpyDefault, origin))
        }
    };
    let recorded = record();
    if forgotten && recorded.is_ok() {
        let mut graph = hipGraph_t::NULL;
        // SAFETY: a stream, and a place for the graph.
        let ended = unsafe { hipStreamEndCapture(origin, &mut graph) };
        let broken = ended == hipErrorStreamCaptureInvalidated && mode == hipStreamCaptureModeGlobal;
        assert!(ended == hipErrorStreamCaptureUnjoined || broken, "{ended:?}");
    } else if let Some(template) = capture.end(recorded) {
        assert_eq!(template.nodes(), 5);
        let stream = run_once(w, template);
        w.expect_words(b, word, stream);
        w.expect_words(a, other, stream);
        assert_eq!(w.take_count(), 1);
    }
    assert!(!is_capturing(origin) && !is_capturing(side));
    ok!(hipEventDestroy(fork), hipEventDestroy(join));
}

/// What is captured comes behind the nodes that it is told to follow.
pub fn continues_in_a_graph(w: &mut Worker<'_>) {
    let ([origin, ..], [a, b, c]) = (w.streams, w.device);
    let (template, word) = (Template::new(), w.word());
    let filled = template.fill(&[], a, word);
    let ones = template.copy(&[], c, w.ones.cast());
    let mode = w.one_of(&MODES[1..]);
    ok!(hipStreamBeginCaptureToGraph(origin, template.0, &filled, ptr::null(), 1, mode));
    copy_async(b, a, origin);
    threes_async(a, origin);
    let mut graph = hipGraph_t::NULL;
    ok!(hipStreamEndCapture(origin, &mut graph));
    assert_eq!((graph, template.nodes()), (template.0, 4));
    template.doublings(ones, c, 2);
    let stream = run_once(w, template);
    w.expect_words(b, word, stream);
    w.expect_threes(a, word, stream);
    w.expect_doubled(c, 2, stream);
}

/// A relaxed capture belongs to no thread.
pub fn begins_what_others_end(w: &mut Worker<'_>) {
    let (stream, mut memory, word) = (independent_stream(), ptr::null_mut(), w.word());
    ok!(hipMalloc(&mut memory, BYTES), hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    fill_async(memory, word, stream);
    w.world.leave_open(Open { stream, memory, word });
    if w.world.open_captures() > OPEN {
        ends_what_others_began(w);
    }
}

/// Goes on with a capture of another thread, if there is one.
pub fn ends_what_others_began(w: &mut Worker<'_>) {
    let Some(open) = w.world.take_open() else { return };
    assert!(is_capturing(open.stream));
    let [copy, ..] = w.device;
    copy_async(copy, open.memory, open.stream);
    let (word, memory) = (open.word, open.memory);
    let (template, captured_on) = end(open);
    assert_eq!(template.nodes(), 2);
    let stream = run_once(w, template);
    w.expect_words(copy, word, stream);
    ok!(hipStreamDestroy(captured_on), hipFree(memory));
}

/// Ends a capture of whichever thread.
pub fn end(open: Open) -> (Template, hipStream_t) {
    let mut graph = hipGraph_t::NULL;
    ok!(hipStreamEndCapture(open.stream, &mut graph));
    (Template(graph), open.stream)
}

/// An allocation, by a thread that minds captures, breaks its own capture and those of others that are global.
pub fn breaks_a_capture(w: &mut Worker<'_>) {
    if w.below(3) > 0 {
        // Not so often that no global capture gets through.
        return forks_and_joins(w);
    }
    let ([origin, ..], [a, ..]) = (w.streams, w.device);
    let (mut mode, mut memory, mut graph) = (hipStreamCaptureModeGlobal, ptr::null_mut(), hipGraph_t::NULL);
    ok!(hipStreamBeginCapture(origin, hipStreamCaptureModeThreadLocal));
    fill_async(a, 1, origin);
    w.world.breaking.fetch_add(1, Ordering::SeqCst);
    ok!(hipThreadExchangeStreamCaptureMode(&mut mode));
    fails!(hipErrorStreamCaptureUnsupported, hipMalloc(&mut memory, BYTES));
    ok!(hipThreadExchangeStreamCaptureMode(&mut mode));
    w.world.broke.fetch_add(1, Ordering::SeqCst);
    assert_eq!(mode, hipStreamCaptureModeGlobal, "what the thread had in between");
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(origin, &mut graph));
    assert_eq!(graph, hipGraph_t::NULL);
    // The stream is as good as new.
    let word = w.word();
    fill_async(a, word, origin);
    w.expect_words(a, word, origin);
}

fn done(code: hipError_t) -> Result<(), hipError_t> {
    if code == hipSuccess { Ok(()) } else { Err(code) }
}
