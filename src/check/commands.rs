//! What the runtime is about to have done is announced: commands, allocations, frees.

#![forbid(unsafe_code)]

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

use emulator::{Config, How};
use parking_lot::Mutex;

use super::{
    allocations,
    command::{Command, Inside, Launch, MemoryNode, NodeDispatch, Place},
    finding::Finding,
    lives,
    made::Site,
    needless::Looked,
    state::{CHECKS, Checks},
    watcher::{IS_SHARED, Watcher, waited},
};
use crate::{
    device::{System, Tool, checked, clocks, timeline::Work},
    error::{Error, Result},
};

/// What launches are compared with, if they are checked.
fn checks() -> Option<&'static Checks> {
    System::get().is_ok_and(System::is_checked).then(|| {
        CHECKS.get_or_init(|| {
            emulator::observe(Box::new(Watcher));
            clocks::on_pass(waited);
            Checks { is_told: !checked::is_wanted(), state: Mutex::default() }
        })
    })
}

/// Has what devices do looked at from now on, if it is checked: before code runs there.
pub(crate) fn start() {
    let _ = checks();
}

/// A program that checks itself, for tests.
pub struct Checker(());

impl Checker {
    /// Has what this process does checked for some things from now on. Before the first device is asked for.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if the emulated devices exist already, or their configuration makes no sense.
    pub fn start(tools: &[Tool]) -> Result<Self> {
        let config = Config::from_env().and_then(|config| {
            emulator::configure(Config {
                observed: true,
                observed_races: [Tool::Race, Tool::SameValue].iter().any(|tool| tools.contains(tool)),
                observed_same_values: tools.contains(&Tool::SameValue),
                observed_bounds: tools.contains(&Tool::Memory),
                observed_sync: tools.contains(&Tool::Sync),
                observed_uninit: tools.contains(&Tool::Init),
                observed_host: [Tool::Graph, Tool::Memory].iter().any(|tool| tools.contains(tool)),
                ..config
            })
        });
        config.map_err(|error| Error::NotInitialized(error.to_string()))?;
        checked::want(tools);
        Ok(Self(()))
    }

    /// What was found since the last time, of launches that are over.
    pub fn take(&self) -> Vec<Finding> {
        CHECKS.get().map_or_else(Vec::new, |checks| std::mem::take(&mut checks.state.lock().found))
    }
}

/// Takes note of a launch that is about to be published on a stream. If no launch of the executable is in flight, `idle`, none of
/// these arguments is expected any more: a fault may have taken what was.
pub(crate) fn launched(stream: u64, launch: &Arc<Launch>, dispatches: Vec<NodeDispatch>, idle: bool) {
    let Some((checks, moment)) = checks().zip(clocks::command(stream)) else { return };
    let moment = launch.moment.get_or_init(|| moment);
    let mut state = checks.state.lock();
    if let Some(edges) = &launch.order.edges
        && state.executables.insert(launch.executable)
    {
        let places = dispatches.iter().map(|dispatch| dispatch.place);
        state.looked.push(Looked::new(launch, edges.preds.len(), places));
    }
    for NodeDispatch { arguments, place, node, what, inside, touches } in dispatches {
        let commands = state.expected.entry(arguments).or_default();
        if idle {
            commands.clear();
        }
        let place = Place::Node { launch: launch.clone(), place, node, inside };
        let command = Arc::new(Command { moment: moment.clone(), place, what });
        commands.push_back(command.clone());
        state.close(&command, touches);
    }
    let nodes = launch.order.memory.iter().filter(|_| watches_allocations());
    for &MemoryNode { address, begins, place, ref node } in nodes {
        let (node, inside) = (node.clone(), Inside::default());
        let place = Place::Node { launch: launch.clone(), place, node, inside };
        let what = if begins.is_some() { "allocation" } else { "free" }.into();
        let command = Arc::new(Command { moment: moment.clone(), place, what });
        match begins {
            Some(bytes) => {
                let site = allocations::table().and_then(|table| table.site(address));
                let bytes = address..address + bytes;
                if checked::is_on(Tool::Init) {
                    state.forgotten.push((command.clone(), bytes.clone()));
                }
                state.begin(bytes, Some(command), site);
            }
            None => state.end(address, &command),
        }
    }
    checks.tell(&mut state);
}

/// Takes note of a node that the host is about to dispatch within a launch, with arguments that no other dispatch has now.
pub(crate) fn dispatching(launch: &Arc<Launch>, dispatch: NodeDispatch) {
    let Some((checks, moment)) = CHECKS.get().zip(launch.moment.get()) else { return };
    let NodeDispatch { arguments, place, node, what, inside, touches } = dispatch;
    let place = Place::Node { launch: launch.clone(), place, node, inside };
    let command = Arc::new(Command { moment: moment.clone(), place, what });
    checks.state.lock().expect(arguments, command, touches);
}

