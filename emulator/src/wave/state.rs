//! The architectural state of a wavefront.

use std::{ptr::NonNull, sync::Arc};

use super::{
    constants,
    fault::{Fault, FaultKind},
    file::{Vector, VectorFile},
    near::Near,
    simd,
    surroundings::Surroundings,
    sync::{Question, Ticket},
};
use crate::{
    convergence::Converging,
    isa::{Flow, Generation, Inst, Target},
    memory::{
        Snapshot,
        coherence::{Reach, View},
    },
    race::Racing,
    touched::Part,
    uninit::Uninit,
};

/// The MODE register (MI200 ISA, 3.4): rounding, denormals, clamp, IEEE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode(pub u32);

impl Mode {
    /// VGPR indexing is on (`s_set_gpr_idx_on`).
    pub const GPR_INDEX: u32 = 1 << 27;
    /// Vector instructions are skipped (`s_setvskip`).
    pub const VSKIP: u32 = 1 << 28;
    /// Lowest bit of the control stack's depth (`s_cbranch_g_fork`).
    const CSP_SHIFT: u32 = 29;

    /// Clamping turns NaN into 0.
    pub(crate) const DX10_CLAMP: u32 = 1 << 8;
    /// Minimum and maximum quiet signalling NaNs.
    pub(crate) const IEEE: u32 = 1 << 9;

    /// The register with what a target has of it: VGPR indexing, skipping and forks are GFX9's. On GFX12 clamping always
    /// turns NaN into 0, and there is no IEEE mode, without bits that say so.
    pub const fn of(target: Target, bits: u32) -> Self {
        match target.generation() {
            Generation::Gfx9 => Self(bits),
            Generation::Gfx10 | Generation::Gfx11 => Self(bits & !Self::OF_GFX9),
            Generation::Gfx12 => Self(bits & !(Self::OF_GFX9 | Self::IEEE) | Self::DX10_CLAMP),
        }
    }

    /// What a program on a target reads.
    pub const fn read(self, target: Target) -> u32 {
        match target.generation() {
            Generation::Gfx12 => self.0 & !Self::DX10_CLAMP,
            _ => self.0,
        }
    }

    /// Bits that later generations do not have, or have for what the emulator does not model.
    const OF_GFX9: u32 = Self::GPR_INDEX | Self::VSKIP | 7 << Self::CSP_SHIFT;

    /// 0 nearest even, 1 +inf, 2 -inf, 3 zero.
    pub const fn round32(self) -> u32 {
        self.0 & 3
    }
    /// As [`Mode::round32`], for 64- and 16-bit floats.
    pub const fn round64(self) -> u32 {
        (self.0 >> 2) & 3
    }
    /// Bit 0 keeps input denormals, bit 1 keeps output denormals.
    pub const fn denorm32(self) -> u32 {
        (self.0 >> 4) & 3
    }
    /// As [`Mode::denorm32`], for 64- and 16-bit floats.
    pub const fn denorm64(self) -> u32 {
        (self.0 >> 6) & 3
    }
    /// Clamping turns NaN into 0.
    pub const fn dx10_clamp(self) -> bool {
        self.0 & Self::DX10_CLAMP != 0
    }
    /// Minimum and maximum quiet signalling NaNs, output modifiers are ignored.
    pub const fn ieee(self) -> bool {
        self.0 & Self::IEEE != 0
    }
    /// Half-precision overflow clamps to the largest finite value (also in conversions to fp8).
    pub const fn fp16_overflow(self) -> bool {
        self.0 & (1 << 23) != 0
    }
    /// Vector operands are offset by M0 (MI200 ISA, 6.6).
    pub const fn gpr_index(self) -> bool {
        self.0 & Self::GPR_INDEX != 0
    }
    /// Vector instructions do nothing (MI200 ISA, 12.4, S_SETVSKIP).
    pub const fn vskip(self) -> bool {
        self.0 & Self::VSKIP != 0
    }
    /// Whether vector instructions are not simply executed as they stand.
    pub const fn alters_vectors(self) -> bool {
        self.0 & (Self::GPR_INDEX | Self::VSKIP) != 0
    }
    /// Entries on the control stack of forks, 0 to 7 (MI200 ISA, 4.6).
    pub const fn forks(self) -> u32 {
        self.0 >> Self::CSP_SHIFT
    }
    /// The register with another depth of the control stack, of which 3 bits count.
    pub const fn with_forks(self, depth: u32) -> Self {
        Self(self.0 & ((1 << Self::CSP_SHIFT) - 1) | depth << Self::CSP_SHIFT)
    }
}

