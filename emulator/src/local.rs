//! What waves do to the LDS of their workgroup that nothing orders, for tools: a shadow of each byte, with the accesses that can
//! still matter, and a vector clock for each wave. Barriers order all waves; an atomic comes behind those at the same place.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use smallvec::SmallVec;

/// How a byte is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Loaded.
    Read,
    /// Stored.
    Write,
    /// Changed by an atomic.
    Atomic,
}

/// What is wrong with an access of LDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocalKind {
    /// Two waves touch a byte, one writes, and neither access is before the other.
    Waves,
    /// Two lanes of one instruction write different values to a byte.
    Lanes,
    /// The access leaves the bytes that the dispatch has asked for.
    Outside,
}

/// An access of LDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAccess {
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// How it touches the bytes.
    pub how: How,
    /// The address of the instruction.
    pub pc: u64,
}

/// What was found in a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalFinding {
    /// What it is.
    pub kind: LocalKind,
    /// The workgroup, by its number in the grid.
    pub workgroup: u64,
    /// The access, and the one that it conflicts with, if there is one.
    pub access: LocalAccess,
    /// The access before.
    pub other: Option<LocalAccess>,
    /// The first byte, as an offset into LDS.
    pub offset: u32,
    /// How often it was found between the same instructions.
    pub count: u64,
}

/// What was found in the workgroups of a dispatch, once for each pair of instructions.
#[derive(Default)]
pub(crate) struct LocalFindings(Mutex<HashMap<(LocalKind, u64, u64), LocalFinding>>);

impl LocalFindings {
    fn add(&self, finding: LocalFinding) {
        let (pc, other) = (finding.access.pc, finding.other.map_or(0, |other| other.pc));
        let key = (finding.kind, pc.min(other), pc.max(other));
        self.0.lock().entry(key).and_modify(|known| known.count += 1).or_insert(finding);
    }

    /// What was found, by instructions.
    pub(crate) fn take(&self) -> Vec<LocalFinding> {
        let mut all: Vec<_> = std::mem::take(&mut *self.0.lock()).into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, finding)| finding).collect()
    }
}

/// DS, FLAT and MUBUF instructions have 8 bytes.
const INSTRUCTION: u64 = 8;

/// How many commands of each wave something comes behind.
type Clock = SmallVec<[u32; 16]>;

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(known, more)| *known = (*known).max(*more));
}

/// An access, at a time of its wave.
#[derive(Clone, Copy)]
struct Event {
    time: u32,
    /// Counts instructions of the workgroup.
    step: u64,
    access: LocalAccess,
}

/// The accesses of a byte that can still matter: the last write or atomic, and the reads behind it.
#[derive(Clone, Default)]
struct Byte {
    written: Option<Event>,
    read: SmallVec<[Event; 1]>,
}

/// The LDS of a workgroup.
pub(crate) struct Shadow {
    workgroup: u64,
    /// Bytes that may be touched.
    bytes: u32,
    clocks: Vec<Clock>,
    /// What comes behind an atomic at a place.
    atomics: HashMap<u32, Clock>,
    shadow: Vec<Byte>,
    step: u64,
    /// The wave, the instruction and the lane of the latest access.
    latest: (u32, u64, usize),
}

/// A wave's part in LDS that is watched.
#[derive(Clone)]
pub(crate) struct WatchedLocal {
    /// Its number in the workgroup.
    pub(crate) wave: u32,
    /// Bytes of LDS, as the workgroup was given them.
    pub(crate) size: u32,
    pub(crate) shadow: Arc<Mutex<Shadow>>,
    pub(crate) findings: Arc<LocalFindings>,
}

/// The lane of an instruction that touches LDS.
#[derive(Clone, Copy)]
pub(crate) struct LocalLane {
    pub(crate) wave: u32,
    /// Behind the instruction.
    pub(crate) pc: u64,
    pub(crate) lane: usize,
}

impl Shadow {
    pub(crate) fn new(workgroup: u64, bytes: u32, waves: u32) -> Self {
        let waves = waves as usize;
        let clock = |wave: usize| (0..waves).map(|other| u32::from(other == wave)).collect();
        Self {
            workgroup,
            bytes,
            clocks: (0..waves).map(clock).collect(),
            atomics: HashMap::new(),
            shadow: vec![Byte::default(); bytes as usize],
            step: 0,
            latest: (0, 0, 0),
        }
    }

    /// All waves have arrived at a barrier.
    pub(crate) fn barrier(&mut self) {
        let mut all = self.clocks[0].clone();
        self.clocks.iter().for_each(|clock| join(&mut all, clock));
        for (wave, clock) in self.clocks.iter_mut().enumerate() {
            clock.clone_from(&all);
            clock[wave] += 1;
        }
    }

