//! Every call that a capture may forbid, walked through modes, threads and streams: its code, what becomes of the
//! capture, and whether a node appears, against the rules as CUDA's documentation of
//! `cudaThreadExchangeStreamCaptureMode`, its Programming Guide and "HIP 7.0 changes" state them, and what the default
//! stream may do as AMD's runtime of October 2024 has it. The rules are written here a second time, from the documents and
//! not from the table that the runtime has.

mod calls;

use std::{collections::HashSet, thread};

use aqlipse::capture::Class;
use capi::{capture_rules, error::*, symbols, types::*};

use self::calls::{CALLS, Call, Fixture};
use super::*;

/// What the documents say a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A kernel for a stream, which becomes a node.
    Launch,
    /// Other work for a stream, which becomes a node.
    Node,
    /// An event's business with a stream: no node.
    Mark,
    /// Asks for a stream's capture.
    Asks,
    /// Waits for a stream, or asks how far it is.
    Waits,
    /// Asks or waits for an event that was recorded in the capture.
    EventInside,
    /// Waits for one that was not.
    EventOutside,
    /// Waits for the device.
    Device,
    /// Potentially unsafe.
    Unsafe,
    /// Synchronous, on the legacy stream.
    Synchronous,
    /// Synchronous, on the thread's own stream.
    OnThreadStream,
    /// Adds a callback to a stream.
    Callback,
    /// Work for a stream that no node holds.
    NoNode,
    /// A copy on a stream that waits; potentially unsafe, too.
    CopyAndWait,
    /// None of a capture's business.
    Harmless,
}

impl Kind {
    fn takes_stream(self) -> bool {
        use Kind::*;
        matches!(self, Launch | Node | Mark | Asks | Waits | Callback | NoNode | CopyAndWait)
    }
}

/// Which stream is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Captured {
    Blocking,
    NonBlocking,
    PerThread,
}

/// Which stream the call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Captured,
    OtherBlocking,
    OtherNonBlocking,
    Null,
    Legacy,
    PerThread,
}

/// What the named stream is to the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Capturing,
    Bystander,
    Legacy,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    mode: hipStreamCaptureMode,
    captured: Captured,
    own_thread: bool,
    thread_mode: hipStreamCaptureMode,
    /// `None` for a call that names no stream.
    target: Option<Target>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    code: hipError_t,
    /// Whether the capture can still become a graph.
    valid: bool,
    nodes: usize,
}

const GLOBAL: hipStreamCaptureMode = hipStreamCaptureModeGlobal;
const RELAXED: hipStreamCaptureMode = hipStreamCaptureModeRelaxed;
const MODES: [hipStreamCaptureMode; 3] = [GLOBAL, hipStreamCaptureModeThreadLocal, RELAXED];

impl Cell {
    /// Whether the calling thread is prohibited from potentially unsafe calls.
    fn is_prohibited(&self) -> bool {
        match (self.thread_mode, self.own_thread) {
            (RELAXED, _) => false,
            (_, true) => self.mode != RELAXED,
            (GLOBAL, false) => self.mode == GLOBAL,
            (_, false) => false,
        }
    }

    fn role(&self, target: Target, spt: bool) -> Role {
        let own = self.own_thread && self.captured == Captured::PerThread;
        match target {
            Target::Captured => Role::Capturing,
            Target::OtherBlocking | Target::OtherNonBlocking => Role::Bystander,
            Target::Legacy => Role::Legacy,
            Target::Null if !spt => Role::Legacy,
            Target::Null | Target::PerThread => {
                if own {
                    Role::Capturing
                } else {
                    Role::Bystander
                }
            }
        }
    }

