//! What commands touch is compared as they end: with what others have touched (`AQLIPSE_CHECK=graph`), and with the
//! allocations (`memory`).

#![forbid(unsafe_code)]

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use emulator::{
    Asked, Awaited, Config, Deadlock, Dispatched, How, Observer, Page, RaceAccess, RaceByte, RaceFinding,
    Refused, Starting, SyncFinding, Touched, UninitByte, UninitFinding, UninitKind, os::hidden::HostAccess,
};
use parking_lot::Mutex;

use super::{
    allocations, captured, code,
    command::{Command, Inside, Launch, MemoryNode, NodeDispatch, Place, Touch},
    drawing::Marked,
    finding::{Bytes, Finding, Instruction, Misuse, Near, Pc},
    host::{self, Closed},
    lives::{self, Life, Lives, Offence},
    made::Site,
    needless::{Looked, Needless},
    report,
};
use crate::{
    device::{System, Tool, checked, clocks, timeline::Work},
    error::{Error, Result},
};

/// How long a thread that touches what it must not waits for the others.
const PATIENCE: Duration = Duration::from_secs(1);

static CHECKS: OnceLock<Checks> = OnceLock::new();

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
                observed_races: tools.contains(&Tool::Race),
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

struct Checks {
    /// Whether findings are told as they are made; otherwise a [`Checker`] takes them.
    is_told: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the address of its arguments, the commands of a dispatch that have not run.
    expected: HashMap<u64, VecDeque<Arc<Command>>>,
    /// What commands have touched of each page, by its first address, as far as it can still matter.
    pages: HashMap<u64, Vec<Touch>>,
    lives: Lives,
    closed: Closed,
    /// Allocations with the commands that they begin with, behind which no dispatch has started: what was there is forgotten
    /// when one does.
    forgotten: Vec<(Arc<Command>, Range<u64>)>,
    /// By the address of its arguments, the pointers that a dispatch that has started was given and that point nowhere.
    strays: HashMap<u64, Vec<Stray>>,
    /// Launches of which some dispatches have not ended, if their edges are looked at: the first of each executable.
    looked: Vec<Looked>,
    /// The executables of which there is one, or was.
    executables: HashSet<u64>,
    found: Vec<Finding>,
    /// The pairs that were told.
    known: HashSet<[String; 4]>,
}

/// A pointer among a kernel's arguments that points to no memory, or to memory that was freed.
struct Stray {
    /// Which argument it is.
    number: u32,
    address: u64,
    is_freed: bool,
}

/// The pointers of a dispatch that is about to start which point nowhere.
fn stray_pointers(lives: &Lives, command: &Arc<Command>, dispatch: &Starting<'_>) -> Vec<Stray> {
    let mut strays = Vec::new();
    for &(number, offset) in &*code::pointers(dispatch.kernel_object) {
        let Some(address) = (dispatch.word)(offset.into()).filter(|address| *address != 0) else { continue };
        let is_freed = lives.is_over(command, address);
        // What is right behind memory is its end.
        let is_somewhere = || [address, address - 1].into_iter().any(dispatch.is_memory);
        if is_freed || !is_somewhere() {
            strays.push(Stray { number, address, is_freed });
        }
    }
    strays
}

