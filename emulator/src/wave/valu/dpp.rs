//! Data-parallel primitives: source 0 comes from another lane (MI200 ISA, 13.3.9).

use super::rows::keep;
use crate::{
    isa::Inst,
    wave::{Vector, simd},
};

/// What a DPP control does: the lane that each lane reads, and the lanes for which that is one of the wave's.
struct Move {
    from: [u8; 64],
    valid: u64,
    /// Every row of 16 lanes moves within itself, and as the first one does.
    within_rows: bool,
}

/// Every control's move.
static MOVES: [Move; 512] = {
    let mut moves = [const { Move { from: [0; 64], valid: 0, within_rows: false } }; 512];
    let mut control = 0;
    while control < 512 {
        let mut lane = 0;
        while lane < 64 {
            if let Some(from) = source(control, lane) {
                // CAST: lanes are below 64.
                moves[control].from[lane] = from as u8;
                moves[control].valid |= 1 << lane;
            }
            lane += 1;
        }
        moves[control].within_rows = !matches!(control, 0x130..=0x13f | 0x142 | 0x143);
        control += 1;
    }
    moves
};

/// The lane that `lane` reads; `None` where that is out of range.
const fn source(control: usize, lane: usize) -> Option<usize> {
    let (row, i, n) = (lane & !15, lane & 15, control & 15);
    match control {
        0x000..=0x0ff => Some(row + (i & !3) + (control >> (2 * (i & 3)) & 3)),
        0x101..=0x10f if i + n < 16 => Some(row + i + n),
        0x111..=0x11f if i >= n => Some(row + i - n),
        0x121..=0x12f => Some(row + (i + 16 - n) % 16),
        0x130 if lane < 63 => Some(lane + 1),
        0x134 => Some((lane + 1) % 64),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) % 64),
        0x140 => Some(row + 15 - i),
        0x141 => Some(row + (i & 8) + (7 - (i & 7))),
        0x142 => row.checked_sub(1),
        0x143 if row >= 32 => Some(31),
        0x150..=0x15f => Some(row + n),
        0x160..=0x16f => Some(row + (i ^ n)),
        _ => None,
    }
}

/// The fields of a DPP word.
#[derive(Clone, Copy)]
pub(super) struct Dpp(pub u32);

impl Dpp {
    pub(super) fn of(inst: &Inst) -> Self {
        Self(inst.literal)
    }

    /// Whether lanes without a source read 0 rather than keeping their destination.
    fn bound_control(self) -> bool {
        self.0 & 1 << 19 != 0
    }

    fn movement(self) -> &'static Move {
        &MOVES[(self.0 >> 8 & 0x1ff) as usize]
    }

    /// Whether lanes that are off are read, too (FI, on RDNA).
    fn fetches_inactive(self) -> bool {
        self.0 & Inst::FETCHES_INACTIVE != 0
    }

    /// The lanes of a wave that have a source, and a live one.
    fn sourced(self, exec: u64, full: u64) -> u64 {
        let Move { from, valid, within_rows } = self.movement();
        let exec = if self.fetches_inactive() { full } else { exec };
        if exec == u64::MAX || exec == full && *within_rows {
            return valid & full;
        }
        let mut live = 0;
        for (lane, from) in from.iter().enumerate() {
            live |= (exec >> (from & 63) & 1) << lane;
        }
        live & valid & full
    }

    /// Copies a row of a wave with the lanes of `full` with its lanes moved. A source lane that is out of range or not in
    /// `exec` gives 0; whether the lane is then written at all is for [`Dpp::write_mask`] to say.
    ///
    /// # Safety
    /// `to` is valid for writes, `from` for reads; they may be the same.
    #[inline(never)]
    pub(super) unsafe fn permute(self, exec: u64, full: u64, to: *mut Vector, from: *const Vector) {
        let Move { from: lanes, within_rows, .. } = self.movement();
        // SAFETY: as the caller says; levels above 0 have AVX2.
        unsafe {
            match simd::level() {
                #[cfg(target_arch = "x86_64")]
                1.. if *within_rows => permute_rows(lanes, to, from),
                _ => permute_all(lanes, to, from),
            }
        }
        let sourced = self.sourced(exec, full);
        if sourced != full {
            // SAFETY: just written.
            keep(unsafe { &mut *to }, sourced);
        }
    }

    /// The lanes of `exec`, in a wave with those of `full`, that the instruction writes.
    pub(super) fn write_mask(self, exec: u64, full: u64) -> u64 {
        let (banks, rows) = (u64::from(self.0 >> 24 & 15), u64::from(self.0 >> 28));
        // A bit of the fields is four lanes of each row, or a row.
        let bank_lanes = (banks & 1 | (banks & 2) << 3 | (banks & 4) << 6 | (banks & 8) << 9) * 0xf;
        let row_lanes = (rows & 1 | (rows & 2) << 15 | (rows & 4) << 30 | (rows & 8) << 45) * 0xffff;
        let mut mask = (bank_lanes * 0x0001_0001_0001_0001) & row_lanes;
        if !self.bound_control() {
            mask &= self.sourced(exec, full);
        }
        mask & exec
    }
}

/// Copies a row where each lane reads the one of its eight that a DPP8 word names. What lanes that are off hold reads
/// as 0, unless they are fetched.
///
/// # Safety
/// `to` is valid for writes, `from` for reads; they may be the same.
pub(super) unsafe fn permute8(inst: &Inst, exec: u64, to: *mut Vector, from: *const Vector) {
    let live = if inst.fetches_inactive() { u64::MAX } else { exec };
    // SAFETY: as the caller says.
    let old = unsafe { from.read() };
    let moved = std::array::from_fn(|lane| {
        let from = lane & !7 | (inst.literal >> (8 + 3 * (lane & 7)) & 7) as usize;
        if live >> from & 1 != 0 { old.0[from] } else { 0 }
    });
    // SAFETY: as the caller says.
    unsafe { to.write(Vector(moved)) };
}

/// # Safety
/// `to` is valid for writes, `from` for reads; they may be the same.
#[inline(never)]
unsafe fn permute_all(lanes: &[u8; 64], to: *mut Vector, from: *const Vector) {
    // SAFETY: as the caller says.
    let old = unsafe { from.read() };
    let moved = lanes.map(|lane| old.0[usize::from(lane & 63)]);
    // SAFETY: as the caller says.
    unsafe { to.write(Vector(moved)) };
}

/// Moves every 16 lanes as `lanes` says of the first 16.
///
/// # Safety
/// As for [`permute_all`], and the CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn permute_rows(lanes: &[u8; 64], to: *mut Vector, from: *const Vector) {
    use std::arch::x86_64::*;
    // SAFETY: the numbers are eight bytes each of 64, the lanes eight words each of 64.
    unsafe {
        let index = |n: usize| _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().add(n).cast()));
        let (first, second) = (index(0), index(8));
        // Bit 3 of an index picks the half of a row that the lane comes from; moved to where blends look for it.
        let upper = |index: __m256i| _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
        let (first_upper, second_upper) = (upper(first), upper(second));
        for n in (0..64).step_by(16) {
            let (to, from) = (to.cast::<f32>().add(n), from.cast::<f32>().add(n));
            let (low, high) = (_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8)));
            let moved = |index: __m256i, upper: __m256| {
                _mm256_blendv_ps(
                    _mm256_permutevar8x32_ps(low, index),
                    _mm256_permutevar8x32_ps(high, index),
                    upper,
                )
            };
            _mm256_storeu_ps(to, moved(first, first_upper));
            _mm256_storeu_ps(to.add(8), moved(second, second_upper));
        }
    }
}
