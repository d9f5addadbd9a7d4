//! What is wrong with a program: `AQLIPSE_CHECK=graph`, and [`Checker`] for tests.
//!
//! The emulated device says of each dispatch which bytes it has read, written and changed by atomics
//! ([`emulator::Observer`]). Of two nodes of a launch that no path of edges orders, and of two commands that streams, events
//! and waits of the host do not order (`device::clocks`), none may write what the other touches. Whether they met in this run
//! does not matter, nor the order that they took.
//!
//! Dispatches are announced by the addresses of their arguments. No other node has those of a node, and the launches of an
//! executable come one behind the other, so the n-th dispatch with these arguments is the n-th launch's.
//!
//! ```
//! use aqlipse::{Device, Stream, StreamKind, check::Checker, typed::{Graph, HostBuffer}};
//!
//! let checker = Checker::start()?;
//! let device = Device::get(0)?;
//! let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
//! let host = HostBuffer::new(&device, 256, 0u32)?;
//! let mut graph = Graph::new(&device);
//! let (allocated, memory) = graph.allocate::<u32>(256, &[])?;
//! let filled = graph.fill(memory, 1, &[allocated])?;
//! let downloaded = graph.download(&host, memory, &[allocated])?; // and not behind `filled`
//! graph.free(memory, &[filled, downloaded])?;
//! graph.instantiate()?.launch(&stream)?;
//! stream.synchronize()?;
//! let findings = checker.take();
//! assert_eq!((findings.len(), findings[0].total), (1, 1024));
//! assert_eq!(findings[0].parties.each_ref().map(|party| &*party.what), ["memset", "memcpy"]);
//! # Ok::<(), aqlipse::Error>(())
//! ```

#![forbid(unsafe_code)]

mod order;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    env, fmt,
    fs::OpenOptions,
    io::Write as _,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

pub use crate::device::CHECK_VARIABLE;
pub use emulator::How;
use emulator::{Config, Dispatched, Observer, Page, Touched};
use parking_lot::Mutex;

pub(crate) use self::order::Unordered;
use crate::{
    device::{
        System, checked,
        clocks::{self, Moment},
    },
    error::{Error, Result},
    module::KernelCode,
};

/// The environment variable with a file to which findings are appended, a line each; they go to stderr otherwise.
pub const REPORT_VARIABLE: &str = "AQLIPSE_CHECK_REPORT";

/// One of two commands that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Where it is: `node 12.3 of executable 1`, by the graph that the node was added to and its number there, or `stream 2`.
    pub place: String,
    /// What it is: `kernel f(float*)`, `memcpy`, `memset`.
    pub what: String,
    /// How it touches the bytes.
    pub how: How,
}

/// Two commands that touch the same bytes in an order that nothing says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The commands, the one that was added or submitted first before the other.
    pub parties: [Party; 2],
    /// Whether they are nodes of one launch, which an edge would order.
    pub of_one_launch: bool,
    /// The first bytes that both touch.
    pub bytes: Range<u64>,
    /// How many bytes there are, these included.
    pub total: u64,
    /// The allocation that the first lie in.
    pub allocation: Range<u64>,
}

impl Finding {
    /// The finding as a line of fields with tabs between them; [`Finding::from_line`] reads it.
    fn line(&self) -> String {
        let [one, other] = &self.parties;
        let party = |party: &Party| format!("{}\t{}\t{}", party.place, party.what, word(party.how));
        let range = |range: &Range<u64>| format!("{:#x}\t{:#x}", range.start, range.end);
        let (bytes, allocation) = (range(&self.bytes), range(&self.allocation));
        let (of_one_launch, total) = (self.of_one_launch, self.total);
        format!("{of_one_launch}\t{}\t{}\t{bytes}\t{total}\t{allocation}", party(one), party(other))
    }

    /// A finding from a line of a [report](REPORT_VARIABLE); `None` if it is none.
    pub fn from_line(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let of_one_launch = fields.next()?.parse().ok()?;
        let mut party = || {
            let (place, what) = (fields.next()?.to_owned(), fields.next()?.to_owned());
            let name = fields.next()?;
            let how = [How::Read, How::Write, How::Atomic].into_iter().find(|how| word(*how) == name)?;
            Some(Party { place, what, how })
        };
        let parties = [party()?, party()?];
        let number = |field: Option<&str>| u64::from_str_radix(field?.strip_prefix("0x")?, 16).ok();
        let bytes = number(fields.next())?..number(fields.next())?;
        let total = fields.next()?.parse().ok()?;
        let allocation = number(fields.next())?..number(fields.next())?;
        fields.next().is_none().then_some(Self { parties, of_one_launch, bytes, total, allocation })
    }
}