    fn predict(&self, call: &Call) -> Outcome {
        const FINE: Outcome = Outcome { code: hipSuccess, valid: true, nodes: 0 };
        let broken = |code| Outcome { code, valid: false, nodes: 0 };
        let unless_prohibited =
            if self.is_prohibited() { broken(hipErrorStreamCaptureUnsupported) } else { FINE };
        let implicit = broken(hipErrorStreamCaptureImplicit);
        // The legacy stream waits for every blocking one; a thread's own stream is one.
        let implicit_if_blocking = if self.captured == Captured::NonBlocking { FINE } else { implicit };
        let role = self.target.map(|target| self.role(target, call.name.ends_with("_spt")));
        match (call.kind, role) {
            (Kind::Launch | Kind::Node, Some(Role::Capturing)) => Outcome { nodes: 1, ..FINE },
            (Kind::Asks, Some(Role::Legacy)) => Outcome { valid: true, ..implicit_if_blocking },
            (Kind::Launch, Some(Role::Legacy)) => implicit_if_blocking,
            (Kind::Launch | Kind::Node | Kind::Mark | Kind::Asks, _) => FINE,
            (Kind::Waits | Kind::Callback | Kind::NoNode, Some(Role::Capturing)) => {
                broken(hipErrorStreamCaptureUnsupported)
            }
            (Kind::Waits, Some(Role::Legacy)) => FINE,
            (Kind::Callback, Some(Role::Legacy)) => implicit_if_blocking,
            (Kind::Callback | Kind::NoNode, _) => FINE,
            (Kind::Waits | Kind::EventOutside | Kind::Unsafe, _) => unless_prohibited,
            (Kind::CopyAndWait, _) if unless_prohibited != FINE => unless_prohibited,
            (Kind::CopyAndWait, Some(Role::Capturing)) => broken(hipErrorStreamCaptureUnsupported),
            (Kind::CopyAndWait, Some(Role::Legacy)) => implicit,
            (Kind::CopyAndWait, _) => FINE,
            (Kind::EventInside, _) => broken(hipErrorCapturedEvent),
            (Kind::Device, _) => broken(hipErrorStreamCaptureUnsupported),
            (Kind::Synchronous, _) => implicit,
            (Kind::OnThreadStream, _) if self.role(Target::PerThread, true) == Role::Capturing => {
                broken(hipErrorStreamCaptureUnsupported)
            }
            (Kind::OnThreadStream | Kind::Harmless, _) => FINE,
        }
    }

    /// Makes the call while a capture is open, and ends that.
    fn walk(&self, call: &Call, fixture: &Fixture) -> Outcome {
        let streams = fixture.streams(self.captured == Captured::NonBlocking);
        let captured =
            if self.captured == Captured::PerThread { hipStreamPerThread } else { streams.captured };
        let target = match self.target {
            Some(Target::Captured) => captured,
            Some(Target::OtherBlocking) => streams.blocking,
            Some(Target::OtherNonBlocking) => streams.non_blocking,
            Some(Target::Null) | None => hipStream_t::NULL,
            Some(Target::Legacy) => hipStreamLegacy,
            Some(Target::PerThread) => hipStreamPerThread,
        };
        let prepared = (call.prepare)(fixture);
        ok!(
            calls::hipStreamBeginCapture(captured, self.mode),
            calls::hipEventRecord(fixture.inside, captured)
        );
        let make = || {
            let mut mode = self.thread_mode;
            ok!(calls::hipThreadExchangeStreamCaptureMode(&mut mode));
            let code = (call.make)(fixture, target, prepared as *mut c_void);
            ok!(calls::hipThreadExchangeStreamCaptureMode(&mut mode));
            code
        };
        let code = match self.own_thread {
            true => make(),
            false => thread::scope(|scope| scope.spawn(make).join().unwrap()),
        };
        let (mut status, mut graph, mut nodes) = (hipStreamCaptureStatusNone, hipGraph_t(1), 0);
        ok!(calls::hipStreamIsCapturing(captured, &mut status));
        // SAFETY: a stream of ours and a place for the graph.
        let ended = unsafe { calls::hipStreamEndCapture(captured, &mut graph) };
        let valid = status == hipStreamCaptureStatusActive;
        assert_eq!(ended, if valid { hipSuccess } else { hipErrorStreamCaptureInvalidated }, "{self:?}");
        if valid {
            ok!(
                calls::hipGraphGetNodes(graph, std::ptr::null_mut(), &mut nodes),
                calls::hipGraphDestroy(graph)
            );
        } else {
            assert_eq!((status, graph), (hipStreamCaptureStatusInvalidated, hipGraph_t::NULL), "{self:?}");
        }
        ok!(
            hipStreamDestroy(streams.captured),
            hipStreamDestroy(streams.blocking),
            hipStreamDestroy(streams.non_blocking),
        );
        Outcome { code, valid, nodes }
    }
}

