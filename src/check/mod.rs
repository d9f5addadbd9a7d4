//! What is wrong with a program: `AQLIPSE_CHECK=graph`, and [`Checker`] for tests.
//!
//! The emulated device says of each dispatch which bytes it has read, written and changed by atomics
//! ([`emulator::Observer`]). Of two nodes of a launch that no path of edges orders, none may write what the other touches.
//! Whether they met in this run does not matter, nor the order that they took.
//!
//! An executable announces the dispatches of a launch by the addresses of their arguments, which no other node has. Its
//! launches come one behind the other, so the n-th dispatch with these arguments is the n-th launch's.
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
    path::PathBuf,
    sync::{Arc, OnceLock},
};

pub use crate::device::CHECK_VARIABLE;
pub use emulator::How;
use emulator::{Config, Dispatched, Observer, Touched};
use parking_lot::Mutex;

pub(crate) use self::order::Unordered;
use crate::{
    device::{System, checked},
    error::{Error, Result},
};

/// The environment variable with a file to which findings are appended, a line each; they go to stderr otherwise.
pub const REPORT_VARIABLE: &str = "AQLIPSE_CHECK_REPORT";

/// One of two nodes that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The node, in the graph that it was added to (`graph.node`).
    pub node: String,
    /// What it is: `kernel f(float*)`, `memcpy`, `memset`.
    pub what: String,
    /// How it touches the bytes.
    pub how: How,
}

/// Two nodes of an executable that touch the same bytes in an order that no edge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The executable, as in [`memory_report::executables()`](crate::memory_report::executables()).
    pub executable: u64,
    /// The nodes, the one that was added first before the other.
    pub parties: [Party; 2],
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
        let party = |party: &Party| format!("{}\t{}\t{}", party.node, party.what, word(party.how));
        let range = |range: &Range<u64>| format!("{:#x}\t{:#x}", range.start, range.end);
        let (bytes, allocation) = (range(&self.bytes), range(&self.allocation));
        format!(
            "{}\t{}\t{}\t{bytes}\t{}\t{allocation}",
            self.executable,
            party(one),
            party(other),
            self.total
        )
    }

    /// A finding from a line of a [report](REPORT_VARIABLE); `None` if it is none.
    pub fn from_line(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let executable = fields.next()?.parse().ok()?;
        let mut party = || {
            let (node, what) = (fields.next()?.to_owned(), fields.next()?.to_owned());
            let name = fields.next()?;
            let how = [How::Read, How::Write, How::Atomic].into_iter().find(|how| word(*how) == name)?;
            Some(Party { node, what, how })
        };
        let parties = [party()?, party()?];
        let number = |field: Option<&str>| u64::from_str_radix(field?.strip_prefix("0x")?, 16).ok();
        let bytes = number(fields.next())?..number(fields.next())?;
        let total = fields.next()?.parse().ok()?;
        let allocation = number(fields.next())?..number(fields.next())?;
        fields.next().is_none().then_some(Self { executable, parties, bytes, total, allocation })
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
        let [one, other] = &self.parties;
        let Self { executable, bytes, total, allocation, .. } = self;
        writeln!(
            f,
            "no edge orders node {} ({}) and node {} ({}) of executable {executable}",
            one.node, one.what, other.node, other.what
        )?;
        writeln!(
            f,
            "    node {} {} and node {} {} {total} bytes, the first at {:#x}: byte {} of an allocation of {} bytes at {:#x}",
            one.node,
            word(one.how),
            other.node,
            word(other.how),
            bytes.start,
            bytes.start - allocation.start,
            allocation.end - allocation.start,
            allocation.start
        )?;
        write!(f, "    an edge from node {} to node {} would order them", one.node, other.node)
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
    /// By the address of its arguments, the launches of a dispatch that has not run in them, and its node.
    expected: HashMap<u64, VecDeque<(Arc<Launch>, u32)>>,
    found: Vec<Finding>,
    /// The pairs of nodes that were told, by their executable.
    known: HashSet<(u64, [u32; 2])>,
}

/// A launch that is checked.
pub(crate) struct Launch {
    executable: u64,
    unordered: Arc<Unordered>,
    /// Of each node that is dispatched: what it is called, and what it is.
    names: HashMap<u32, (String, String)>,
    progress: Mutex<Progress>,
}

/// How far a launch has come.
struct Progress {
    /// The nodes that are yet to be dispatched, as bits.
    left: Vec<u64>,
    seen: Vec<Seen>,
}

/// What a node has touched.
struct Seen {
    node: u32,
    touched: Touched,
    /// Nodes that are yet to be dispatched and that nothing orders with it.
    left: u32,
}