fn word(how: How) -> &'static str {
    match how {
        How::Read => "reads",
        How::Write => "writes",
        How::Atomic => "changes by atomics",
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parties: [one, other], bytes, total, allocation, .. } = self;
        let said = if self.of_one_launch { "no edge orders" } else { "nothing orders" };
        writeln!(f, "{said} {} ({}) and {} ({})", one.place, one.what, other.place, other.what)?;
        writeln!(
            f,
            "    the one {} and the other {} {total} bytes, the first at {:#x}: byte {} of an allocation of {} bytes at {:#x}",
            word(one.how),
            word(other.how),
            bytes.start,
            bytes.start - allocation.start,
            allocation.end - allocation.start,
            allocation.start
        )?;
        match self.of_one_launch {
            true => write!(f, "    an edge from {} to {} would order them", one.place, other.place),
            false => write!(
                f,
                "    an event that is recorded behind the one and waited for before the other would order them"
            ),
        }
    }
}

static CHECKS: OnceLock<Checks> = OnceLock::new();

/// What launches are compared with, if they are checked.
fn checks() -> Option<&'static Checks> {
    let told = || env::var_os(CHECK_VARIABLE).map(|_| env::var_os(REPORT_VARIABLE).map(PathBuf::from));
    System::get().is_ok_and(System::is_checked).then(|| {
        CHECKS.get_or_init(|| {
            emulator::observe(Box::new(Watcher));
            Checks { told: told(), state: Mutex::default() }
        })
    })
}

/// A program that checks itself, for tests.
pub struct Checker(());

impl Checker {
    /// Has the launches of this process checked from now on. Before the first device is asked for.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if the emulated devices exist already, or their configuration makes no sense.
    pub fn start() -> Result<Self> {
        let config =
            Config::from_env().and_then(|config| emulator::configure(Config { observed: true, ..config }));
        config.map_err(|error| Error::NotInitialized(error.to_string()))?;
        checked::want();
        Ok(Self(()))
    }

    /// What was found since the last time, of launches that are over.
    pub fn take(&self) -> Vec<Finding> {
        CHECKS.get().map_or_else(Vec::new, |checks| std::mem::take(&mut checks.state.lock().found))
    }
}

struct Checks {
    /// Where findings are told as they are made: in a file, or on stderr.
    told: Option<Option<PathBuf>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the address of its arguments, the commands of a dispatch that have not run.
    expected: HashMap<u64, VecDeque<Arc<Command>>>,
    /// What commands have touched of each page, by its first address, as far as it can still matter.
    pages: HashMap<u64, Vec<Touch>>,
    found: Vec<Finding>,
    /// The pairs that were told.
    known: HashSet<[String; 4]>,
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

/// What a command has touched of a page.
struct Touch {
    command: Arc<Command>,
    page: Page,
}

/// A dispatch that was submitted.
struct Command {
    moment: Moment,
    place: Place,
    what: String,
}

/// What a dispatch is part of.
enum Place {
    Stream,
    /// Of a launch, the node, by its place in the flat graph and as it is called.
    Node {
        launch: Arc<Launch>,
        flat: u32,
        node: String,
    },
}

/// A launch of an executable.
pub(crate) struct Launch {
    pub executable: u64,
    pub unordered: Arc<Unordered>,
}

/// A node that a launch is about to dispatch.
pub(crate) struct NodeDispatch {
    /// The address of its arguments.
    pub arguments: u64,
    /// Its place in the flat graph.
    pub flat: u32,
    /// As it is called.
    pub node: String,
    pub what: String,
}

/// Takes note of a launch that is about to be published on a stream. If no launch of the executable is in flight, `idle`, none of
/// these arguments is expected any more: a fault may have taken what was.
pub(crate) fn launched(stream: u64, launch: &Arc<Launch>, dispatches: Vec<NodeDispatch>, idle: bool) {
    let Some((checks, moment)) = checks().zip(clocks::command(stream)) else { return };
    let mut state = checks.state.lock();
    for NodeDispatch { arguments, flat, node, what } in dispatches {
        let commands = state.expected.entry(arguments).or_default();
        if idle {
            commands.clear();
        }
        let place = Place::Node { launch: launch.clone(), flat, node };
        commands.push_back(Arc::new(Command { moment: moment.clone(), place, what }));
    }
}

/// Forgets the latest launch, which was not published.
pub(crate) fn cancel(launch: &Arc<Launch>) {
    let Some(checks) = CHECKS.get() else { return };
    let is_of = |command: &Arc<Command>| matches!(&command.place, Place::Node { launch: of, .. } if Arc::ptr_eq(of, launch));
    let mut state = checks.state.lock();
    state.expected.values_mut().for_each(|commands| commands.retain(|command| !is_of(command)));
}

/// Takes note of a kernel that a stream is about to publish.
#[inline(always)]
pub(crate) fn submitted(stream: u64, arguments: u64, code: &KernelCode) {
    let Some(moment) = clocks::command(stream) else { return };
    let Some(checks) = checks() else { return };
    let what = match code.name() {
        "copy" | "copy_rect" | "copy_batch" => "memcpy".into(),
        "fill" | "fill_rect" => "memset".into(),
        name => format!("kernel {}", aqlipse_graph::dot::readable(name)),
    };
    let command = Arc::new(Command { moment, place: Place::Stream, what });
    // Arguments lie where those of an earlier dispatch lay that is over.
    checks.state.lock().expected.insert(arguments, VecDeque::from([command]));
}

struct Watcher;

impl Observer for Watcher {
    fn dispatched(&self, dispatch: &Dispatched<'_>) {
        let Some(checks) = CHECKS.get() else { return };
        let mut state = checks.state.lock();
        let Some(commands) = state.expected.get_mut(&dispatch.arguments) else { return };
        let next = commands.pop_front();
        if commands.is_empty() {
            state.expected.remove(&dispatch.arguments);
        }
        if let Some(command) = next {
            state.compare(&command, dispatch.touched);
            checks.tell(&mut state);
        }
    }
}

impl Checks {
    /// Tells what was found, if it is to be told at once.
    fn tell(&self, state: &mut State) {
        let Some(told) = &self.told else { return };
        for finding in state.found.drain(..) {
            if told.as_ref().is_some_and(|path| append(path, &finding).is_ok()) {
                continue;
            }
            // What cannot be written to the file must not look as if it were not there. A closed stderr is no reason to fail.
            drop(writeln!(std::io::stderr(), "aqlipse check: {finding}"));
        }
    }
}

/// Appends a finding to a report, with one write, so that lines of several processes do not mix.
fn append(path: &Path, finding: &Finding) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{}\n", finding.line()).as_bytes())
}