/// The cells that a call has: it names a stream, or does not.
fn cells(call: &Call) -> Vec<Cell> {
    use Target::*;
    let all: &[Target] = &[Captured, OtherBlocking, OtherNonBlocking, Null, Legacy, PerThread];
    let mut cells = Vec::new();
    for mode in MODES {
        for captured in [self::Captured::Blocking, self::Captured::NonBlocking, self::Captured::PerThread] {
            for (own_thread, thread_mode) in
                [true, false].into_iter().flat_map(|own| MODES.map(|mode| (own, mode)))
            {
                let cell = |target| Cell { mode, captured, own_thread, thread_mode, target };
                if !call.kind.takes_stream() {
                    cells.push(cell(None));
                    continue;
                }
                let reachable = |target: &&Target| {
                    // Another thread means its own stream by the handle of the per-thread one.
                    let named = **target != Captured || own_thread || captured != self::Captured::PerThread;
                    named && !(call.no_null && matches!(target, Null | Legacy))
                };
                cells.extend(all.iter().filter(reachable).map(|target| cell(Some(*target))));
            }
        }
    }
    cells
}

// proves: hipThreadExchangeStreamCaptureMode
#[test]
fn every_call_does_in_a_capture_what_the_documents_say() {
    let fixture = Fixture::new();
    let (mut walked, mut wrong) = (0, Vec::new());
    for call in CALLS {
        for cell in cells(call) {
            let (expected, mut found) = (cell.predict(call), cell.walk(call, &fixture));
            // Work of earlier cells may still be on its way.
            if found.code == hipErrorNotReady && expected.code == hipSuccess {
                found.code = hipSuccess;
            }
            if found != expected {
                wrong.push(format!("{}: {cell:?}: expected {expected:?}, found {found:?}", call.name));
            }
            walked += 1;
        }
        ok!(calls::hipDeviceSynchronize());
    }
    assert!(
        wrong.is_empty(),
        "{} of {walked} cells, such as\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    assert!(walked > 10_000, "{walked}");
}

#[test]
fn every_call_that_a_capture_may_refuse_is_walked_or_says_why_not() {
    let walked: HashSet<&str> = CALLS.iter().map(|call| call.name).collect();
    let excused: HashSet<&str> =
        calls::UNWALKED.iter().flat_map(|(names, _)| names.split_whitespace()).collect();
    for symbol in symbols::all() {
        let (name, Some(rule)) = (symbol.name, symbol.capture) else { continue };
        assert!(
            rule.class == Class::Allowed || walked.contains(name) != excused.contains(name),
            "{name} ({:?}) is to be walked or excused, and not both",
            rule.class
        );
    }
    for name in walked.iter().chain(&excused) {
        assert!(capture_rules::rule(name).is_some(), "{name} is not exported, or has no rule");
    }
}

#[test]
fn every_export_that_has_to_do_with_streams_memory_or_graphs_has_a_rule() {
    let classes = [
        "stream",
        "stream-capture",
        "event",
        "memory",
        "mempool/async",
        "module/launch",
        "device",
        "graph",
        "graph-conditional",
        "spt",
        "peer/ipc",
        "virtual-memory",
        "external-interop",
        "exec-context",
    ];
    let rows = include_str!("../../../exports.tsv").lines().skip(1);
    let mut count = 0;
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        if classes.contains(&columns[3]) {
            assert_ne!(columns[5], "none", "{} has no rule", columns[0]);
            count += 1;
        }
    }
    assert!(count > 400, "{count}");
}
