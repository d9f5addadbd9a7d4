//! Stream capture: calls on streams become nodes of a graph instead of work. The streams of a session may be of several
//! devices: each node is placed on its stream's.
//!
//! | module | what it holds |
//! |---|---|
//! | [`calls`] | what a capture does to each call, and what to call instead |
//! | `rules` | which calls a capture forbids to whom |
//! | `reason` | why a capture is broken, as a sentence |
//! | this one | sessions: begin, fork, join, end |

pub mod calls;
mod reason;
mod rules;
#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::ThreadId,
};

pub(crate) use reason::Reason;
pub(crate) use rules::check_wait;
pub use rules::{
    Mode, admit, blocks_default_stream, check_default_launch, check_default_stream, check_unsafe_call,
    exchange_thread_mode, refuse_callback, refuse_device_synchronize, refuse_uncapturable,
};

use crate::{
    device::fence::Alive,
    error::{CaptureError, Error, Result, explain},
    event::Event,
    graph::{Graph, Inside, Node, NodeId},
    stream::{Held, Stream, StreamKind},
    template::{Subgraph, Template},
};

/// A template that a capture fills while others may look at it.
pub type SharedTemplate = Arc<Mutex<Template>>;

/// One capture sequence: the graph under construction and the streams that feed it.
pub struct Session {
    id: u64,
    mode: Mode,
    thread: ThreadId,
    origin: u64,
    template: SharedTemplate,
    /// The steps into nested graphs that lead from the template's graph to the one that is captured into, outermost first.
    path: Arc<[Inside]>,
    /// Whether any thread may end the capture, because the one that began it is gone.
    orphaned: AtomicBool,
    state: Mutex<State>,
}

struct State {
    /// The sentence that says which call broke the capture.
    broken: Option<String>,
    over: bool,
    members: Vec<Weak<Held>>,
    /// What streams that are gone had captured last.
    tips_of_gone: Vec<NodeId>,
    /// What its streams were told not to depend on any more: it counts as joined.
    left_out: Vec<NodeId>,
}

/// A stream's part in a session.
pub(crate) struct Membership {
    session: Arc<Session>,
    /// What the next captured node depends on.
    dependencies: Vec<NodeId>,
}

/// A point of a session that an event stands for.
#[derive(Clone)]
pub(crate) struct Captured {
    /// Its streams hold it until it is over. An event must not: the graph of the session may hold the event.
    session: Weak<Session>,
    dependencies: Vec<NodeId>,
}

impl Captured {
    /// Whether the capture has ended: the point is one of a graph then, which the event does not stand for.
    pub(crate) fn is_over(&self) -> bool {
        self.session.upgrade().is_none_or(|session| session.is_over())
    }
}

/// Whether a stream captures, and whether the capture is still good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not capturing.
    None,
    /// Capturing.
    Active,
    /// Capturing into a graph that an illegal call has spoilt; only ending the capture helps.
    Invalidated,
}

/// What a capturing stream can be asked.
pub struct Info {
    /// Whether the capture is still good.
    pub status: Status,
    /// Unique over the process; equal for all streams of a session.
    pub id: u64,
    /// The graph under construction, or one that it is nested in.
    pub template: SharedTemplate,
    /// The steps into nested graphs that lead from `template` to the graph under construction, outermost first.
    pub path: Arc<[Inside]>,
    /// What the next captured node will depend on.
    pub dependencies: Vec<NodeId>,
    /// Tells when the capture is over.
    pub progress: Progress,
}

/// Tells of a capture whether it is over.
#[derive(Clone)]
pub struct Progress(Weak<Session>);

impl Progress {
    /// Whether the capture has ended, or went with the stream that it was begun on.
    pub fn is_over(&self) -> bool {
        self.0.upgrade().is_none_or(|session| session.is_over())
    }
}

impl Session {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_broken(&self) -> bool {
        self.state().broken.is_some()
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    fn is_over(&self) -> bool {
        self.state().over
    }

