//! Tracks. Their numbers are made of what they are, so that two libraries of one process, and several processes that append to
//! one file, name them without asking each other.

use std::{cell::Cell, fs, process};

use crate::message::{
    BY_RANK, BYTES, CounterDescriptor, ProcessDescriptor, ThreadDescriptor, TrackDescriptor,
};

/// A track of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Track {
    /// The process.
    Process,
    /// A thread, by its number in the system.
    Thread(i32),
    /// A device, by its ordinal.
    Device(usize),
    /// A queue of a device, by its number. Slices that overlap lie in several rows.
    Queue {
        /// The ordinal of the device.
        device: usize,
        /// The queue.
        queue: u64,
        /// The row.
        row: usize,
    },
    /// A copy engine of a device, by its number. Slices that overlap lie in several rows.
    Engine {
        /// The ordinal of the device.
        device: usize,
        /// The engine.
        engine: u8,
        /// The row.
        row: usize,
    },
    /// A compute unit of an emulated device. Slices that overlap lie in several rows.
    Unit {
        /// The ordinal of the device.
        device: usize,
        /// The accelerator die, if the device has several.
        die: Option<u32>,
        /// The shader engine of the die.
        engine: u32,
        /// The unit of the engine.
        unit: u32,
        /// The row.
        row: usize,
    },
    /// Captures that begin on a stream, by the number of the stream.
    Captures(u64),
    /// Ranges that a program begins in one thread and may end in another. Ranges that overlap lie in several rows.
    Ranges(usize),
    /// Bytes of the memory of a device that are given out.
    Memory(usize),
}

impl Track {
    /// The track of the calling thread.
    pub fn here() -> Self {
        thread_local! {
            /// The process and the thread; a child that was forked has others.
            static KNOWN: Cell<(u32, i32)> = const { Cell::new((0, 0)) };
        }
        let process = process::id();
        let (of, thread) = KNOWN.get();
        if of == process {
            return Self::Thread(thread);
        }
        // SAFETY: the call has no arguments and changes nothing.
        let thread = unsafe { libc::gettid() };
        KNOWN.set((process, thread));
        Self::Thread(thread)
    }

    /// The track of another row, where slices lie in rows.
    pub(crate) fn in_row(self, row: usize) -> Self {
        match self {
            Self::Queue { device, queue, .. } => Self::Queue { device, queue, row },
            Self::Engine { device, engine, .. } => Self::Engine { device, engine, row },
            Self::Unit { device, die, engine, unit, .. } => Self::Unit { device, die, engine, unit, row },
            Self::Ranges(_) => Self::Ranges(row),
            other => other,
        }
    }

    /// The number of the track, which no other one has that is likely to meet it in a file.
    pub(crate) fn uuid(self, process: u32) -> u64 {
        let (kind, numbers): (u64, [u64; 3]) = match self {
            Self::Process => (1, [0; 3]),
            Self::Thread(thread) => (2, [u64::from(thread.unsigned_abs()), 0, 0]),
            Self::Device(device) => (3, [device as u64, 0, 0]),
            Self::Queue { device, queue, row } => (4, [device as u64, queue, row as u64]),
            Self::Unit { device, die, engine, unit, row } => {
                let die = die.map_or(0, |die| u64::from(die) + 1);
                (5, [device as u64, die << 32 | u64::from(engine << 16 | unit), row as u64])
            }
            Self::Captures(stream) => (6, [stream, 0, 0]),
            Self::Ranges(row) => (7, [row as u64, 0, 0]),
            Self::Memory(device) => (8, [device as u64, 0, 0]),
            Self::Engine { device, engine, row } => (9, [device as u64, engine.into(), row as u64]),
        };
        numbers.into_iter().fold(mix(u64::from(process) << 8 | kind), |uuid, number| mix(uuid ^ number))
    }

    /// The track around it.
    pub(crate) fn parent(self) -> Option<Self> {
        match self {
            Self::Process => None,
            Self::Thread(_) | Self::Device(_) | Self::Captures(_) | Self::Ranges(_) => Some(Self::Process),
            Self::Queue { device, .. }
            | Self::Engine { device, .. }
            | Self::Unit { device, .. }
            | Self::Memory(device) => Some(Self::Device(device)),
        }
    }

    fn name(self) -> Option<String> {
        match self {
            Self::Process | Self::Thread(_) => None,
            Self::Device(device) => Some(format!("device {device}")),
            Self::Queue { queue, .. } => Some(format!("queue {queue}")),
            Self::Engine { engine, .. } => Some(format!("copy engine {engine}")),
            Self::Unit { die: None, engine, unit, .. } => Some(format!("SE {engine} CU {unit}")),
            Self::Unit { die: Some(die), engine, unit, .. } => {
                Some(format!("XCC {die} SE {engine} CU {unit}"))
            }
            Self::Captures(stream) => Some(format!("captures of stream {stream}")),
            Self::Ranges(_) => Some("ranges".into()),
            Self::Memory(_) => Some("memory in use".into()),
        }
    }

