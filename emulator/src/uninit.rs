//! Bytes that are read before anything has written them, for tools: shadows of memory, LDS, scratch and registers that say which
//! bits come from such bytes. What is only copied is followed; a branch, an address or a result that depends on such a bit is a
//! finding.

mod local;
mod memory;
mod registers;

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

pub use self::memory::{uninitialize, uninitialized_in, written};
pub(crate) use self::{
    local::{Contents, Datum},
    memory::{Shadow, shadow},
    registers::{Registers, SCALARS, SCC, ScalarShadow, VectorShadow},
};

/// What depends on bytes that nothing has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UninitKind {
    /// Which way a wave goes, or which of its lanes do.
    Branch,
    /// What is accessed.
    Address,
    /// What is computed and stored to memory, or changed there by an atomic.
    Result,
}

/// Where such a byte was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UninitByte {
    /// In memory, at this address.
    Memory(u64),
    /// In LDS, at this offset.
    Lds(u32),
    /// In the scratch of a lane, at this offset.
    Scratch(u32),
}

/// What was found in a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UninitFinding {
    /// What it is.
    pub kind: UninitKind,
    /// The workgroup, by its number in the grid.
    pub workgroup: u64,
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// The first lane of which it is true; `None` if it is about a scalar.
    pub lane: Option<u32>,
    /// The address of the instruction that branches, accesses or stores.
    pub pc: u64,
    /// The address of the instruction that has read the byte.
    pub read: u64,
    /// The byte, the first that the instruction has read.
    pub byte: UninitByte,
    /// How often it was found: lanes, or waves.
    pub count: u64,
}

/// The instruction that has read such bytes, by its place in [`UninitFindings`]; 0 is none.
pub(crate) type Origin = u32;

/// What was found in the workgroups of a dispatch, once for each instruction.
#[derive(Default)]
pub(crate) struct UninitFindings(Mutex<State>);

#[derive(Default)]
struct State {
    found: HashMap<(UninitKind, u64), UninitFinding>,
    origins: Vec<(u64, UninitByte)>,
}

impl UninitFindings {
    /// The instruction at `pc` has read a byte that nothing has written.
    fn origin(&self, pc: u64, byte: UninitByte) -> Origin {
        let mut state = self.0.lock();
        let known = state.origins.iter().position(|(other, _)| *other == pc);
        let place = known.unwrap_or_else(|| {
            state.origins.push((pc, byte));
            state.origins.len() - 1
        });
        // CAST: no kernel has as many instructions.
        place as Origin + 1
    }

    fn add(&self, origin: Origin, finding: impl FnOnce(u64, UninitByte) -> UninitFinding) {
        let mut state = self.0.lock();
        let Some(&(pc, byte)) = state.origins.get((origin as usize).wrapping_sub(1)) else { return };
        let finding = finding(pc, byte);
        let known = state.found.entry((finding.kind, finding.pc));
        known.and_modify(|known| known.count += finding.count).or_insert(finding);
    }

    /// What was found, by instructions.
    pub(crate) fn take(&self) -> Vec<UninitFinding> {
        let mut all: Vec<_> = std::mem::take(&mut self.0.lock().found).into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, finding)| finding).collect()
    }
}

/// What a wave is watched with.
#[derive(Default)]
pub(crate) struct Uninit {
    workgroup: u64,
    wave: u32,
    pub(crate) registers: Registers,
    /// The shadow of its scratch.
    pub(crate) scratch: Contents,
    /// The shadow of its workgroup's LDS.
    pub(crate) lds: Arc<Mutex<Contents>>,
    findings: Arc<UninitFindings>,
}

impl Uninit {
    /// Has it watch a wave of a workgroup with so many bytes of scratch.
    pub(crate) fn begin(
        &mut self,
        (workgroup, wave): (u64, u32),
        scratch: u32,
        lds: &Arc<Mutex<Contents>>,
        findings: &Arc<UninitFindings>,
    ) {
        (self.workgroup, self.wave) = (workgroup, wave);
        self.registers.clear();
        self.scratch.forget(scratch as usize);
        self.lds.clone_from(lds);
        self.findings.clone_from(findings);
    }

    /// The instruction at `pc` has read a byte that nothing has written.
    pub(crate) fn origin(&self, pc: u64, byte: UninitByte) -> Origin {
        self.findings.origin(pc, byte)
    }

    /// What the instruction at `pc` does depends on what `origin` has read, in these lanes, or as a scalar.
    pub(crate) fn find(&self, kind: UninitKind, pc: u64, origin: Origin, lanes: Option<u64>) {
        let Self { workgroup, wave, .. } = *self;
        self.findings.add(origin, |read, byte| {
            let lane = lanes.map(u64::trailing_zeros);
            let count = lanes.map_or(1, |lanes| lanes.count_ones().into());
            UninitFinding { kind, workgroup, wave, lane, pc, read, byte, count }
        });
    }
}