    /// Spoils the capture, keeping the first reason.
    pub(crate) fn break_by(&self, reason: &Reason) {
        let (id, mode, origin) = (self.id, self.mode, self.origin);
        explain(format_args!(
            "stream capture {id} (mode {mode:?}, begun on stream {origin}) is invalid now: {reason}"
        ));
        self.state().broken.get_or_insert_with(|| reason.to_string());
    }

    /// Spoils the capture because the only thread that could end it is gone, and restrains nobody any more.
    fn leave_to_anybody(self: &Arc<Self>) {
        if self.is_over() {
            return;
        }
        self.break_by(
            &Reason::new(
                "the end of the thread",
                "only the thread that begins a capture ends it, unless it is relaxed",
            )
            .instead("end the capture before the thread ends, or capture in relaxed mode"),
        );
        self.orphaned.store(true, Ordering::Release);
        rules::leave(self);
    }

    /// Edits the graph that is captured into.
    fn edit<T>(&self, edit: impl FnOnce(&mut Subgraph<'_>) -> Result<T>) -> Result<T> {
        edit(&mut lock(&self.template).at(&self.path)?)
    }
}

/// Begins to capture `stream` into a new graph, or into `into` behind `dependencies`.
///
/// # Errors
/// [`CaptureError::Unsupported`] for the default stream, [`Error::IllegalState`] if the stream captures already.
pub fn begin(stream: &Stream, mode: Mode, into: Option<(SharedTemplate, Vec<NodeId>)>) -> Result<()> {
    let (template, dependencies) =
        into.unwrap_or_else(|| (Arc::new(Mutex::new(Template::new(stream.device()))), Vec::new()));
    begin_inside(stream, mode, template, Arc::default(), dependencies)
}

/// Begins to capture `stream` into the graph that `path` leads to in `template`, behind `dependencies`.
///
/// # Errors
/// As [`begin`].
pub fn begin_inside(
    stream: &Stream,
    mode: Mode,
    template: SharedTemplate,
    path: Arc<[Inside]>,
    dependencies: Vec<NodeId>,
) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if stream.kind() == StreamKind::Legacy {
        explain(
            Reason::new("beginning a capture", "the default stream cannot be captured")
                .on(stream)
                .instead("capture a stream that was created, or the thread's own"),
        );
        return Err(CaptureError::Unsupported.into());
    }
    let session = Arc::new(Session {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        mode,
        thread: std::thread::current().id(),
        origin: stream.id(),
        template,
        path,
        orphaned: AtomicBool::new(false),
        state: Mutex::new(State {
            broken: None,
            over: false,
            members: vec![Arc::downgrade(&stream.0)],
            tips_of_gone: Vec::new(),
            left_out: Vec::new(),
        }),
    });
    stream.with_capture(|capture| {
        if capture.is_some() {
            return Err(Error::IllegalState("the stream captures already"));
        }
        *capture = Some(Membership { session: session.clone(), dependencies });
        rules::enter(&session);
        Ok(())
    })
}

/// Ends the capture that was begun on `stream` and returns its graph, or the one that it is nested in.
///
/// # Errors
/// [`Error::IllegalState`] if the stream does not capture, [`CaptureError::Unmatched`] on a stream that joined
/// by an event, [`CaptureError::WrongThread`], [`CaptureError::Unjoined`], [`CaptureError::Invalidated`].
/// After the last two the streams no longer capture and the graph is gone.
pub fn end(stream: &Stream) -> Result<SharedTemplate> {
    const CALL: &str = "ending a capture";
    let (session, mut joined) = stream.with_capture(|capture| {
        let member = capture.as_ref().ok_or(Error::IllegalState("the stream does not capture"))?;
        Ok::<_, Error>((member.session.clone(), member.dependencies.clone()))
    })?;
    if session.origin != stream.id() {
        explain(
            Reason::new(CALL, "it does not end on a stream that an event joined to it")
                .on(stream)
                .instead("end it on the stream on which it began"),
        );
        return Err(CaptureError::Unmatched.into());
    }
    let elsewhere = session.thread != std::thread::current().id();
    if session.mode != Mode::Relaxed && elsewhere && !session.orphaned.load(Ordering::Acquire) {
        explain(
            Reason::new(CALL, "a capture that is not relaxed ends in the thread that began it")
                .on(stream)
                .instead("end it there, or capture in relaxed mode"),
        );
        return Err(CaptureError::WrongThread.into());
    }
    let tips = close(&session, stream.id());
    if let Some(reason) = session.state().broken.clone() {
        explain(format_args!("stream capture {} had been invalidated by {reason}", session.id));
        return Err(CaptureError::Invalidated.into());
    }
    joined.append(&mut session.state().left_out);
    let joined = session.edit(|graph| {
        let before = ancestors(graph.graph(), &joined);
        Ok(tips.iter().all(|tip| before.contains(tip) || !graph.graph().topology().contains(*tip)))
    })?;
    if !joined {
        explain(
            Reason::new(
                CALL,
                "a forked stream has work that no event brought back to the stream that began it",
            )
            .on(stream)
            .instead("record an event behind the last work of each forked stream and wait for it here"),
        );
        return Err(CaptureError::Unjoined.into());
    }
    Ok(session.template.clone())
}

/// Takes every stream out of the session; returns what the forked ones had captured last.
fn close(session: &Arc<Session>, origin: u64) -> Vec<NodeId> {
    rules::leave(session);
    let (members, mut tips) = {
        let mut state = session.state();
        state.over = true;
        (std::mem::take(&mut state.members), std::mem::take(&mut state.tips_of_gone))
    };
    for member in members.iter().filter_map(Weak::upgrade).map(Stream) {
        let taken = member.with_capture(|capture| {
            let belongs = capture.as_ref().is_some_and(|m| Arc::ptr_eq(&m.session, session));
            if belongs { capture.take() } else { None }
        });
        if member.id() != origin {
            tips.extend(taken.into_iter().flat_map(|m| m.dependencies));
        }
    }
    tips
}

/// Ends a capture whose stream `id` goes away: without the stream on which it began nobody could. What a forked one
/// had captured must still be joined.
pub(crate) fn abandon(id: u64, member: Membership) {
    let session = member.session;
    if session.origin != id {
        session.state().tips_of_gone.extend(member.dependencies);
        return;
    }
    session.break_by(
        &Reason::new("destroying the stream", "a capture ends on the stream on which it began")
            .instead("end the capture first"),
    );
    drop(close(&session, id));
}

/// Adds a node behind what `stream` captured last.
pub(crate) fn record(stream: &Stream, node: Node) -> Result<()> {
    extend_inside(stream, |session, after| {
        session.edit(|graph| Ok((graph.on(stream.device()).add(node, after)?, ())))
    })
}

/// Adds a copy of `child` as a node behind what `stream` captured last.
pub(crate) fn record_child(stream: &Stream, child: impl FnOnce() -> Result<Template>) -> Result<()> {
    extend_inside(stream, |session, after| {
        let child = child()?;
        session.edit(|graph| Ok((graph.add_child(&child, after)?, ())))
    })
}

/// Lets the captured graph keep `objects` alive.
pub(crate) fn keep(stream: &Stream, objects: &[Alive]) -> Result<()> {
    stream.with_capture(|capture| {
        let member = capture.as_ref().ok_or(Error::IllegalState("the stream does not capture"))?;
        lock(&member.session.template).keep(objects);
        Ok(())
    })
}

/// Lets `add` put one node that belongs to a whole template behind what `stream` captured last.
pub(crate) fn extend<T>(
    stream: &Stream,
    add: impl FnOnce(&mut Template, &[NodeId]) -> Result<(NodeId, T)>,
) -> Result<T> {
    extend_inside(stream, |session, after| match *session.path {
        [] => add(&mut lock(&session.template), after),
        _ => Err(Error::NotSupported("a memory node in a nested graph")),
    })
}

fn extend_inside<T>(
    stream: &Stream,
    add: impl FnOnce(&Session, &[NodeId]) -> Result<(NodeId, T)>,
) -> Result<T> {
    stream.with_capture(|capture| {
        let member = capture.as_mut().ok_or(Error::IllegalState("the stream does not capture"))?;
        if member.session.is_broken() {
            return Err(CaptureError::Invalidated.into());
        }
        match add(&member.session, &member.dependencies) {
            Ok((node, value)) => {
                member.dependencies = vec![node];
                Ok(value)
            }
            Err(error) => {
                member.session.break_by(
                    &Reason::new(
                        "a captured call",
                        format!("it failed, and the graph would lack it: {error}"),
                    )
                    .on(stream)
                    .instead("find out before the capture whether it can succeed"),
                );
                Err(error)
            }
        }
    })
}

/// Puts the stream's place in its capture into `event`; `false` if it does not capture.
pub(crate) fn record_event(stream: &Stream, event: &Event) -> Result<bool> {
    stream.with_capture(|capture| {
        let Some(member) = capture else { return Ok(false) };
        // HIP: 5.2.3 and the runtime of October 2024 take events in a broken capture, too
        // (tests/conformance/capture_after_invalidation.cpp).
        event.set_captured(Captured {
            session: Arc::downgrade(&member.session),
            dependencies: member.dependencies.clone(),
        });
        Ok(true)
    })
}

/// Joins `stream` to the capture that `event` was recorded in; `None` if neither has to do with a capture. A wait that is
/// refused changes nothing.
pub(crate) fn wait_event(stream: &Stream, event: &Event) -> Option<Result<()>> {
    let captured = event.captured();
    let recorded = event.fence().is_some();
    stream.with_capture(|capture| match (capture.as_mut(), captured) {
        (None, None) => None,
        // HIP: 5.2.3 and the runtime of October 2024 refuse an event that was recorded before the capture began, and let
        // the capture go on (tests/conformance/capture_isolation.cpp).
        (Some(_), None) => Some(if recorded {
            explain(Reason::new(WAITING, "the event was recorded outside the capture").on(stream).instead(
                "record it on a stream of the capture, wait for it before the capture, or wait with \
                     hipEventWaitExternal",
            ));
            Err(CaptureError::Isolation.into())
        } else {
            Ok(())
        }),
        (Some(member), Some(at)) => Some(if !ptr::eq(Arc::as_ptr(&member.session), at.session.as_ptr()) {
            explain(Reason::new(WAITING, "the event belongs to another capture").on(stream).instead(
                "fork both from one capture, or end them apart and join their graphs as child graphs",
            ));
            Err(CaptureError::Merge.into())
        } else {
            for node in at.dependencies {
                if !member.dependencies.contains(&node) {
                    member.dependencies.push(node);
                }
            }
            Ok(())
        }),
        (None, Some(at)) => Some(join(stream, capture, at)),
    })
}

/// What a wait for an event goes by where no exported call names it.
const WAITING: &str = "waiting for an event";

fn join(stream: &Stream, capture: &mut Option<Membership>, at: Captured) -> Result<()> {
    if stream.kind() == StreamKind::Legacy {
        // HIP: as the runtime of October 2024, which lets the capture go on
        // (tests/conformance/capture_legacy_waits.cpp).
        explain(
            Reason::new(WAITING, "the default stream cannot join a capture")
                .on(stream)
                .instead("wait on a stream that was created, or on the thread's own"),
        );
        return Err(Error::InvalidHandle);
    }
    // An event of a capture that has ended stands for nothing.
    let Some(session) = at.session.upgrade() else { return Ok(()) };
    let mut state = session.state();
    if state.over {
        return Ok(());
    }
    if state.broken.is_some() {
        return Err(CaptureError::Invalidated.into());
    }
    state.members.push(Arc::downgrade(&stream.0));
    drop(state);
    *capture = Some(Membership { session, dependencies: at.dependencies });
    Ok(())
}

/// Spoils the capture that `stream` takes part in; `false` if it takes part in none.
pub(crate) fn invalidate(stream: &Stream, reason: impl FnOnce() -> Reason) -> bool {
    if !stream.is_capturing() {
        return false;
    }
    stream.with_capture(|capture| {
        if let Some(member) = capture {
            let reason = reason();
            member.session.break_by(&if reason.has_stream() { reason } else { reason.on(stream) });
        }
        capture.is_some()
    })
}

/// Spoils the capture that a captured event belongs to: the host asked for the event, or waited for it.
///
/// HIP documents the code only, and AMD's 5.2.3 says that the event has been reached and captures on
/// (`tests/conformance/capture_prohibited_events.cpp`), which is an answer about work that was never submitted. CUDA's
/// guide calls the question invalid, and has any invalid operation invalidate the capture that it concerns; so it was
/// measured (ADR 24). To capture on would spare nobody: who is refused here is a program that waits for work of the
/// capture, and whose graph would be launched without the wait.
pub(crate) fn refuse_captured_event(captured: &Captured, call: &str) -> CaptureError {
    if let Some(session) = captured.session.upgrade().filter(|session| !session.is_over()) {
        session.break_by(&Reason::of(call, calls::Class::WaitsEvent));
    }
    CaptureError::CapturedEvent
}

/// Whether `stream` captures.
pub fn status(stream: &Stream) -> Status {
    stream.with_capture(|capture| match capture {
        None => Status::None,
        Some(member) if member.session.is_broken() => Status::Invalidated,
        Some(_) => Status::Active,
    })
}

/// The capture that `stream` takes part in.
pub fn info(stream: &Stream) -> Option<Info> {
    stream.with_capture(|capture| {
        let member = capture.as_ref()?;
        let broken = member.session.is_broken();
        Some(Info {
            status: if broken { Status::Invalidated } else { Status::Active },
            id: member.session.id,
            template: member.session.template.clone(),
            path: member.session.path.clone(),
            dependencies: member.dependencies.clone(),
            progress: Progress(Arc::downgrade(&member.session)),
        })
    })
}

/// Replaces or extends what the next captured node of `stream` depends on. What is replaced need not be joined.
///
/// # Errors
/// [`Error::IllegalState`] if the stream does not capture, [`Error::InvalidValue`] for a node of another graph,
/// [`CaptureError::Invalidated`].
pub fn update_dependencies(stream: &Stream, nodes: &[NodeId], replace: bool) -> Result<()> {
    stream.with_capture(|capture| {
        let member = capture.as_mut().ok_or(Error::IllegalState("the stream does not capture"))?;
        if member.session.is_broken() {
            return Err(CaptureError::Invalidated.into());
        }
        member.session.edit(|graph| {
            let topology = graph.graph().topology();
            if nodes.len() > topology.node_count() || nodes.iter().any(|node| !topology.contains(*node)) {
                return Err(Error::InvalidValue("a dependency is no node of the captured graph"));
            }
            Ok(())
        })?;
        if replace {
            member.session.state().left_out.append(&mut member.dependencies);
        }
        for node in nodes {
            if !member.dependencies.contains(node) {
                member.dependencies.push(*node);
            }
        }
        Ok(())
    })
}

/// `nodes` and everything that they depend on.
pub(crate) fn ancestors(graph: &Graph, nodes: &[NodeId]) -> HashSet<NodeId> {
    let mut found: HashSet<NodeId> = nodes.iter().copied().collect();
    let mut open: Vec<NodeId> = nodes.to_vec();
    while let Some(node) = open.pop() {
        if let Ok(dependencies) = graph.topology().dependencies(node) {
            open.extend(dependencies.filter(|d| found.insert(*d)));
        }
    }
    found
}

fn lock(template: &SharedTemplate) -> MutexGuard<'_, Template> {
    template.lock().unwrap_or_else(PoisonError::into_inner)
}