    /// Its place among the tracks that lie in the same one: a device's queues come first, and its compute units, which may be
    /// hundreds, last.
    fn rank(self) -> Option<i32> {
        let (kind, number) = match self {
            Self::Process | Self::Thread(_) => return None,
            Self::Ranges(_) => (0, 0),
            Self::Queue { queue, .. } => (0, queue),
            Self::Captures(stream) => (1, stream),
            Self::Engine { engine, .. } => (1, engine.into()),
            Self::Device(device) => (2, device as u64),
            Self::Memory(_) => (2, 0),
            Self::Unit { die, engine, unit, .. } => {
                (3, u64::from(die.unwrap_or_default() << 16 | engine << 8 | unit))
            }
        };
        // CAST: 24 bits.
        Some(kind << 24 | number.min((1 << 24) - 1) as i32)
    }

    /// What a file says of the track.
    pub(crate) fn describe(self, process: u32) -> TrackDescriptor {
        // CAST: numbers of processes are positive.
        let pid = Some(process as i32);
        let thread =
            |tid: i32| ThreadDescriptor { pid, tid: Some(tid.into()), thread_name: Some(thread_name(tid)) };
        TrackDescriptor {
            uuid: Some(self.uuid(process)),
            name: self.name(),
            parent_uuid: self.parent().map(|parent| parent.uuid(process)),
            process: (self == Self::Process).then(|| {
                let cmdline = command_line();
                let name = cmdline.first().map(|first| first.rsplit('/').next().unwrap_or(first).to_owned());
                ProcessDescriptor { pid, process_name: name, cmdline }
            }),
            thread: if let Self::Thread(tid) = self { Some(thread(tid)) } else { None },
            child_ordering: matches!(self, Self::Process | Self::Device(_)).then_some(BY_RANK),
            sibling_order_rank: self.rank(),
            counter: matches!(self, Self::Memory(_)).then_some(CounterDescriptor { unit: Some(BYTES) }),
        }
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014): it maps no two numbers to the same.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

fn thread_name(thread: i32) -> String {
    let name = fs::read_to_string(format!("/proc/self/task/{thread}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

fn command_line() -> Vec<String> {
    let words = fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = words.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn tracks_have_numbers_of_their_own_and_parents_that_are_described() {
        let queues = (0..4).flat_map(|device| (0..4).map(move |queue| (device, queue)));
        let mut all: Vec<Track> = queues
            .flat_map(|(device, queue)| (0..4).map(move |row| Track::Queue { device, queue, row }))
            .collect();
        all.extend([Track::Process, Track::here(), Track::Captures(1), Track::Ranges(0)]);
        all.extend((0..4).flat_map(|n| [Track::Device(n), Track::Memory(n)]));
        all.extend((0..4).map(|n| Track::Engine { device: 0, engine: n / 2, row: usize::from(n % 2) }));
        let dies = [None, Some(0), Some(1)];
        let units = dies.into_iter().flat_map(|die| (0..12).map(move |n| (die, n / 4, n % 4)));
        all.extend(units.flat_map(|(die, engine, unit)| {
            (0..2).map(move |row| Track::Unit { device: 0, die, engine, unit, row })
        }));
        let uuids = [1, 2].map(|process| all.iter().map(|track| track.uuid(process)).collect::<HashSet<_>>());
        assert_eq!(uuids[0].union(&uuids[1]).count(), 2 * all.len());
        for track in &all {
            let parent = track.describe(1).parent_uuid;
            assert!(
                parent.map_or(*track == Track::Process, |parent| uuids[0].contains(&parent)),
                "{track:?}"
            );
        }
    }

    #[test]
    fn queues_come_before_the_other_tracks_of_a_device_and_units_by_their_places() {
        let unit = |die, unit| Track::Unit { device: 0, die: Some(die), engine: 0, unit, row: 0 };
        let sorted = [
            Track::Queue { device: 0, queue: 2, row: 1 },
            Track::Queue { device: 0, queue: 10, row: 0 },
            Track::Engine { device: 0, engine: 0, row: 0 },
            Track::Memory(0),
            unit(0, 9),
            unit(0, 10),
            unit(1, 0),
        ];
        assert!(sorted.is_sorted_by_key(|track| track.rank().unwrap()));
        assert_eq!(Track::Device(0).describe(1).child_ordering, Some(BY_RANK));
    }

    #[test]
    fn a_compute_unit_is_named_by_its_place() {
        let name =
            |die| Track::Unit { device: 0, die, engine: 1, unit: 12, row: 2 }.describe(1).name.unwrap();
        assert_eq!([None, Some(3)].map(name), ["SE 1 CU 12", "XCC 3 SE 1 CU 12"]);
    }

    #[test]
    fn a_thread_is_named_as_the_system_names_it() {
        let thread = std::thread::Builder::new().name("worker of a test".into());
        let described =
            thread.spawn(|| Track::here().describe(process::id()).thread.unwrap()).unwrap().join().unwrap();
        assert_eq!(described.thread_name.unwrap(), "worker of a tes");
        assert!(described.tid.unwrap() > 0 && described.tid != Some(i64::from(process::id())));
    }
}
