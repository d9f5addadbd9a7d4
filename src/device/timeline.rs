//! What devices do, for the timeline (`AQLIPSE_TRACE`) and for a listener.
//!
//! Each kernel packet has a completion signal, for which the packet processor notes when the kernel ran
//! (`hsa_amd_profiling_get_dispatch_time`). The times are read when a later packet is noted, when a thread has waited for the
//! device, and when the process ends.

mod units;

use std::{
    borrow::Cow,
    collections::HashMap,
    process,
    sync::{
        Arc, LazyLock, Once,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use emulator::UnitSlice;
use parking_lot::Mutex;
use timeline::{
    Details, is_on, is_watched,
    recorder::{self, flow},
    track::Track,
};

use super::{
    Device, System,
    activity::{self, Begun, Task},
    fence::{Fence, PooledSignal},
};

/// A kernel, a copy or a fill that a queue is about to get, or a copy that an engine has.
pub(crate) struct Noted {
    pub(crate) device: Device,
    pub(crate) place: Place,
    /// Falls when it is over.
    pub(crate) signal: Arc<PooledSignal>,
    pub(crate) work: Work,
    /// The same for a listener; nothing if it is none of what listeners know.
    pub(crate) task: Option<Task>,
    /// What launched it.
    pub(crate) launch: Launch,
    /// The node, if it is one of a graph.
    pub(crate) node: Option<String>,
    /// Whether the arrow from the launch leads here: one to each node would hide the others.
    pub(crate) is_first: bool,
}

/// What does it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The queue with this number.
    Queue(u64),
    /// The copy engine with this number.
    Engine(u8),
}

/// What a packet does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// `kernel`, `copy` or `fill`.
    category: &'static str,
    name: Arc<str>,
}

impl Work {
    /// What a copy is in words.
    pub(crate) const COPY: &str = "memcpy";

    /// What a packet with a kernel does, which is `own` if the runtime has brought it: those copy and fill.
    pub(crate) fn of(symbol: &str, own: bool) -> Self {
        match symbol {
            _ if !own => Self::kernel(symbol),
            "copy" | "copy_rect" | "copy_batch" => Self::copy(),
            "fill" | "fill_rect" => Self { category: "fill", name: "memset".into() },
            _ => Self::kernel(symbol),
        }
    }

    /// A copy.
    pub(crate) fn copy() -> Self {
        Self { category: "copy", name: Self::COPY.into() }
    }

    /// The same in words.
    pub(crate) fn describe(&self) -> String {
        match self.category {
            "kernel" => format!("kernel {}", self.name),
            _ => (*self.name).into(),
        }
    }

    fn kernel(symbol: &str) -> Self {
        static NAMES: LazyLock<Mutex<HashMap<String, Arc<str>>>> = LazyLock::new(Mutex::default);
        let mut names = NAMES.lock();
        let name = match names.get(symbol) {
            Some(known) => known.clone(),
            None => {
                let name: Arc<str> = aqlipse_graph::dot::readable(symbol).into();
                names.insert(symbol.into(), name.clone());
                name
            }
        };
        Self { category: "kernel", name }
    }
}

/// Whether what packets do is recorded, or a listener wants to know of it.
pub(crate) fn wants_packets() -> bool {
    is_on() || activity::is_wanted()
}

/// One launch of an executable, or of a command of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// Counts the launches of the process.
    pub(crate) number: u64,
    /// The stream.
    pub(crate) stream: u64,
    /// The executable, if it is one.
    pub(crate) executable: Option<u64>,
    /// Whether it is on the timeline.
    is_recorded: bool,
    /// From the call to the first of what it launched.
    flow: u64,
}

impl Launch {
    /// The next one, if events are recorded or a listener wants to know of them.
    #[inline]
    pub(crate) fn next(stream: u64, executable: Option<u64>) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        if !is_watched() {
            return None;
        }
        std::hint::cold_path();
        if !wants_packets() {
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Some(Self { number, stream, executable, is_recorded: is_on(), flow: flow() })
    }

    /// What is known of everything that belongs to it.
    fn details(&self) -> Details {
        let details = Details::default().number("launch", self.number).number("stream", self.stream);
        match self.executable {
            Some(executable) => details.number("executable", executable),
            None => details,
        }
    }