/// How a wave's lane masks stand in scalar registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Masks {
    /// In two of them, one behind the other.
    Pairs,
    /// In one: there are 32 lanes.
    Singles,
    /// In one of two waves each, of which these are the second one's, while they [go in lockstep](super::lockstep).
    Split(NonNull<[u32; 256]>),
}

/// A wavefront of 64 lanes, or of 32.
///
/// Rows of registers always have 64. No instruction of a wave of 32 lanes shows what is in the upper ones or writes them:
/// another wave may have its lanes there.
pub struct Wave {
    /// Address of the next instruction.
    pub pc: u64,
    /// Live lanes: none beyond the wave's.
    pub exec: u64,
    /// All lanes that it has.
    pub(super) full: u64,
    /// How many they are.
    pub(super) lanes: usize,
    /// How often it has signalled its workgroup's barrier, where it may wait for that later (RDNA 4).
    pub(crate) arrivals: u64,
    /// What it asks its workgroup before it goes on (RDNA 4).
    pub(crate) question: Option<Question>,
    /// The scalar condition code.
    pub scc: bool,
    /// Indexed by the 8-bit scalar source code: s0..s101 and the named registers below 128, the inline
    /// constants above, so that most sources are one load. EXEC lives in [`Wave::exec`] only, its two codes
    /// here are unused; entries from 128 on are never written.
    pub sgpr: [u32; 256],
    /// How its lane masks stand in scalar registers.
    pub(super) masks: Masks,
    /// Rows 0..255 are v0..v255, rows 256..511 a0..a255.
    pub vgpr: VectorFile,
    /// The MODE register.
    pub mode: Mode,
    /// The workgroup's LDS; the wave may touch `lds_size` bytes.
    pub lds: *mut u8,
    /// Bytes of LDS.
    pub lds_size: u32,
    /// Backing of this wave's scratch, `scratch_stride` bytes (swizzled: lanes x dwords).
    pub scratch: u64,
    /// Bytes of scratch, all lanes together.
    pub scratch_stride: u32,
    /// Allocations, as of the last refresh.
    pub memory: Arc<Snapshot>,
    /// Whose instructions it executes.
    pub target: Target,
    /// Set with [`crate::isa::Flow::Stop`].
    pub stop: Option<Fault>,
    /// The allocations that instructions touched last.
    pub near: Near,
    /// What it shares with all waves of the dispatch.
    pub surroundings: Surroundings,
    /// Room for copies of operands that cannot be used where they lie: three sources and a result.
    pub(super) rooms: [[Vector; 2]; 4],
    /// Where it runs: HW_ID, or HW_ID1 on RDNA.
    pub hardware_id: u32,
    /// The die that it runs on, for XCC_ID.
    pub die: u32,
    /// The bits of STATUS that no other field holds (MI200 ISA, 3.3).
    pub status: u32,
    /// TRAPSTS, which only `s_setreg` changes: no exception is recorded.
    pub trap_status: u32,
    /// GPR_ALLOC: sizes of the register allocations.
    pub allocation: u32,
    /// What it waits for at a resource of [`WaveSync`](super::WaveSync).
    pub waiting: Option<Ticket>,
    /// What its workgroup sees of memory; `None`: what the host sees.
    pub(crate) view: Option<Arc<View>>,
    /// Where it notes what it touches, if anybody watches.
    pub(crate) notes: Option<Arc<Part>>,
    /// What is known of where its lanes come together, if that is watched.
    pub(crate) converging: Option<Box<Converging>>,
    /// What it knows of bytes that nothing has written, if that is watched.
    pub(crate) uninit: Option<Box<Uninit>>,
    /// What it has accessed and comes behind, if that is watched.
    pub(crate) racing: Option<Box<Racing>>,
    /// Whether it has stored to memory, where reads are watched.
    pub(super) has_stored: bool,
    /// How far the memory instruction at hand reaches past caches, if there are any.
    pub(crate) reach: Reach,
}