/// Bytes of a page that a command has touched, and one before it that nothing orders with it.
struct Conflict {
    with: Arc<Command>,
    bytes: Range<u64>,
    /// The bytes of the allocation.
    allocation: Range<u64>,
    /// How the one before has touched the first, and how the command.
    how: [How; 2],
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

/// The host has waited for something.
fn waited() {
    let Some(checks) = CHECKS.get().filter(|_| host::is_any_closed()) else { return };
    checks.state.lock().closed.open(|one| clocks::host_is_behind(&one.command.moment));
}

/// Whether it is watched from when to when there are allocations.
#[inline(always)]
pub(crate) fn watches_allocations() -> bool {
    checked::is_any_on(&[Tool::Memory, Tool::Init, Tool::Race, Tool::Sync])
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

/// Whether other processes may write memory of this one.
static IS_SHARED: AtomicBool = AtomicBool::new(false);

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

/// An access of a dispatch as findings name it.
fn instruction(dispatch: &Dispatched<'_>, access: RaceAccess) -> Instruction {
    let RaceAccess { workgroup, wave, how, pc } = access;
    Instruction { workgroup, wave, how, pc: Pc::new(pc.wrapping_sub(dispatch.entry)) }
}

struct Watcher;

impl Observer for Watcher {
    /// The runtime's wait for a value is ended by a write that may come at any time, and so is one for what another process
    /// writes.
    fn is_patient(&self, kernel_object: u64) -> bool {
        IS_SHARED.load(Ordering::Relaxed) || code::is_own(kernel_object)
    }

    fn host_touches(&self, address: u64, how: How, pc: u64) -> bool {
        // Whoever holds the lock does not touch such memory, except in this library.
        let state = CHECKS.get().and_then(|checks| Some((checks, checks.state.try_lock_for(PATIENCE)?)));
        let Some((checks, mut state)) = state else {
            return host::open(host::page_of(address), HostAccess::ReadWrite);
        };
        let may_go_on = state.host_touches(address, how, pc);
        checks.tell(&mut state);
        may_go_on
    }

    fn starting(&self, dispatch: &Starting<'_>) {
        let wanted = checked::is_any_on(&[Tool::Graph, Tool::Init, Tool::Memory]);
        let Some(checks) = CHECKS.get().filter(|_| wanted) else { return };
        let mut state = checks.state.lock();
        state.may_tell_host(dispatch);
        let State { expected, forgotten, lives, strays, .. } = &mut *state;
        let Some(command) = expected.get(&dispatch.arguments).and_then(VecDeque::front) else { return };
        if checked::is_on(Tool::Memory) {
            let found = stray_pointers(lives, command, dispatch);
            if !found.is_empty() {
                strays.insert(dispatch.arguments, found);
            }
        }
        // What may be behind anything counts as behind all, and still is not behind what was submitted later.
        let comes_before = |begun: &Command| begun.number() <= command.number() && begun.is_before(command);
        for (_, bytes) in forgotten.extract_if(.., |(begun, _)| comes_before(begun)) {
            emulator::uninitialize(bytes);
        }
    }

    fn asked(&self, arguments: u64, page: Range<u64>) -> Vec<Asked> {
        let Some(checks) = CHECKS.get().filter(|_| checked::is_on(Tool::Memory)) else { return Vec::new() };
        let state = checks.state.lock();
        let Some(command) = state.expected.get(&arguments).and_then(VecDeque::front) else {
            return Vec::new();
        };
        lives::asked(&state.lives.forbidden(command, page.clone()), &page)
    }

    fn dispatched(&self, dispatch: &Dispatched<'_>) {
        let Some(checks) = CHECKS.get() else { return };
        let mut state = checks.state.lock();
        let next = state.expected.get_mut(&dispatch.arguments).and_then(VecDeque::pop_front);
        if state.expected.get(&dispatch.arguments).is_some_and(VecDeque::is_empty) {
            state.expected.remove(&dispatch.arguments);
        }
        // What is compared is kept.
        let compares = checked::is_any_on(&[Tool::Graph, Tool::Memory]);
        if let Some(command) = next.as_ref().filter(|_| compares) {
            state.compare(command, dispatch);
        }
        state.look_into(next.as_deref(), dispatch);
        if dispatch.refused.is_some() || dispatch.deadlock.is_some() {
            // The host does not come behind what is lost.
            state.closed.open(|_| true);
        }
        let strays = state.strays.remove(&dispatch.arguments);
        if let Some((command, strays)) = next.as_ref().zip(strays) {
            state.tell_strays(command, dispatch, strays);
        }
        if let Some(command) = next.as_ref().filter(|_| checked::is_on(Tool::Init)) {
            state.look_at_copy(command, dispatch.touched);
        }
        if let Some(command) = next.filter(|_| checked::is_on(Tool::Edges)) {
            state.look_at_edges(&command, dispatch.touched);
        }
        checks.tell(&mut state);
    }
}

impl Checks {
    /// Tells what was found, if it is to be told at once.
    fn tell(&self, state: &mut State) {
        if self.is_told {
            state.found.drain(..).for_each(|finding| report::tell(&finding));
        }
    }
}

impl State {
    /// An allocation begins, with a command or for all that follows.
    fn begin(&mut self, bytes: Range<u64>, command: Option<Arc<Command>>, site: Option<Arc<Site>>) {
        let born = command.as_ref().map_or_else(|| clocks::commands() + 1, |command| command.number());
        let site = site.unwrap_or_else(|| Arc::new(Site::here()));
        self.lives.begin(Life::new(bytes, born, command, site));
    }

    /// An allocation ends: what has used it must come before.
    fn end(&mut self, address: u64, command: &Arc<Command>) {
        let Some(life) = self.lives.end(address, command) else { return };
        let pages = life.pages();
        let starts: Vec<u64> = match (pages.end - pages.start) / Page::BYTES < self.pages.len() as u64 {
            true => pages.step_by(Page::BYTES as usize).collect(),
            false => self.pages.keys().copied().filter(|start| pages.contains(start)).collect(),
        };
        let here = starts.into_iter().filter_map(|start| Some((start, self.pages.get(&start)?)));
        let mut offences: Vec<_> =
            here.flat_map(|(start, touches)| life.judge_earlier(start, touches)).collect();
        offences.sort_by(|(one, _), (other, _)| one.rank().cmp(&other.rank()));
        while let Some((command, offence)) = offences.pop() {
            let of_one = offences.extract_if(.., |(other, _)| Arc::ptr_eq(other, &command));
            let of_one = of_one.map(|(_, offence)| offence).chain([offence]).collect();
            self.accuse(&command, of_one, None);
        }
    }

    /// Says what a command has done to allocations, by a dispatch that has just ended if it is known.
    fn accuse(
        &mut self,
        command: &Arc<Command>,
        mut offences: Vec<Offence>,
        dispatch: Option<&Dispatched<'_>>,
    ) {
        offences.sort_by_key(|offence| (offence.misuse, offence.allocation(), offence.bytes.start));
        let same = |one: &Offence, other: &Offence| {
            (one.misuse, one.allocation()) == (other.misuse, other.allocation())
        };
        for of_one in offences.chunk_by(same) {
            let total = of_one.iter().map(|offence| offence.bytes.end - offence.bytes.start).sum();
            let offence = &of_one[0];
            let party = command.party(offence.how);
            let other =
                offence.other().map_or(String::new(), |other| format!("{} ({})", other.place(), other.what));
            let names =
                [&party.place, &party.what, &other, &format!("{:?}", offence.misuse)].map(String::clone);
            if self.known.insert(names) {
                let (misuse, bytes, made) =
                    (offence.misuse, offence.describe(total), offence.site().look_up());
                let dispatch = dispatch.filter(|dispatch| !code::is_own(dispatch.kernel_object));
                let first = dispatch.and_then(|dispatch| {
                    let first =
                        dispatch.firsts.iter().find(|first| first.bytes.contains(&bytes.first.start))?;
                    Some((code::of(dispatch), instruction(dispatch, first.access)))
                });
                let (code, access) =
                    first.map_or_else(Default::default, |(code, access)| (code, Some(access)));
                self.found.push(Finding::Memory { misuse, party, other, bytes, made, code, access });
            }
        }
    }

    /// Says what is wrong within a dispatch, be it of a command that is known or not.
    fn look_into(&mut self, command: Option<&Command>, dispatch: &Dispatched<'_>) {
        let named = || {
            let known = command.map(|command| (command.place(), command.what.clone()));
            known.unwrap_or_else(|| {
                let kernel = aqlipse_graph::dot::readable(&(dispatch.kernel)());
                ("a dispatch".into(), format!("kernel {kernel}"))
            })
        };
        let pc_of = |pc: u64| Pc::new(pc.wrapping_sub(dispatch.entry));
        if let Some(refused) = dispatch.refused.filter(|_| checked::is_on(Tool::Memory)) {
            let Refused { fault, address, bytes, how, workgroup, wave, pc } = refused;
            let (place, what) = named();
            let access = Instruction { workgroup, wave, how, pc: pc_of(pc) };
            let code = code::of(dispatch);
            let near = self.near(address);
            self.found.push(Finding::Refused { fault, place, what, address, bytes, code, access, near });
        }
        for &UninitFinding { kind, workgroup, wave, lane, pc, read, byte, count } in dispatch.uninit {
            // The runtime's wait for a value reads what is there before it is written, too.
            if kind == UninitKind::Branch && code::is_own(dispatch.kernel_object) {
                continue;
            }
            let (place, what) = named();
            let [pc, read] = [pc, read].map(pc_of);
            let names = [what.clone(), format!("{kind:?}"), pc.to_string(), read.to_string()];
            if self.known.insert(names) {
                let near = match byte {
                    UninitByte::Memory(address) => self.near(address),
                    UninitByte::Lds(_) | UninitByte::Scratch(_) => None,
                };
                self.found.push(Finding::Uninit {
                    kind,
                    place,
                    what,
                    workgroup,
                    wave,
                    lane,
                    code: code::of(dispatch),
                    read,
                    byte,
                    pc,
                    count,
                    near,
                });
            }
        }
        if let Some(Deadlock { workgroup, wave, pc, awaited, waiting }) = dispatch.deadlock {
            let (place, what) = named();
            let near = match awaited {
                Awaited::Memory(address) => self.near(address),
                Awaited::Lds(_) | Awaited::Grid | Awaited::Nothing => None,
            };
            let (code, pc) = (code::of(dispatch), pc_of(pc));
            self.found.push(Finding::Deadlock {
                place,
                what,
                workgroup,
                wave,
                code,
                pc,
                awaited,
                waiting,
                near,
            });
        }
        for &SyncFinding { kind, workgroup, wave, lane, pc, then, count } in dispatch.sync {
            if !checked::is_on(Tool::Sync) {
                break;
            }
            let (place, what) = named();
            let [pc, then] = [pc, then].map(pc_of);
            let names = [what.clone(), format!("{kind:?}"), pc.to_string(), String::new()];
            if self.known.insert(names) {
                self.found.push(Finding::Sync {
                    kind,
                    place,
                    what,
                    workgroup,
                    wave,
                    lane,
                    code: code::of(dispatch),
                    pc,
                    then,
                    count,
                });
            }
        }
        for &RaceFinding { kind, access, other, byte, count } in dispatch.races {
            // What the runtime has of its own in memory is not the program's.
            let near = match byte {
                RaceByte::Lds(_) | RaceByte::Scratch(_) => None,
                RaceByte::Memory(at)
                    if allocations::table().is_some_and(|table| table.extent(at).is_some()) =>
                {
                    self.near(at)
                }
                RaceByte::Memory(_) => continue,
            };
            let instruction = |access| instruction(dispatch, access);
            let (access, other) = (instruction(access), other.map(instruction));
            let (place, what) = named();
            let at = |instruction: &Instruction| instruction.pc.to_string();
            let of_memory = matches!(byte, RaceByte::Memory(_));
            let names = [
                what.clone(),
                format!("{kind:?} {of_memory}"),
                at(&access),
                other.as_ref().map(at).unwrap_or_default(),
            ];
            if self.known.insert(names) {
                let code = code::of(dispatch);
                self.found.push(Finding::Race { kind, place, what, code, byte, access, other, near, count });
            }
        }
    }

    /// A dispatch with these arguments is about to be published. They lie where those of an earlier one lay that is over.
    fn expect(&mut self, arguments: u64, command: Arc<Command>, touches: Vec<(How, Range<u64>)>) {
        self.close(&command, touches);
        self.expected.insert(arguments, VecDeque::from([command]));
    }

    /// Keeps the host off what a command touches, until it has waited for that.
    fn close(&mut self, command: &Arc<Command>, touches: Vec<(How, Range<u64>)>) {
        if checked::is_on(Tool::Graph) {
            self.closed.close(command, touches);
        }
    }

    /// What is behind what came before a dispatch the host may hear from that: by a word that it polls.
    fn may_tell_host(&mut self, dispatch: &Starting<'_>) {
        if !host::is_any_closed() || !code::may_tell_host(dispatch, host::is_hosts) {
            return;
        }
        let Self { expected, closed, .. } = self;
        let teller = expected.get(&dispatch.arguments).and_then(VecDeque::front);
        closed.open(|one| teller.is_none_or(|teller| one.command.is_before(teller)));
    }

    /// The host touches memory that is closed to it; whether it may go on, with the memory open.
    fn host_touches(&mut self, address: u64, how: How, pc: u64) -> bool {
        let met = self.closed.open(|one| one.forbids(address, how));
        // Another thread may have opened it meanwhile.
        if met.is_empty() && host::is_hosts(address) {
            return true;
        }
        let is_open = !met.is_empty() || host::open(host::page_of(address), HostAccess::ReadWrite);
        let Some(frames) = Site::interrupted(pc).map(|site| site.look_up().frames) else { return is_open };
        let commands = met.iter().map(|one| Some(one.command.party(one.how)));
        let of_device = met.is_empty() && checked::is_on(Tool::Memory);
        for command in commands.chain(of_device.then_some(None)) {
            let place =
                frames.first().map_or(String::new(), |frame| format!("{}+{}", frame.object, frame.offset));
            let (other, what) =
                command.clone().map_or_else(Default::default, |party| (party.place, party.what));
            if self.known.insert([other, what, place, format!("host {how:?}")]) {
                let (frames, near) = (frames.clone(), self.near(address));
                self.found.push(Finding::Host { command, how, address, frames, near });
            }
        }
        is_open
    }

    /// Says which pointers of a dispatch that has ended point nowhere, unless it was seen to follow such.
    fn tell_strays(&mut self, command: &Command, dispatch: &Dispatched<'_>, strays: Vec<Stray>) {
        if dispatch.refused.is_some() || !dispatch.firsts.is_empty() {
            return;
        }
        for Stray { number, address, is_freed } in strays {
            let (place, what) = (command.place(), command.what.clone());
            let names = [what.clone(), format!("argument {number}"), is_freed.to_string(), String::new()];
            if self.known.insert(names) {
                let near = self.near(address);
                self.found.push(Finding::Argument { place, what, number, address, is_freed, near });
            }
        }
    }

    /// Says so if a command copies to the host what nothing has written: all of it, or more in a row than padding takes.
    fn look_at_copy(&mut self, command: &Command, touched: &Touched) {
        /// Bytes in a row that may be padding.
        const PADDING: u64 = 64;
        let table = allocations::table().filter(|_| command.what == Work::COPY);
        let written = touched.ranges(How::Write);
        let Some(first) = written.first().map(|range| range.start) else { return };
        if table.is_none_or(|table| table.is_of_device(first)) {
            return;
        }
        let unwritten = touched.ranges(How::Read).into_iter().flat_map(emulator::uninitialized_in);
        let unwritten: Vec<Range<u64>> = unwritten.collect();
        let count = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        let all = count(&unwritten) == count(&written);
        let Some(first) = unwritten.iter().find(|run| all || run.end - run.start >= PADDING).cloned() else {
            return;
        };
        let Some((allocation, _, site)) = self.lives.near(first.start) else { return };
        let (allocation, made) = (allocation.clone(), site.look_up());
        let party = command.party(How::Read);
        let misuse = Misuse::Unwritten;
        let names = [&party.place, &party.what, &made.to_string(), &format!("{misuse:?}")].map(String::clone);
        if self.known.insert(names) {
            let bytes = Bytes { first, total: count(&unwritten), allocation };
            let (other, code, access) = Default::default();
            self.found.push(Finding::Memory { misuse, party, other, bytes, made, code, access });
        }
    }

    /// Says which edges of a launch no data needs, if a command was the last of its dispatches.
    fn look_at_edges(&mut self, command: &Command, touched: &Touched) {
        let Place::Node { launch, place, .. } = &command.place else { return };
        let Some(number) = self.looked.iter().position(|looked| Arc::ptr_eq(&looked.launch, launch)) else {
            return;
        };
        if !self.looked[number].end(*place, touched, &command.what) {
            return;
        }
        let looked = self.looked.swap_remove(number);
        let (Some(edges), Some(table)) = (&launch.order.edges, allocations::table()) else { return };
        for Needless { from, to, pairs, costs } in looked.needless(edges, |at| table.extent(at).is_some()) {
            let ends = [from, to];
            let [one, other] = ends.map(|end| &*launch.order.names[end as usize]);
            let drawing = launch.order.drawing.as_ref();
            let mark = Some(Marked::Needless(one, other));
            let drawn = drawing.and_then(|drawing| drawing.write(launch.executable, &[one, other], mark));
            self.found.push(Finding::Needless {
                places: ends.map(|end| {
                    format!("node {} of executable {}", launch.order.names[end as usize], launch.executable)
                }),
                whats: ends.map(|end| looked.what(end).to_owned()),
                pairs: pairs as u64,
                costs,
                drawn: drawn.into_iter().collect(),
            });
        }
    }

    /// The allocation at an address, or near it.
    fn near(&self, address: u64) -> Option<Near> {
        let Some((allocation, is_freed, site)) = self.lives.near(address) else {
            let table = allocations::table()?;
            let (allocation, _) = table.extent(address)?;
            let made = table.site(allocation.start)?.look_up();
            return Some(Near { allocation, is_freed: false, made });
        };
        Some(Near { allocation: allocation.clone(), is_freed, made: site.look_up() })
    }

    /// Compares what a command has touched with what those have that ended before it and that nothing orders with it, and
    /// with the allocations.
    fn compare(&mut self, command: &Arc<Command>, dispatch: &Dispatched<'_>) {
        let touched = dispatch.touched;
        if checked::is_on(Tool::Memory) {
            let mut offences = Vec::new();
            touched.pages().for_each(|(start, page)| self.lives.judge(command, start, page, &mut offences));
            self.accuse(command, offences, Some(dispatch));
        }
        let table = allocations::table().filter(|_| checked::is_on(Tool::Graph));
        let mut conflicts: Vec<Conflict> = Vec::new();
        for (start, page) in touched.pages() {
            let earlier = self.pages.entry(start).or_default();
            earlier.retain_mut(|touch| {
                if touch.command.is_unordered_with(command) {
                    let Some(table) = table else { return true };
                    for bytes in touch.page.conflicts(page, start) {
                        // What is the runtime's own is ordered by other means, and what was there before the allocation
                        // does not count.
                        let Some((allocation, born)) = table.extent(bytes.start) else { continue };
                        if touch.command.moment.number.min(command.moment.number) <= born {
                            continue;
                        }
                        let how =
                            [&touch.page, page].map(|page| page.how(start, bytes.start).unwrap_or(How::Read));
                        conflicts.push(Conflict { with: touch.command.clone(), bytes, allocation, how });
                    }
                    return true;
                }
                !touch.command.is_before(command) || touch.page.forget_before(page)
            });
            earlier.push(Touch { command: command.clone(), page: page.clone() });
        }
        conflicts.sort_by_key(|conflict| (Arc::as_ptr(&conflict.with).addr(), conflict.bytes.start));
        for of_one in conflicts.chunk_by(|one, other| Arc::ptr_eq(&one.with, &other.with)) {
            let total = of_one.iter().map(|conflict| conflict.bytes.end - conflict.bytes.start).sum();
            let Conflict { with: other, bytes, allocation, how } = &of_one[0];
            let mut parties = [other.party(how[0]), command.party(how[1])];
            let mut commands = [&**other, command];
            if command.rank() < other.rank() {
                parties.swap(0, 1);
                commands.swap(0, 1);
            }
            let [one, two] = &parties;
            let names = [&one.place, &one.what, &two.place, &two.what].map(String::clone);
            if self.known.insert(names) {
                let of_one_launch = command.shares_launch_with(other);
                let bytes = Bytes { first: bytes.clone(), total, allocation: allocation.clone() };
                let captured = captured(commands);
                let drawn = drawn(commands);
                self.found.push(Finding::Unordered { parties, of_one_launch, bytes, captured, drawn });
            }
        }
    }
}

/// The two nodes of one launch that commands are, if they are.
fn nodes_of_one_launch([one, other]: [&Command; 2]) -> Option<(&Launch, [&str; 2])> {
    match (&one.place, &other.place) {
        (Place::Node { launch, node, .. }, Place::Node { node: second, .. })
            if one.shares_launch_with(other) =>
        {
            Some((&**launch, [node, second]))
        }
        _ => None,
    }
}

/// How two nodes of a launch were captured that nothing orders.
fn captured(commands: [&Command; 2]) -> Vec<String> {
    let nodes = nodes_of_one_launch(commands);
    nodes.map_or_else(Vec::new, |(launch, nodes)| captured::explain(&launch.order.captures, nodes))
}

/// Draws the graphs of two commands that nothing orders; returns the names of the files.
fn drawn(commands: [&Command; 2]) -> Vec<String> {
    let draw =
        |of: &Launch, nodes: &[&str], edge| of.order.drawing.as_ref()?.write(of.executable, nodes, edge);
    if let Some((launch, nodes @ [one, other])) = nodes_of_one_launch(commands) {
        return draw(launch, &nodes, Some(Marked::Missing(one, other))).into_iter().collect();
    }
    let alone = commands.into_iter().filter_map(|command| match &command.place {
        Place::Node { launch, node, .. } => draw(launch, &[&**node], None),
        Place::Host | Place::Stream => None,
    });
    alone.collect()
}
