//! What the waves of a dispatch do to LDS and to memory that nothing orders, for tools: a shadow of what is touched, with the
//! accesses that can still matter, and a vector clock for each wave. Barriers, atomics and coherent accesses order waves as far
//! as waits, cache writebacks and invalidations let them (LLVM AMDGPUUsage, "Memory Model").

mod cell;
mod clock;
mod shadow;
mod shown;
mod spans;
#[cfg(test)]
mod tests;
mod wave;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::Mutex;

use self::shadow::Memory;
pub(crate) use self::{
    cell::{Access, Reach},
    spans::Spans,
    wave::{Caches, Counter, Group, Most, Racing, Touched, meet},
};

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

/// What is wrong with an access of LDS or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceKind {
    /// Two waves touch a byte, one writes, and neither access is before the other.
    Waves,
    /// Two lanes of one instruction write different values to a byte.
    Lanes,
    /// Two waves write the same value to a byte, and neither write is before the other.
    SameValue,
    /// The access leaves the bytes of LDS that the dispatch has asked for, or those of scratch that its lane has.
    Outside,
}

/// Where a byte is that waves touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceByte {
    /// In memory, at this address.
    Memory(u64),
    /// In LDS, at this offset.
    Lds(u32),
    /// In the scratch of a lane, at this offset.
    Scratch(u32),
}

/// An access of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceAccess {
    /// The workgroup, by its number in the grid.
    pub workgroup: u64,
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// How it touches the bytes.
    pub how: How,
    /// The address of the instruction.
    pub pc: u64,
}

/// What was found in a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceFinding {
    /// What it is.
    pub kind: RaceKind,
    /// The access.
    pub access: RaceAccess,
    /// The access before, which it conflicts with, if there is one.
    pub other: Option<RaceAccess>,
    /// The first byte.
    pub byte: RaceByte,
    /// How often it was found between the same instructions: bytes, or accesses for [`RaceKind::Outside`].
    pub count: u64,
}

/// What a finding is known by: what it is, whether it is in memory, and the two instructions.
type Key = (RaceKind, bool, u64, u64);

/// Parts of memory that can be touched at a time: more than compute units that are emulated at a time.
const LOCKS: usize = 64;

/// What the waves of a dispatch share.
pub(crate) struct Races {
    memory: Memory,
    /// What was found, once for each pair of instructions.
    found: Mutex<HashMap<Key, RaceFinding>>,
    /// Loads that are plain to the hardware only.
    atomic_loads: Mutex<AtomicLoads>,
}

/// Loads that are no plain ones to the program, by their addresses.
#[derive(Default)]
struct AtomicLoads {
    /// What a loop of an atomic begins with, which compares: compilers make plain ones.
    loops: HashSet<u64>,
    /// What waits for a flag.
    polls: HashSet<u64>,
}

impl Default for Races {
    fn default() -> Self {
        let (memory, found, atomic_loads) = (Memory::new(LOCKS), Mutex::default(), Mutex::default());
        Self { memory, found, atomic_loads }
    }
}

impl Races {
    fn add(&self, finding: RaceFinding) {
        let (pc, other) = (finding.access.pc, finding.other.map_or(0, |other| other.pc));
        let in_memory = matches!(finding.byte, RaceByte::Memory(_));
        let key = (finding.kind, in_memory, pc.min(other), pc.max(other));
        self.found.lock().entry(key).and_modify(|known| known.count += finding.count).or_insert(finding);
    }

    /// The load at this address is one that a loop begins with.
    fn know_loop(&self, pc: u64) {
        self.atomic_loads.lock().loops.insert(pc);
    }

    /// The load at this address waits for a flag.
    fn know_poll(&self, pc: u64) {
        self.atomic_loads.lock().polls.insert(pc);
    }

    /// What was found, by instructions.
    pub(crate) fn take(&self) -> Vec<RaceFinding> {
        let AtomicLoads { loops, polls } = std::mem::take(&mut *self.atomic_loads.lock());
        let is_race = |finding: &RaceFinding| {
            let Some(other) = &finding.other else { return true };
            let load = [&finding.access, other].into_iter().find(|access| access.how == How::Read);
            let with_atomic = [finding.access.how, other.how].contains(&How::Atomic);
            load.is_none_or(|load| !(polls.contains(&load.pc) || with_atomic && loops.contains(&load.pc)))
        };
        let mut all: Vec<_> = std::mem::take(&mut *self.found.lock()).into_iter().collect();
        all.retain(|(_, finding)| is_race(finding));
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, finding)| finding).collect()
    }
}

/// What a workgroup is watched for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RaceWatch {
    /// Accesses that nothing orders.
    pub(crate) order: bool,
    /// Writes of the same value that nothing orders, besides.
    pub(crate) same_values: bool,
    /// Accesses beyond LDS and scratch.
    pub(crate) bounds: bool,
}

/// See [`Races`]; kept by the dispatch and by each wave.
pub(crate) type SharedRaces = Arc<Races>;
