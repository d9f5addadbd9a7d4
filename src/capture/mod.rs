//! Stream capture: calls on streams become nodes of a graph instead of work. The streams of a session may be of several
//! devices: each node is placed on its stream's.
//!
//! | module | what it holds |
//! |---|---|
//! | `rules` | which calls a capture forbids to whom |
//! | this one | sessions: begin, fork, join, end |

mod rules;

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread::ThreadId,
};

pub use rules::{
    Mode, blocks_default_stream, check_default_stream, check_unsafe_call, exchange_thread_mode,
    refuse_callback, refuse_device_synchronize,
};

use crate::{
    GraphNode,
    error::{CaptureError, Error, Result, explain},
    event::Event,
    graph::NodeId,
    stream::{Stream, StreamInner, StreamKind},
    template::Template,
    typed::Alive,
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
    state: Mutex<State>,
}

struct State {
    /// The sentence that says which call broke the capture.
    broken: Option<String>,
    over: bool,
    members: Vec<Weak<StreamInner>>,
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
    session: Arc<Session>,
    dependencies: Vec<NodeId>,
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
    /// The graph under construction.
    pub template: SharedTemplate,
    /// What the next captured node will depend on.
    pub dependencies: Vec<NodeId>,
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

    /// Spoils the capture, keeping the first reason.
    pub(crate) fn break_by(&self, reason: &str) {
        explain(format_args!("stream capture {} is invalid now: {reason}", self.id));
        self.state().broken.get_or_insert_with(|| reason.to_owned());
    }
}

