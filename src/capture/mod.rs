//! Stream capture: calls on streams become nodes of a graph instead of work. The streams of a session may be of several
//! devices: each node is placed on its stream's.
//!
//! Streams and events know a session as a `Recorder`. What an open one forbids is decided in `stream`.

#[cfg(test)]
mod tests;

use std::{
    any::Any,
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::ThreadId,
};

use parking_lot::{Mutex, MutexGuard};
use timeline::{Details, recorder, track::Track};

pub use crate::stream::rules::{
    Call, Class, Mode, Rule, Status, admit, blocks_default_stream, check_default_launch,
    check_default_stream, check_unsafe_call, exchange_thread_mode, making, refuse_callback,
    refuse_device_synchronize, refuse_uncapturable,
};
use crate::{
    check::CaptureLog,
    device::{Device, Tool, checked, fence::Alive},
    error::{CaptureError, Error, Result, explain},
    graph::{Inside, Node, NodeId},
    memory::StreamPool,
    pool::graph_memory::AllocationOptions,
    stream::{
        Held, Membership, Recorder, Stream, StreamKind,
        rules::{self, Reason},
    },
    template::{Template, TemplateAt, ancestors},
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
    /// Whether the timeline has its beginning.
    is_recorded: bool,
    /// What its streams are told, if that is checked.
    log: Option<Arc<CaptureLog>>,
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
        self.state.lock()
    }

    /// Edits the graph that is captured into.
    fn edit<T>(&self, edit: impl FnOnce(&mut TemplateAt<'_>) -> Result<T>) -> Result<T> {
        edit(&mut self.template.lock().at(&self.path)?)
    }

    /// The session behind a stream's recorder.
    fn of(session: &Arc<dyn Recorder>) -> Arc<Self> {
        let session: Arc<dyn Any + Send + Sync> = session.clone();
        // PANIC: nothing else records streams.
        session.downcast().expect("a session of a capture")
    }
}

impl Recorder for Session {
    fn mode(&self) -> Mode {
        self.mode
    }

    fn thread(&self) -> ThreadId {
        self.thread
    }

    fn is_over(&self) -> bool {
        self.state().over
    }

    fn is_broken(&self) -> bool {
        self.state().broken.is_some()
    }

    fn break_by(&self, reason: &Reason) {
        let (id, mode, origin) = (self.id, self.mode, self.origin);
        explain(format_args!(
            "stream capture {id} (mode {mode:?}, begun on stream {origin}) is invalid now: {reason}"
        ));
        self.state().broken.get_or_insert_with(|| reason.to_string());
    }

    /// Spoils the capture and restrains no thread any more.
    fn lose_thread(&self) {
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

    fn join(&self, stream: &Stream) -> Result<bool> {
        let mut state = self.state();
        if state.over {
            return Ok(false);
        }
        if state.broken.is_some() {
            return Err(CaptureError::Invalidated.into());
        }
        state.members.push(Arc::downgrade(&stream.0));
        Ok(true)
    }

    /// Without the stream on which it began no call could end the capture. What another one had captured must still be
    /// joined.
    fn leave(&self, stream: u64, dependencies: Vec<NodeId>) {
        if self.origin != stream {
            self.state().tips_of_gone.extend(dependencies);
            return;
        }
        self.break_by(
            &Reason::new("destroying the stream", "a capture ends on the stream on which it began")
                .instead("end the capture first"),
        );
        drop(close(self, stream));
    }

    fn add(&self, device: &Device, node: Node, after: &[NodeId]) -> Result<NodeId> {
        self.edit(|graph| graph.on(device).add(node, after))
    }

    fn allocate(&self, pool: &StreamPool, bytes: u64, after: &[NodeId]) -> Result<(NodeId, u64)> {
        let options = AllocationOptions::of(pool);
        self.edit(|graph| graph.add_allocation_with(pool.device(), bytes, options, after))
    }

    fn free(&self, address: u64, after: &[NodeId]) -> Result<NodeId> {
        self.edit(|graph| graph.add_free(address, after))
    }

    fn log(&self) -> Option<&CaptureLog> {
        self.log.as_deref()
    }

    fn keep(&self, objects: &[Alive]) {
        self.template.lock().keep(objects);
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
    let log = checked::is_on(Tool::Graph).then(Arc::<CaptureLog>::default);
    let session = Arc::new(Session {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        mode,
        thread: std::thread::current().id(),
        origin: stream.id(),
        template,
        path,
        orphaned: AtomicBool::new(false),
        is_recorded: timeline::is_on(),
        log,
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
        if session.is_recorded {
            let details = Details::default().number("capture", session.id);
            recorder::begin(Track::Captures(session.origin), "capture", "capture", details);
        }
        if let Some(log) = &session.log {
            session.template.lock().captured_by(log);
        }
        let session: Arc<dyn Recorder> = session;
        rules::enter(&session);
        *capture = Some(Membership { session, dependencies });
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
        Ok::<_, Error>((Session::of(&member.session), member.dependencies.clone()))
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
fn close(session: &Session, origin: u64) -> Vec<NodeId> {
    rules::leave(session);
    let (members, mut tips) = {
        let mut state = session.state();
        state.over = true;
        if session.is_recorded {
            recorder::end_of(Track::Captures(session.origin), Details::default());
        }
        (std::mem::take(&mut state.members), std::mem::take(&mut state.tips_of_gone))
    };
    for member in members.iter().filter_map(Weak::upgrade).map(Stream) {
        let taken = member.with_capture(|capture| {
            let belongs = capture.as_ref().is_some_and(|m| ptr::addr_eq(Arc::as_ptr(&m.session), session));
            if belongs { capture.take() } else { None }
        });
        if member.id() != origin {
            tips.extend(taken.into_iter().flat_map(|m| m.dependencies));
        }
    }
    tips
}

/// Adds a copy of `child` as a node behind what `stream` captured last.
pub(crate) fn record_child(stream: &Stream, child: impl FnOnce() -> Result<Template>) -> Result<()> {
    stream.extend_capture(|session, after| {
        let child = child()?;
        let node = Session::of(session).edit(|graph| graph.add_child(&child, after))?;
        Ok((node, ()))
    })
}

/// Whether `stream` captures.
pub fn status(stream: &Stream) -> Status {
    stream.capture_status()
}

/// The capture that `stream` takes part in.
pub fn info(stream: &Stream) -> Option<Info> {
    stream.with_capture(|capture| {
        let member = capture.as_ref()?;
        let session = Session::of(&member.session);
        let broken = session.is_broken();
        Some(Info {
            status: if broken { Status::Invalidated } else { Status::Active },
            id: session.id,
            template: session.template.clone(),
            path: session.path.clone(),
            dependencies: member.dependencies.clone(),
            progress: Progress(Arc::downgrade(&session)),
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
        let session = Session::of(&member.session);
        if session.is_broken() {
            return Err(CaptureError::Invalidated.into());
        }
        session.edit(|graph| {
            let topology = graph.graph().topology();
            if nodes.len() > topology.node_count() || nodes.iter().any(|node| !topology.contains(*node)) {
                return Err(Error::InvalidValue("a dependency is no node of the captured graph"));
            }
            Ok(())
        })?;
        if replace {
            session.state().left_out.append(&mut member.dependencies);
        }
        for node in nodes {
            if !member.dependencies.contains(node) {
                member.dependencies.push(*node);
            }
        }
        Ok(())
    })
}