// SAFETY: `lds` points to memory that the wave's workgroup owns, and two waves of a workgroup may share registers; a workgroup
// and its waves move between threads only together.
unsafe impl Send for Wave {}

impl Wave {
    /// A wave with a zeroed register file, live nowhere.
    pub fn new(target: Target, surroundings: Surroundings) -> Self {
        Self::with_file(target, surroundings, VectorFile::new())
    }

    /// As [`Wave::new`], with these registers.
    pub(crate) fn with_file(target: Target, surroundings: Surroundings, vgpr: VectorFile) -> Self {
        simd::detect();
        Self {
            pc: 0,
            exec: 0,
            full: u64::MAX,
            lanes: 64,
            arrivals: 0,
            question: None,
            scc: false,
            sgpr: constants::registers(&surroundings.apertures),
            masks: Masks::Pairs,
            vgpr,
            mode: Mode(0),
            lds: std::ptr::null_mut(),
            lds_size: 0,
            scratch: 0,
            scratch_stride: 0,
            memory: surroundings.map.snapshot(),
            target,
            stop: None,
            near: Near::default(),
            surroundings,
            rooms: [[Vector([0; 64]); 2]; 4],
            hardware_id: 0,
            die: 0,
            status: 0,
            trap_status: 0,
            allocation: 0,
            waiting: None,
            view: None,
            notes: None,
            converging: None,
            uninit: None,
            racing: None,
            has_stored: false,
            reach: Reach::Unit,
        }
    }

    /// Makes a used wave ready for a dispatch: scalar registers are zero, vector registers keep what they hold.
    pub(crate) fn reset(&mut self, target: Target, surroundings: &Surroundings, memory: &Arc<Snapshot>) {
        if !Arc::ptr_eq(&self.memory, memory) {
            self.memory = Arc::clone(memory);
            self.near.clear();
        }
        if !self.surroundings.same(surroundings) {
            self.surroundings = surroundings.clone();
            self.sgpr = constants::registers(&surroundings.apertures);
        }
        self.sgpr[..128].fill(0);
        self.target = target;
        self.scc = false;
        self.arrivals = 0;
        self.question = None;
        self.stop = None;
        self.trap_status = 0;
        self.waiting = None;
        self.has_stored = false;
    }

    /// Makes it a wave of 32 lanes, or of 64.
    pub fn set_lanes(&mut self, lanes: u32) {
        (self.lanes, self.full, self.masks) =
            if lanes == 32 { (32, u64::MAX >> 32, Masks::Singles) } else { (64, u64::MAX, Masks::Pairs) };
    }

    /// How many lanes it has: 32 or 64.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Whether all of its lanes are live.
    #[inline(always)]
    pub(super) fn all_live(&self) -> bool {
        self.exec == self.full
    }

    /// Lane values of vector register row `row`; rows wrap at the end of the register file, which no decoded
    /// operand reaches.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[u32; 64] {
        &self.vgpr[row & 511].0
    }

    /// See [`Wave::row`].
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize) -> &mut [u32; 64] {
        &mut self.vgpr[row & 511].0
    }

    /// The address of `inst`, whose size pc has already passed.
    pub(super) fn pc_of(&self, inst: &Inst) -> u64 {
        self.pc.wrapping_sub(u64::from(inst.size))
    }

    /// Stops the wave at `inst`, whose size pc has already passed.
    #[cold]
    pub fn fault(&mut self, inst: &Inst, kind: FaultKind) -> Flow {
        self.stop = Some(Fault { kind, pc: self.pc_of(inst) });
        Flow::Stop
    }
}
