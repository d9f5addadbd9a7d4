//! Events of this process, appended to the file that [`TRACE_VARIABLE`] names.
//!
//! Events are buffered, and appended with one write each time the buffer is full and when the process ends: what several
//! processes and libraries append does not mix. A process that ends by a signal or `_exit` loses what it has in the buffer.

use std::{
    collections::{HashMap, HashSet},
    env,
    fs::OpenOptions,
    io::Write as _,
    path::PathBuf,
    process,
    sync::{
        LazyLock,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use prost::Message as _;

use crate::{
    message::{DebugAnnotation, Kind, Trace, TracePacket, TrackEvent, annotation},
    track::Track,
};

/// The environment variable with the file that events are appended to.
pub const TRACE_VARIABLE: &str = "AQLIPSE_TRACE";

/// Bytes after which the buffer is written.
const FULL: usize = 1 << 16;

/// It is not known whether events are recorded.
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
/// Beside one of these: a profiler wants to know of calls and of what devices do.
const LISTENED: u8 = 4;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

static RECORDER: LazyLock<Option<Mutex<Recorder>>> = LazyLock::new(|| {
    let path = env::var_os(TRACE_VARIABLE).filter(|path| !path.is_empty())?;
    // SAFETY: a function without arguments, which stays as long as this library does: the C library calls it before the
    // library is unloaded. If there is no room for it, what is in the buffer at the end is lost.
    let _ = unsafe { libc::atexit(end) };
    Some(Mutex::new(Recorder::new(path.into())))
});

/// Whether events are recorded.
#[inline]
pub fn is_on() -> bool {
    is_watched() && state() & ON != 0
}

/// Whether events are recorded, or [`listen`] has been called for a listener.
#[inline]
pub fn is_watched() -> bool {
    // ORDER: Relaxed. What is recorded is behind a lock, and so are listeners.
    STATE.load(Ordering::Relaxed) != OFF && state() != OFF
}

/// The state, once it is known whether events are recorded.
#[cold]
fn state() -> u8 {
    let state = STATE.load(Ordering::Relaxed);
    if state & (OFF | ON) != UNKNOWN {
        return state;
    }
    let state = state | if RECORDER.is_some() { ON } else { OFF };
    // ORDER: Relaxed, as in `is_watched`. A program that has paused meanwhile keeps its word.
    let _ = STATE.compare_exchange(state & LISTENED, state, Ordering::Relaxed, Ordering::Relaxed);
    STATE.load(Ordering::Relaxed)
}

/// Says whether a profiler, beside the recorder, wants to know of calls and of what devices do.
pub fn listen(listens: bool) {
    if listens {
        STATE.fetch_or(LISTENED, Ordering::Relaxed);
    } else {
        STATE.fetch_and(!LISTENED, Ordering::Relaxed);
    }
}

/// Records nothing until [`resume`], whatever the environment asks for.
pub fn pause() {
    set(OFF);
}

/// Records again, if the environment asks for it.
pub fn resume() {
    set(UNKNOWN);
}

fn set(recorded: u8) {
    let _ =
        STATE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| Some(state & LISTENED | recorded));
}

/// Nanoseconds of the clock that all times are of, `CLOCK_BOOTTIME`.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` has room for the answer. Linux has had this clock since 2.6.39.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    // CAST: the clock counts from 0 up.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A number for a flow that no other process gives.
pub fn flow() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    u64::from(process::id()) << 32 | NEXT.fetch_add(1, Ordering::Relaxed) & u64::from(u32::MAX)
}

/// What is known of an event beside its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    annotations: Vec<DebugAnnotation>,
    starts: Option<u64>,
    ends: Option<u64>,
}

