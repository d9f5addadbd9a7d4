//! What the log says of calls that are refused: another process with `AQLIPSE_LOG=warn`, whose standard error is read.

use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::process::{again, role};

unsafe extern "C" {
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        node: *mut hipGraphNode_t,
        result: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;
}

/// The warnings of the test of this name in a process of its own, where it does its work.
fn warnings_of(test: &str) -> String {
    let output = again(test, "logging").env("AQLIPSE_LOG", "warn").output().expect("a process");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}{log}", String::from_utf8_lossy(&output.stdout));
    log
}

/// The one line of a log that contains `part`.
fn line_with<'l>(log: &'l str, part: &str) -> &'l str {
    let mut lines = log.lines().filter(|line| line.contains(part));
    match (lines.next(), lines.next()) {
        (Some(line), None) => line,
        found => panic!("{part:?} is in {found:?} of:\n{log}"),
    }
}

#[test]
fn a_broken_capture_is_explained_where_warnings_are_logged() {
    if role().is_none() {
        let log = warnings_of("reasons::a_broken_capture_is_explained_where_warnings_are_logged");
        // Where it happens, and again for who asks at the end.
        for what in ["is invalid now: hipMalloc in thread", "had been invalidated by hipMalloc in thread"] {
            let line = line_with(&log, what);
            assert!(line.starts_with("aqlipse: warning: "), "{line}");
            assert!(line.contains("; instead, allocate with hipMallocAsync"), "{line}");
        }
        return;
    }
    let (stream, mut graph, mut address) = (new_stream(), hipGraph_t::NULL, ptr::null_mut());
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    fails!(hipErrorStreamCaptureUnsupported, hipMalloc(&mut address, 64));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_refused_update_is_explained_where_warnings_are_logged() {
    if role().is_none() {
        let log = warnings_of("reasons::a_refused_update_is_explained_where_warnings_are_logged");
        let line = line_with(&log, "update refused");
        assert!(line.contains("it has 2 nodes, the executable has 1"), "{line}");
        return;
    }
    let graph_of = |nodes: usize| {
        let (mut graph, mut node) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
        ok!(hipGraphCreate(&mut graph, 0));
        (0..nodes).for_each(|_| ok!(hipGraphAddEmptyNode(&mut node, graph, ptr::null(), 0)));
        graph
    };
    let (mut exec, mut node) = (hipGraphExec_t::NULL, hipGraphNode_t::NULL);
    let mut result = hipGraphExecUpdateSuccess;
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph_of(1), 0));
    fails!(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(exec, graph_of(2), &mut node, &mut result));
    assert_eq!(result, hipGraphExecUpdateErrorTopologyChanged);
}