impl State {
    /// Compares what a command has touched with what those have that ended before it and that nothing orders with it.
    fn compare(&mut self, command: &Arc<Command>, touched: &Touched) {
        let Ok(system) = System::get() else { return };
        let mut conflicts: Vec<Conflict> = Vec::new();
        for (start, page) in touched.pages() {
            let earlier = self.pages.entry(start).or_default();
            earlier.retain_mut(|touch| {
                if touch.command.is_unordered_with(command) {
                    for bytes in touch.page.conflicts(page, start) {
                        // What is the runtime's own is ordered by other means, and what was there before the allocation
                        // does not count.
                        let Some((allocation, born)) = system.memory().extent(bytes.start) else { continue };
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
            if command.rank() < other.rank() {
                parties.swap(0, 1);
            }
            let [one, two] = &parties;
            let names = [&one.place, &one.what, &two.place, &two.what].map(String::clone);
            if self.known.insert(names) {
                let of_one_launch = command.shares_launch_with(other);
                let (bytes, allocation) = (bytes.clone(), allocation.clone());
                self.found.push(Finding { parties, of_one_launch, bytes, total, allocation });
            }
        }
    }
}

impl Command {
    fn party(&self, how: How) -> Party {
        let place = match &self.place {
            Place::Stream => format!("stream {}", self.moment.place.0),
            Place::Node { launch, node, .. } => format!("node {node} of executable {}", launch.executable),
        };
        Party { place, what: self.what.clone(), how }
    }

    /// Where it stands among all that was submitted, and nodes of a launch in an order of theirs.
    fn rank(&self) -> (u64, u32) {
        let flat = match &self.place {
            Place::Stream => 0,
            Place::Node { flat, .. } => *flat,
        };
        (self.moment.number, flat)
    }

    fn shares_launch_with(&self, other: &Self) -> bool {
        // A launch is one command, of several dispatches.
        self.moment.number == other.moment.number
    }

    /// Whether both are dispatches of one launch, by a path of edges, or of two commands that streams, events and waits of
    /// the host put in this order.
    fn is_before(&self, later: &Self) -> bool {
        match (&self.place, &later.place) {
            (Place::Node { launch, flat, .. }, Place::Node { flat: other, .. })
                if self.shares_launch_with(later) =>
            {
                flat < other && !launch.unordered.has(*flat, *other)
            }
            _ => {
                let (stream, count) = self.moment.place;
                later.moment.clock.is_behind(stream, count)
            }
        }
    }

    fn is_unordered_with(&self, other: &Self) -> bool {
        !self.is_before(other) && !other.is_before(self) && self.rank() != other.rank()
    }
}