impl Details {
    /// With a number.
    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.value(name, annotation::Value::Uint(value))
    }

    /// With a text.
    #[must_use]
    pub fn text(self, name: &str, value: impl Into<String>) -> Self {
        self.value(name, annotation::Value::Text(value.into()))
    }

    /// With an address.
    #[must_use]
    pub fn address(self, name: &str, value: u64) -> Self {
        self.value(name, annotation::Value::Address(value))
    }

    /// A flow begins there.
    #[must_use]
    pub fn starts(self, flow: u64) -> Self {
        Self { starts: Some(flow), ..self }
    }

    /// A flow ends there.
    #[must_use]
    pub fn ends(self, flow: u64) -> Self {
        Self { ends: Some(flow), ..self }
    }

    fn value(mut self, name: &str, value: annotation::Value) -> Self {
        self.annotations.push(DebugAnnotation { name: Some(name.into()), value: Some(value) });
        self
    }
}

/// A slice begins on a track, now.
pub fn begin(track: Track, category: &str, name: &str, details: Details) {
    at(now(), track, Kind::SliceBegin, category, name, details);
}

/// The slice ends that began last on a track; what is known by now is added to what was known when it began.
pub fn end_of(track: Track, details: Details) {
    at(now(), track, Kind::SliceEnd, "", "", details);
}

/// Something happens on a track, now.
pub fn instant(track: Track, category: &str, name: &str, details: Details) {
    at(now(), track, Kind::Instant, category, name, details);
}

/// A slice of a track on which no other one overlaps with it.
pub fn slice(track: Track, times: (u64, u64), category: &str, name: &str, details: Details) {
    at(times.0, track, Kind::SliceBegin, category, name, details);
    at(times.1.max(times.0), track, Kind::SliceEnd, "", "", Details::default());
}

/// A slice of a track whose slices may overlap, in the first of its rows where there is room.
pub fn in_rows(track: Track, times: (u64, u64), category: &str, name: &str, details: Details) {
    let Some(row) = with(|recorder| recorder.row(track, times)) else { return };
    slice(track.in_row(row), times, category, name, details);
}

/// A counter has a value from now on.
pub fn count(track: Track, value: u64) {
    let event = TrackEvent {
        // CAST: bytes of memory.
        counter_value: Some(value as i64),
        ..event(Kind::Counter, Details::default())
    };
    with(|recorder| recorder.record(now(), track, event));
}

/// Appends what is in the buffer to the file.
pub fn flush() {
    with(Recorder::flush);
}

fn event(kind: Kind, details: Details) -> TrackEvent {
    TrackEvent {
        debug_annotations: details.annotations,
        r#type: Some(kind as i32),
        flow_ids: Vec::from_iter(details.starts),
        terminating_flow_ids: Vec::from_iter(details.ends),
        ..TrackEvent::default()
    }
}

fn at(time: u64, track: Track, kind: Kind, category: &str, name: &str, details: Details) {
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let event =
        TrackEvent { categories: Vec::from_iter(named(category)), name: named(name), ..event(kind, details) };
    with(|recorder| recorder.record(time, track, event));
}

fn with<T>(act: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
    let mut recorder = RECORDER.as_ref()?.lock();
    recorder.note_owner();
    Some(act(&mut recorder))
}

/// The process ends: what is recorded from now on is written at once.
extern "C" fn end() {
    // A panic must not cross into C, where the process is ending.
    let _ = std::panic::catch_unwind(|| {
        with(|recorder| {
            recorder.flush();
            recorder.is_ending = true;
        })
    });
}

struct Recorder {
    path: PathBuf,
    /// The process whose events they are.
    owner: u32,
    buffer: Vec<u8>,
    described: HashSet<Track>,
    /// Of each track with rows, by row, the end of the last slice.
    rows: HashMap<Track, Vec<u64>>,
    is_ending: bool,
}