/// Takes note of a launch that is about to be published: the addresses of the arguments of its dispatches, and their nodes.
/// If no launch of the executable is in flight, `idle`, none of these arguments is expected any more: a fault may have taken
/// what was.
pub(crate) fn expect(launch: &Arc<Launch>, dispatches: &[(u64, u32)], idle: bool) {
    let Some(checks) = checks() else { return };
    let mut state = checks.state.lock();
    for &(arguments, node) in dispatches {
        let launches = state.expected.entry(arguments).or_default();
        if idle {
            launches.clear();
        }
        launches.push_back((launch.clone(), node));
    }
}

/// Forgets the latest launch, which was not published.
pub(crate) fn cancel(launch: &Arc<Launch>, dispatches: &[(u64, u32)]) {
    let Some(checks) = CHECKS.get() else { return };
    let mut state = checks.state.lock();
    for (arguments, _) in dispatches {
        if let Some(launches) = state.expected.get_mut(arguments) {
            launches.pop_back_if(|(latest, _)| Arc::ptr_eq(latest, launch));
        }
    }
}

struct Watcher;

impl Observer for Watcher {
    fn dispatched(&self, dispatch: &Dispatched<'_>) {
        let Some(checks) = CHECKS.get() else { return };
        let mut state = checks.state.lock();
        let Some(launches) = state.expected.get_mut(&dispatch.arguments) else { return };
        let next = launches.pop_front();
        if launches.is_empty() {
            state.expected.remove(&dispatch.arguments);
        }
        let Some((launch, node)) = next else { return };
        for finding in launch.dispatched(node, dispatch.touched) {
            let (nodes, finding) = finding;
            if state.known.insert((launch.executable, nodes)) {
                checks.tell(&mut state, finding);
            }
        }
    }
}

impl Checks {
    fn tell(&self, state: &mut State, finding: Finding) {
        match &self.told {
            None => state.found.push(finding),
            // A closed stderr, or a file that cannot be written, is no reason to fail.
            Some(None) => drop(writeln!(std::io::stderr(), "aqlipse check: {finding}")),
            Some(Some(path)) => {
                let file = OpenOptions::new().append(true).create(true).open(path);
                // One write, so that lines of several processes do not mix.
                drop(file.and_then(|mut file| file.write_all(format!("{}\n", finding.line()).as_bytes())));
            }
        }
    }
}

impl Launch {
    /// A launch in which the nodes of `names` are dispatched, with what each is called, and what it is.
    pub(crate) fn new(
        executable: u64,
        unordered: Arc<Unordered>,
        names: HashMap<u32, (String, String)>,
    ) -> Arc<Self> {
        let left = unordered.set(names.keys().copied());
        let progress = Mutex::new(Progress { left, seen: Vec::new() });
        Arc::new(Self { executable, unordered, names, progress })
    }

    /// Compares what a node has touched with what the nodes before it have that nothing orders with it.
    fn dispatched(&self, node: u32, touched: &Touched) -> Vec<([u32; 2], Finding)> {
        let Progress { left, seen } = &mut *self.progress.lock();
        left[node as usize / 64] &= !(1 << (node % 64));
        let mut findings = Vec::new();
        seen.retain_mut(|other| {
            if self.unordered.has(node, other.node) {
                findings.extend(self.compare((other.node, &other.touched), (node, touched)));
                other.left -= 1;
            }
            other.left > 0
        });
        let rows = self.unordered.with(node).iter().zip(left.iter());
        let left = rows.map(|(unordered, left)| (unordered & left).count_ones()).sum();
        if left > 0 {
            seen.push(Seen { node, touched: touched.clone(), left });
        }
        findings
    }

    fn compare(
        &self,
        (one, its): (u32, &Touched),
        (other, others): (u32, &Touched),
    ) -> Option<([u32; 2], Finding)> {
        let ((one, its), (other, others)) =
            if one < other { ((one, its), (other, others)) } else { ((other, others), (one, its)) };
        // What is the runtime's own is ordered by other means.
        let table = System::get().ok()?.memory();
        let mut conflicts = its
            .conflicts(others)
            .into_iter()
            .filter_map(|bytes| table.extent(bytes.start).map(|allocation| (bytes, allocation)));
        let (bytes, allocation) = conflicts.next()?;
        let length = |bytes: &Range<u64>| bytes.end - bytes.start;
        let total = length(&bytes) + conflicts.map(|(bytes, _)| length(&bytes)).sum::<u64>();
        let party = |node: u32, touched: &Touched| {
            let (node, what) = self.names.get(&node).cloned().unwrap_or_default();
            Party { node, what, how: touched.how(bytes.start).unwrap_or(How::Read) }
        };
        let parties = [party(one, its), party(other, others)];
        Some(([one, other], Finding { executable: self.executable, parties, bytes, total, allocation }))
    }
}