    /// A slice of the calling thread begins: it launches. It ends with what is returned.
    pub(crate) fn begin(&self) -> Option<Launching> {
        if !self.is_recorded {
            return None;
        }
        let name: Cow<'_, str> = match self.executable {
            Some(executable) => format!("launch executable {executable}").into(),
            None => "launch".into(),
        };
        let track = Track::here();
        recorder::begin(track, "launch", &name, self.details().starts(self.flow));
        Some(Launching(track))
    }

    /// Calls a function of the host's, as a slice of the calling thread.
    pub(crate) fn host(&self, node: Option<&str>, what: &str, call: impl FnOnce()) {
        if !self.is_recorded {
            return call();
        }
        let details = self.details();
        let details = match node {
            Some(node) => details.text("node", node),
            None => details,
        };
        let track = Track::here();
        recorder::begin(track, "host", what, details);
        call();
        recorder::end_of(track, Details::default());
    }
}

/// A slice of a thread that launches.
pub(crate) struct Launching(Track);

impl Drop for Launching {
    fn drop(&mut self) {
        recorder::end_of(self.0, Details::default());
    }
}

/// What a stream did last, by its number.
static LATEST: LazyLock<Mutex<HashMap<u64, Ended>>> = LazyLock::new(Mutex::default);

/// What fences come behind, by their keys. One that is used again is noted again.
static ENDINGS: LazyLock<Mutex<HashMap<usize, Ended>>> = LazyLock::new(Mutex::default);

/// What ends with a fence.
#[derive(Clone)]
struct Ended {
    launch: Launch,
    name: Arc<str>,
}

/// A fence comes behind what a stream has done so far.
#[inline]
pub(crate) fn ending(stream: u64, fence: &Fence) {
    if !is_on() {
        return;
    }
    std::hint::cold_path();
    let latest = LATEST.lock().get(&stream).cloned();
    let mut endings = ENDINGS.lock();
    match latest {
        Some(latest) => endings.insert(fence.key(), latest),
        None => endings.remove(&fence.key()),
    };
}

/// A thread waits for a fence; with what is returned it goes on.
#[inline]
pub(super) fn wait(fence: &Fence) -> Option<Waiting> {
    if !is_on() || fence.has_fired() {
        return None;
    }
    std::hint::cold_path();
    let track = Track::here();
    let ended = ENDINGS.lock().get(&fence.key()).cloned();
    recorder::begin(track, "wait", "wait for a device", Details::default());
    Some(Waiting { track, ended })
}

/// A slice of a thread that waits.
pub(super) struct Waiting {
    track: Track,
    ended: Option<Ended>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let details = match &self.ended {
            Some(Ended { launch, name }) => launch.details().text("ended by", &**name),
            None => Details::default(),
        };
        recorder::end_of(self.track, details);
    }
}

/// The process whose work is noted; 0 until any is.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Noted and not read yet, when it was noted, and what the listener wants to know of it.
static NOTED: Mutex<Vec<(Noted, u64, Option<Begun>)>> = Mutex::new(Vec::new());

/// Has emulated devices say from now on where workgroups run, if that is recorded: before code runs there.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    if is_on() {
        ONCE.call_once(units::watch);
    }
}

/// Has copy engines say from now on when they copy.
pub(crate) fn time_engines() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Err(error) = System::get().and_then(|system| Ok(system.runtime().profile_copies()?)) {
            tracing::warn!("copies by copy engines are not in the trace: {error}");
        }
    });
}

/// Notes what is about to be published, or was given to a copy engine.
pub(crate) fn note(these: impl IntoIterator<Item = Noted>) {
    static AT_THE_END: Once = Once::new();
    AT_THE_END.call_once(|| {
        OWNER.store(process::id(), Ordering::Relaxed);
        // SAFETY: a function without arguments, which stays as long as this library does: the C library calls it before the
        // library is unloaded. It runs before that of the recorder, which is there already.
        let _ = unsafe { libc::atexit(at_the_end) };
    });
    collect();
    // The listener is asked with nothing locked here.
    let these: Vec<_> = these.into_iter().map(|noted| (Begun::new(noted.task), noted)).collect();
    let mut noted = NOTED.lock();
    let known = noted.len();
    let now = recorder::now();
    noted.extend(these.into_iter().map(|(begun, noted)| (noted, now, begun)));
    let recorded = noted[known..].iter().filter(|(noted, ..)| noted.launch.is_recorded);
    recorded.for_each(|(noted, ..)| units::expect(noted.signal.handle().handle));
    if let Some((last, ..)) = noted[known..].last() {
        let name = match last.launch.executable {
            Some(executable) => format!("executable {executable}").into(),
            None => last.work.name.clone(),
        };
        LATEST.lock().insert(last.launch.stream, Ended { launch: last.launch, name });
    }
}

/// Records what is over.
pub(crate) fn collect() {
    if !is_watched() {
        return;
    }
    std::hint::cold_path();
    read();
}