impl Recorder {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            owner: process::id(),
            buffer: Vec::new(),
            described: HashSet::new(),
            rows: HashMap::new(),
            is_ending: false,
        }
    }

    /// A child that was forked has none of what its parent has recorded.
    fn note_owner(&mut self) {
        if self.owner != process::id() {
            *self = Self::new(std::mem::take(&mut self.path));
        }
    }

    fn row(&mut self, track: Track, (start, end): (u64, u64)) -> usize {
        let rows = self.rows.entry(track.in_row(0)).or_default();
        let row = rows.iter().position(|&last| last <= start).unwrap_or_else(|| {
            rows.push(0);
            rows.len() - 1
        });
        rows[row] = end.max(start);
        row
    }

    fn record(&mut self, time: u64, track: Track, event: TrackEvent) {
        self.describe(track);
        let uuid = track.uuid(self.owner);
        self.append(TracePacket {
            timestamp: Some(time),
            track_event: Some(TrackEvent { track_uuid: Some(uuid), ..event }),
            ..TracePacket::default()
        });
    }

    /// Describes a track and those around it, if the file does not say what they are.
    fn describe(&mut self, track: Track) {
        if !self.described.insert(track) {
            return;
        }
        if let Some(parent) = track.parent() {
            self.describe(parent);
        }
        self.append(TracePacket {
            track_descriptor: Some(track.describe(self.owner)),
            ..TracePacket::default()
        });
    }

    fn append(&mut self, packet: TracePacket) {
        let packet = TracePacket { trusted_packet_sequence_id: Some(self.owner), ..packet };
        // PANIC: a vector has room for all that memory has.
        Trace { packet: vec![packet] }.encode(&mut self.buffer).expect("room for a packet");
        if self.buffer.len() >= FULL || self.is_ending {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let file = OpenOptions::new().append(true).create(true).open(&self.path);
        if let Err(error) = file.and_then(|mut file| file.write_all(&self.buffer)) {
            pause();
            // A closed stderr is no reason to fail.
            let _ = writeln!(
                std::io::stderr(),
                "aqlipse: {TRACE_VARIABLE}: nothing more is recorded: {}: {error}",
                self.path.display()
            );
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> (tempfile::TempDir, Recorder) {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::new(folder.path().join("trace"));
        (folder, recorder)
    }

    #[test]
    fn a_file_describes_a_track_once_and_before_its_events() {
        let (_folder, mut recorder) = recorder();
        let track = Track::Queue { device: 1, queue: 7, row: 0 };
        for time in [5, 9] {
            recorder.record(time, track, event(Kind::Instant, Details::default().number("launch", time)));
        }
        recorder.flush();
        let trace = Trace::decode(&*std::fs::read(&recorder.path).unwrap()).unwrap();
        let described =
            trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref()?.name.clone());
        assert_eq!(described.collect::<Vec<_>>(), ["device 1", "queue 7"]);
        let times: Vec<_> = trace.packet[3..].iter().map(|packet| packet.timestamp).collect();
        assert_eq!(times, [Some(5), Some(9)]);
        let event = trace.packet[4].track_event.as_ref().unwrap();
        assert_eq!(event.track_uuid, trace.packet[2].track_descriptor.as_ref().unwrap().uuid);
        assert_eq!(event.debug_annotations[0].value, Some(annotation::Value::Uint(9)));
    }

    #[test]
    fn slices_that_overlap_lie_in_rows_of_their_own() {
        let (_folder, mut recorder) = recorder();
        let track = |queue| Track::Queue { device: 0, queue, row: 0 };
        let rows =
            [(0, 10), (5, 8), (8, 9), (10, 12), (9, 11), (3, 4)].map(|times| recorder.row(track(1), times));
        assert_eq!(rows, [0, 1, 1, 0, 1, 2]);
        assert_eq!(recorder.row(track(2), (0, 1)), 0, "of another queue");
    }

    #[test]
    fn what_cannot_be_written_is_said_once() {
        let (_folder, mut recorder) = recorder();
        recorder.path = "/".into();
        recorder.record(1, Track::Process, event(Kind::Instant, Details::default()));
        recorder.flush();
        assert!(recorder.buffer.is_empty() && STATE.load(Ordering::Relaxed) & OFF != 0);
        resume();
    }

    #[test]
    fn a_listener_is_told_whether_events_are_recorded_or_not() {
        listen(true);
        assert!(is_watched() && !is_on(), "no file is named here");
        pause();
        assert!(is_watched() && !is_on());
        resume();
        listen(false);
        assert!(!is_watched() && !is_on());
    }
}