/// Forgets the latest launch, which was not published.
pub(crate) fn cancel(launch: &Arc<Launch>) {
    let Some(checks) = CHECKS.get() else { return };
    let is_of = |command: &Command| matches!(&command.place, Place::Node { launch: of, .. } if Arc::ptr_eq(of, launch));
    let mut state = checks.state.lock();
    state.expected.values_mut().for_each(|commands| commands.retain(|command| !is_of(command)));
    state.forgotten.retain(|(command, _)| !is_of(command));
    for canceled in
        state.looked.extract_if(.., |looked| Arc::ptr_eq(&looked.launch, launch)).collect::<Vec<_>>()
    {
        state.executables.remove(&canceled.launch.executable);
    }
    state.lives.forget(is_of);
    state.closed.open(|one| is_of(&one.command));
}

/// Takes note of a kernel that a stream is about to publish, whether it is one of the runtime's own, and what it is known to
/// read and write.
#[inline(always)]
pub(crate) fn submitted(
    stream: u64,
    arguments: u64,
    (kernel, own): (&str, bool),
    touches: impl FnOnce() -> Vec<(How, Range<u64>)>,
) {
    let Some(moment) = clocks::command(stream) else { return };
    let Some(checks) = checks() else { return };
    let what = Work::of(kernel, own).describe();
    let command = Arc::new(Command { moment, place: Place::Stream, what });
    checks.state.lock().expect(arguments, command, touches());
}

/// Whether it is watched from when to when there are allocations.
#[inline(always)]
pub(crate) fn watches_allocations() -> bool {
    checked::is_any_on(&[Tool::Memory, Tool::Init, Tool::Race, Tool::SameValue, Tool::Sync])
}

/// Takes note of memory of the device in which allocations will begin: what is in none must not be touched, nor the bytes before
/// the memory if it is the HSA runtime's and `has_front`.
pub(crate) fn handed_out(memory: Range<u64>, has_front: bool) {
    if !checked::is_on(Tool::Memory) {
        return;
    }
    let Some(checks) = checks() else { return };
    let memory = if has_front { lives::with_front(memory) } else { memory };
    checks.state.lock().lives.hand_out(memory);
}

/// Kernels must not write these bytes, until they are [`released`].
pub(crate) fn kept_constant(bytes: Range<u64>) {
    if let Some(checks) = checks().filter(|_| checked::is_on(Tool::Memory)) {
        checks.state.lock().lives.keep_constant(bytes);
    }
}

/// An allocation begins, of which nothing is written yet if it `is_fresh`. `stream`: with the next command of a stream, and
/// for what comes behind that alone.
#[inline(always)]
pub(crate) fn begun(
    stream: Option<u64>,
    bytes: Range<u64>,
    is_fresh: bool,
    site: impl FnOnce() -> Option<Arc<Site>>,
) {
    if !watches_allocations() {
        return;
    }
    let Some(checks) = checks() else { return };
    let moment = stream.and_then(clocks::command);
    let command =
        moment.map(|moment| Arc::new(Command { moment, place: Place::Stream, what: "allocation".into() }));
    let mut state = checks.state.lock();
    match &command {
        _ if !is_fresh || !checked::is_on(Tool::Init) => {}
        Some(command) => state.forgotten.push((command.clone(), bytes.clone())),
        None => emulator::uninitialize(bytes.clone()),
    }
    state.begin(bytes, command, site());
}

/// An allocation ends: with the next command of a stream, or with a call of the host's, which is `drained` if it has waited
/// for all that was submitted.
#[inline(always)]
pub(crate) fn ended(stream: Option<u64>, address: u64, drained: bool) {
    if !watches_allocations() {
        return;
    }
    let Some(checks) = checks() else { return };
    let (moment, place) = match stream {
        Some(stream) => (clocks::command(stream), Place::Stream),
        None => (clocks::host_command(drained), Place::Host),
    };
    let Some(moment) = moment else { return };
    let command = Arc::new(Command { moment, place, what: "free".into() });
    let mut state = checks.state.lock();
    state.end(address, &command);
    checks.tell(&mut state);
}

/// Memory has gone back to the device: what may come to lie there has nothing to do with what was there.
///
/// Not to be called with the table of allocations locked, which findings are looked up in.
#[inline]
pub(crate) fn released(bytes: Range<u64>) {
    if !watches_allocations() {
        return;
    }
    let Some(checks) = checks() else { return };
    let mut state = checks.state.lock();
    state.forgotten.retain(|(_, forgotten)| !bytes.contains(&forgotten.start));
    if checked::is_on(Tool::Init) {
        emulator::written(bytes.clone());
    }
    state.lives.release(bytes);
}

/// Other processes may write these bytes from now on, which the emulated devices do not see.
pub(crate) fn shared(bytes: Range<u64>) {
    IS_SHARED.store(true, Ordering::Relaxed);
    if checked::is_on(Tool::Init) {
        emulator::written(bytes);
    }
}

/// The program frees what is no allocation.
#[cold]
pub(crate) fn freed_nothing(address: u64) {
    let Some(checks) = checks().filter(|_| checked::is_on(Tool::Memory)) else { return };
    let mut state = checks.state.lock();
    let again = state.lives.has_ended(address);
    state.found.push(Finding::BadFree { address, again, made: Site::here().look_up() });
    checks.tell(&mut state);
}