/// Tells the listener what is over by now. The caller holds no lock of the runtime's.
pub fn tell_listener() {
    if activity::has_listener() {
        collect();
        activity::tell();
    }
}

fn read() {
    let mut noted = NOTED.lock();
    if noted.is_empty() {
        return;
    }
    let Ok(clock) = Clock::now() else { return };
    let mut over: Vec<_> = noted
        .extract_if(.., |(noted, ..)| noted.signal.is_over())
        .filter_map(|(noted, since, begun)| {
            let on_units = units::take(noted.signal.handle().handle);
            // A fault has taken it otherwise.
            let time = || match noted.place {
                Place::Queue(_) => noted.signal.dispatch_time(&noted.device.0.agent),
                Place::Engine(_) => noted.signal.copy_time(),
            };
            let time = noted.signal.has_fired().then(time)?.ok()?;
            let (start, end) = (clock.on_timeline(time.start), clock.on_timeline(time.end));
            // ROCr puts the times of its devices on the host's clock as it estimates that. What a queue gets begins later.
            let since = if matches!(noted.place, Place::Queue(_)) { since } else { start };
            let start = start.max(since);
            Some(((start, end.max(start)), noted, begun, on_units))
        })
        .collect();
    drop(noted);
    over.sort_by_key(|(times, ..)| *times);
    for (times, noted, begun, on_units) in over {
        let Noted { device, place, work, launch, node, is_first, .. } = noted;
        if let Some(begun) = begun {
            let queue = match place {
                Place::Queue(queue) => queue,
                Place::Engine(engine) => engine.into(),
            };
            begun.end(times, device.ordinal(), queue);
        }
        if !launch.is_recorded {
            continue;
        }
        let mut details = launch.details();
        if let Some(node) = node {
            details = details.text("node", node);
        }
        let slices = on_units.into_iter().map(|(place, slice)| {
            let (start, end) = (clock.on_timeline(slice.start), clock.on_timeline(slice.end));
            (place, UnitSlice { start, end, ..slice })
        });
        units::record(device.ordinal(), slices, &work.name, &details);
        if is_first {
            details = details.ends(launch.flow);
        }
        let (device, row) = (device.ordinal(), 0);
        let track = match place {
            Place::Queue(queue) => Track::Queue { device, queue, row },
            Place::Engine(engine) => Track::Engine { device, engine, row },
        };
        recorder::in_rows(track, times, work.category, &work.name, details);
    }
}

/// The process ends.
extern "C" fn at_the_end() {
    // A child that was forked has no device, and its parent tells of what is noted here.
    if OWNER.load(Ordering::Relaxed) == process::id() {
        // Also while recording is paused. A panic must not cross into C, where the process is ending.
        let _ = std::panic::catch_unwind(read);
    }
}

/// The clock of the device's times, and that of the timeline.
struct Clock {
    system: u64,
    timeline: u64,
    /// Ticks a second.
    frequency: u64,
}

impl Clock {
    fn now() -> crate::error::Result<Self> {
        let runtime = System::get()?.runtime();
        let before = timeline::now();
        let system = runtime.timestamp()?;
        let timeline = before.midpoint(timeline::now());
        Ok(Self { system, timeline, frequency: runtime.timestamp_frequency() })
    }

    /// A time of the device's on the timeline.
    fn on_timeline(&self, system: u64) -> u64 {
        let nanoseconds = |ticks: u64| {
            // CAST: the age of a clock in nanoseconds fits.
            (u128::from(ticks) * 1_000_000_000 / u128::from(self.frequency.max(1))) as u64
        };
        match system.checked_sub(self.system) {
            Some(later) => self.timeline + nanoseconds(later),
            None => self.timeline.saturating_sub(nanoseconds(self.system - system)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_devices_are_put_on_the_clock_of_the_timeline() {
        let clock = Clock { system: 1_000, timeline: 5_000_000, frequency: 100_000_000 };
        assert_eq!(
            [900, 1_000, 1_001].map(|time| clock.on_timeline(time)),
            [4_999_000, 5_000_000, 5_000_010]
        );
    }

    #[test]
    fn kernels_are_named_as_they_were_declared() {
        assert_eq!(&*Work::of("_Z3putPii", false).name, "put(int*, int)");
        let words = |own| ["triton_add", "copy_rect", "fill"].map(|symbol| Work::of(symbol, own).describe());
        assert_eq!(words(true), ["kernel triton_add", "memcpy", "memset"]);
        assert_eq!(words(false), ["kernel triton_add", "kernel copy_rect", "kernel fill"]);
    }
}