/// Begins to capture `stream` into a new graph, or into `into` behind `dependencies`.
///
/// # Errors
/// [`CaptureError::Unsupported`] for the default stream, [`Error::IllegalState`] if the stream captures already.
pub fn begin(stream: &Stream, mode: Mode, into: Option<(SharedTemplate, Vec<NodeId>)>) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if stream.kind() == StreamKind::Legacy {
        explain("the default stream cannot be captured: capture a created stream");
        return Err(CaptureError::Unsupported.into());
    }
    let (template, dependencies) =
        into.unwrap_or_else(|| (Arc::new(Mutex::new(Template::new(stream.device()))), Vec::new()));
    let session = Arc::new(Session {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        mode,
        thread: std::thread::current().id(),
        origin: stream.id(),
        template,
        state: Mutex::new(State { broken: None, over: false, members: vec![Arc::downgrade(&stream.0)] }),
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

/// Ends the capture that was begun on `stream` and returns its graph.
///
/// # Errors
/// [`Error::IllegalState`] if the stream does not capture, [`CaptureError::Unmatched`] on a stream that joined
/// by an event, [`CaptureError::WrongThread`], [`CaptureError::Unjoined`], [`CaptureError::Invalidated`].
/// After the last two the streams no longer capture and the graph is gone.
pub fn end(stream: &Stream) -> Result<SharedTemplate> {
    let (session, dependencies) = stream.with_capture(|capture| {
        let member = capture.as_ref().ok_or(Error::IllegalState("the stream does not capture"))?;
        Ok::<_, Error>((member.session.clone(), member.dependencies.clone()))
    })?;
    if session.origin != stream.id() {
        explain(
            "the capture must end on the stream on which it began, not on one that an event joined to it",
        );
        return Err(CaptureError::Unmatched.into());
    }
    if session.mode != Mode::Relaxed && session.thread != std::thread::current().id() {
        explain("a capture that is not relaxed must end in the thread that began it");
        return Err(CaptureError::WrongThread.into());
    }
    let tips = close(&session, stream.id());
    if let Some(reason) = session.state().broken.clone() {
        explain(format_args!("stream capture {} had been invalidated: {reason}", session.id));
        return Err(CaptureError::Invalidated.into());
    }
    let joined = {
        let template = lock(&session.template);
        let before = ancestors(&template, &dependencies);
        tips.iter().all(|tip| before.contains(tip) || !template.graph().topology().contains(*tip))
    };
    if !joined {
        explain("a forked stream has work that no event brought back to the stream that began the capture");
        return Err(CaptureError::Unjoined.into());
    }
    Ok(session.template.clone())
}

/// Takes every stream out of the session; returns what the forked ones had captured last.
fn close(session: &Arc<Session>, origin: u64) -> Vec<NodeId> {
    rules::leave(session);
    let members = {
        let mut state = session.state();
        state.over = true;
        std::mem::take(&mut state.members)
    };
    let mut tips = Vec::new();
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

/// Ends a capture whose stream `id` goes away: without the stream on which it began nobody could.
pub(crate) fn abandon(id: u64, member: Membership) {
    let session = member.session;
    if session.origin != id {
        return;
    }
    session.break_by("the stream on which the capture began was destroyed");
    drop(close(&session, id));
}

/// Adds a node behind what `stream` captured last.
pub(crate) fn record(stream: &Stream, node: GraphNode) -> Result<()> {
    extend(stream, |template, dependencies| template.add_on(stream.device(), node, dependencies)).map(drop)
}

/// Lets the captured graph keep `objects` alive.
pub(crate) fn keep(stream: &Stream, objects: &[Alive]) -> Result<()> {
    stream.with_capture(|capture| {
        let member = capture.as_ref().ok_or(Error::IllegalState("the stream does not capture"))?;
        lock(&member.session.template).keep(objects);
        Ok(())
    })
}

/// Lets `add` put one node behind what `stream` captured last.
pub(crate) fn extend<T>(
    stream: &Stream,
    add: impl FnOnce(&mut Template, &[NodeId]) -> Result<(NodeId, T)>,
) -> Result<T> {
    stream.with_capture(|capture| {
        let member = capture.as_mut().ok_or(Error::IllegalState("the stream does not capture"))?;
        if member.session.is_broken() {
            return Err(CaptureError::Invalidated.into());
        }
        let added = add(&mut lock(&member.session.template), &member.dependencies);
        match added {
            Ok((node, value)) => {
                member.dependencies = vec![node];
                Ok(value)
            }
            Err(error) => {
                member.session.break_by(&format!("a captured call failed: {error}"));
                Err(error)
            }
        }
    })
}

/// Puts the stream's place in its capture into `event`; `false` if it does not capture.
pub(crate) fn record_event(stream: &Stream, event: &Event) -> Result<bool> {
    stream.with_capture(|capture| {
        let Some(member) = capture else { return Ok(false) };
        if member.session.is_broken() {
            return Err(CaptureError::Invalidated.into());
        }
        event.set_captured(Captured {
            session: member.session.clone(),
            dependencies: member.dependencies.clone(),
        });
        Ok(true)
    })
}

/// Joins `stream` to the capture that `event` was recorded in; `None` if neither has to do with a capture.
pub(crate) fn wait_event(stream: &Stream, event: &Event) -> Option<Result<()>> {
    let captured = event.captured();
    let recorded = event.fence().is_some();
    stream.with_capture(|capture| match (capture.as_mut(), captured) {
        (None, None) => None,
        (Some(member), None) => Some(if recorded {
            member.session.break_by(
                "a capturing stream waited for an event that was recorded outside the capture; record it in a \
                 stream of the capture, or as an external event node",
            );
            Err(CaptureError::Isolation.into())
        } else {
            Ok(())
        }),
        (Some(member), Some(at)) => Some(if !Arc::ptr_eq(&member.session, &at.session) {
            member.session.break_by("a wait would merge two captures");
            at.session.break_by("a wait would merge two captures");
            Err(CaptureError::Merge.into())
        } else if member.session.is_broken() {
            Err(CaptureError::Invalidated.into())
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

fn join(stream: &Stream, capture: &mut Option<Membership>, at: Captured) -> Result<()> {
    let mut state = at.session.state();
    if state.over {
        explain("the event marks a place in a capture that has ended; record it again");
        return Err(CaptureError::CapturedEvent.into());
    }
    if state.broken.is_some() {
        return Err(CaptureError::Invalidated.into());
    }
    if stream.kind() == StreamKind::Legacy {
        drop(state);
        at.session.break_by("the default stream waited for an event of the capture");
        return Err(CaptureError::Unsupported.into());
    }
    state.members.push(Arc::downgrade(&stream.0));
    drop(state);
    *capture = Some(Membership { session: at.session, dependencies: at.dependencies });
    Ok(())
}

/// Spoils the capture that `stream` takes part in.
pub(crate) fn invalidate(stream: &Stream, what: &str) {
    stream.with_capture(|capture| {
        if let Some(member) = capture {
            member.session.break_by(&format!("{what} is not allowed while it is being captured"));
        }
    });
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
            dependencies: member.dependencies.clone(),
        })
    })
}

/// Replaces or extends what the next captured node of `stream` depends on.
///
/// # Errors
/// [`Error::IllegalState`] if the stream does not capture, [`Error::InvalidValue`] for a node of another graph.
pub fn update_dependencies(stream: &Stream, nodes: &[NodeId], replace: bool) -> Result<()> {
    stream.with_capture(|capture| {
        let member = capture.as_mut().ok_or(Error::IllegalState("the stream does not capture"))?;
        {
            let template = lock(&member.session.template);
            if nodes.iter().any(|node| !template.graph().topology().contains(*node)) {
                return Err(Error::InvalidValue("a dependency is no node of the captured graph"));
            }
        }
        if replace {
            member.dependencies.clear();
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
pub(crate) fn ancestors(template: &Template, nodes: &[NodeId]) -> HashSet<NodeId> {
    let mut found: HashSet<NodeId> = nodes.iter().copied().collect();
    let mut open: Vec<NodeId> = nodes.to_vec();
    while let Some(node) = open.pop() {
        if let Ok(dependencies) = template.graph().topology().dependencies(node) {
            open.extend(dependencies.filter(|d| found.insert(*d)));
        }
    }
    found
}

fn lock(template: &SharedTemplate) -> MutexGuard<'_, Template> {
    template.lock().unwrap_or_else(PoisonError::into_inner)
}