    /// A lane has touched some bytes, of which `changed` have another value than before.
    pub(crate) fn touch(
        &mut self,
        findings: &LocalFindings,
        lane: LocalLane,
        (offset, bytes): (u32, u32),
        how: How,
        changed: impl Fn(usize) -> bool,
    ) {
        let LocalLane { wave, pc, lane } = lane;
        let before = self.latest;
        if (before.0, before.1) != (wave, pc) || lane <= before.2 {
            self.step += 1;
        }
        self.latest = (wave, pc, lane);
        let access = LocalAccess { wave, how, pc: pc.wrapping_sub(INSTRUCTION) };
        let (workgroup, step) = (self.workgroup, self.step);
        let found = |kind, other: Option<LocalAccess>, offset| {
            findings.add(LocalFinding { kind, workgroup, access, other, offset, count: 1 });
        };
        let end = offset.saturating_add(bytes);
        if end > self.bytes {
            return found(LocalKind::Outside, None, offset);
        }
        if how == How::Atomic {
            let place = self.atomics.entry(offset).or_insert_with(|| Clock::from_elem(0, self.clocks.len()));
            join(&mut self.clocks[wave as usize], place);
            place.clone_from(&self.clocks[wave as usize]);
        }
        let clock = &self.clocks[wave as usize];
        let event = Event { time: clock[wave as usize], step, access };
        let is_unordered =
            |other: &Event| other.access.wave != wave && clock[other.access.wave as usize] < other.time;
        for (n, at) in (offset..end).enumerate() {
            let byte = &mut self.shadow[at as usize];
            if let Some(other) = &byte.written {
                let both = |how: How| (access.how, other.access.how) == (how, how);
                // A write of what is there already does no harm to another.
                let is_harmless = both(How::Atomic) || both(How::Write) && !changed(n);
                if is_unordered(other) && !is_harmless {
                    found(LocalKind::Waves, Some(other.access), at);
                } else if other.step == step && both(How::Write) && changed(n) {
                    found(LocalKind::Lanes, Some(other.access), at);
                }
            }
            if how == How::Read {
                byte.read.retain(|other| other.access.wave != wave && is_unordered(other));
                byte.read.push(event);
                continue;
            }
            if let Some(other) = byte.read.iter().find(|other| is_unordered(other)) {
                found(LocalKind::Waves, Some(other.access), at);
            }
            byte.read.clear();
            byte.written = Some(event);
        }
        if how == How::Atomic {
            self.clocks[wave as usize][wave as usize] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of accesses by waves, one lane each; `None` is a barrier.
    fn found(accesses: &[Option<(u32, How)>]) -> Vec<LocalKind> {
        let findings = LocalFindings::default();
        let mut shadow = Shadow::new(0, 64, 3);
        for (n, access) in accesses.iter().enumerate() {
            match *access {
                None => shadow.barrier(),
                Some((wave, how)) => {
                    let lane = LocalLane { wave, pc: 8 * n as u64 + 8, lane: 0 };
                    shadow.touch(&findings, lane, (16, 4), how, |_| true);
                }
            }
        }
        findings.take().iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn waves_are_ordered_by_barriers_and_by_atomics_at_one_place() {
        use How::{Atomic, Read, Write};
        for (accesses, expected) in [
            (&[Some((0, Write)), Some((1, Read))][..], 1),
            (&[Some((0, Write)), None, Some((1, Read))], 0),
            (&[Some((0, Read)), Some((1, Write))], 1),
            (&[Some((0, Read)), None, Some((1, Write))], 0),
            (&[Some((0, Read)), Some((1, Read)), Some((2, Read))], 0),
            (&[Some((0, Write)), Some((1, Write))], 1),
            (&[Some((0, Write)), Some((0, Read)), Some((0, Write))], 0),
            (&[Some((0, Atomic)), Some((1, Atomic)), Some((2, Atomic))], 0),
            (&[Some((0, Atomic)), Some((1, Read))], 1),
            (&[Some((0, Atomic)), Some((1, Atomic)), Some((1, Read))], 0),
            (&[Some((0, Write)), Some((1, Atomic))], 1),
            (&[Some((1, Read)), None, Some((0, Write)), None, Some((2, Write))], 0),
            (&[Some((1, Read)), Some((2, Read)), Some((0, Write))], 1),
        ] {
            assert_eq!(found(accesses).len(), expected, "{accesses:?}");
        }
    }

    #[test]
    fn lanes_of_one_instruction_must_not_write_different_values() {
        let write = |lanes: [usize; 2], changed: bool| {
            let findings = LocalFindings::default();
            let mut shadow = Shadow::new(0, 4, 1);
            for lane in lanes {
                shadow.touch(&findings, LocalLane { wave: 0, pc: 8, lane }, (0, 4), How::Write, |_| changed);
            }
            findings.take()
        };
        let [finding] = write([3, 4], true)[..] else { panic!("one") };
        assert_eq!((finding.kind, finding.count), (LocalKind::Lanes, 4));
        assert!(write([3, 4], false).is_empty(), "the same value");
        assert!(write([4, 3], true).is_empty(), "the next time");
    }

    #[test]
    fn what_lies_beyond_the_end_is_told_and_not_shadowed() {
        let findings = LocalFindings::default();
        let mut shadow = Shadow::new(7, 6, 1);
        shadow.touch(&findings, LocalLane { wave: 0, pc: 24, lane: 0 }, (4, 4), How::Read, |_| false);
        let [finding] = findings.take()[..] else { panic!("one") };
        assert_eq!((finding.kind, finding.workgroup, finding.offset), (LocalKind::Outside, 7, 4));
        assert_eq!((finding.access.pc, finding.other), (16, None));
    }
}
