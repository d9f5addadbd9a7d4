//! Data-parallel primitives: source 0 comes from another lane (MI200 ISA, 13.3.9).

use crate::isa::Inst;

/// No lane.
const NOWHERE: u8 = u8::MAX;

/// The fields of a DPP word.
#[derive(Clone, Copy)]
pub(super) struct Dpp(pub u32);

impl Dpp {
    pub(super) fn of(inst: &Inst) -> Self {
        Self(inst.word1)
    }

    /// Bit `i` of these: absolute value, negation of source `i`.
    pub(super) fn abs(self) -> u8 {
        (self.0 >> 21 & 1 | self.0 >> 22 & 2) as u8
    }

    pub(super) fn neg(self) -> u8 {
        (self.0 >> 20 & 1 | self.0 >> 21 & 2) as u8
    }

    /// Whether lanes without a source read 0 rather than keeping their destination.
    fn bound_control(self) -> bool {
        self.0 & 1 << 19 != 0
    }

    /// For every lane, the lane that it reads; [`NOWHERE`] where that is out of range.
    fn sources(self) -> [u8; 64] {
        let control = (self.0 >> 8 & 0x1ff) as usize;
        let n = control & 15;
        let all = |f: &dyn Fn(usize, usize) -> Option<usize>| -> [u8; 64] {
            // CAST: lanes are below 64.
            std::array::from_fn(|lane| f(lane & !15, lane & 15).map_or(NOWHERE, |source| source as u8))
        };
        match control {
            0x000..=0x0ff => all(&|row, i| Some(row + (i & !3) + (control >> (2 * (i & 3)) & 3))),
            0x101..=0x10f => all(&|row, i| (i + n < 16).then_some(row + i + n)),
            0x111..=0x11f => all(&|row, i| (i >= n).then(|| row + i - n)),
            0x121..=0x12f => all(&|row, i| Some(row + (i + 16 - n) % 16)),
            0x130 => all(&|row, i| (row + i < 63).then_some(row + i + 1)),
            0x134 => all(&|row, i| Some((row + i + 1) % 64)),
            0x138 => all(&|row, i| (row + i).checked_sub(1)),
            0x13c => all(&|row, i| Some((row + i + 63) % 64)),
            0x140 => all(&|row, i| Some(row + 15 - i)),
            0x141 => all(&|row, i| Some(row + (i & 8) + (7 - (i & 7)))),
            0x142 => all(&|row, _| row.checked_sub(1)),
            0x143 => all(&|row, _| (row >= 32).then_some(31)),
            0x150..=0x15f => all(&|row, _| Some(row + n)),
            _ => [NOWHERE; 64],
        }
    }

    /// Moves the lanes of one row. A source lane that is out of range or not in `exec` gives 0; whether the lane
    /// is then written at all is for [`Dpp::write_mask`] to say.
    pub(super) fn permute(self, exec: u64, row: &mut [u32; 64]) {
        let from = *row;
        for (word, source) in row.iter_mut().zip(self.sources()) {
            let live = source != NOWHERE && exec >> (source & 63) & 1 != 0;
            *word = if live { from[usize::from(source & 63)] } else { 0 };
        }
    }

    /// The lanes of `exec` that the instruction writes.
    pub(super) fn write_mask(self, exec: u64) -> u64 {
        let (banks, rows) = (self.0 >> 24 & 15, self.0 >> 28);
        let mut mask = 0u64;
        for row in (0..4).filter(|row| rows >> row & 1 != 0) {
            for bank in (0..4).filter(|bank| banks >> bank & 1 != 0) {
                mask |= 15 << (16 * row + 4 * bank);
            }
        }
        if !self.bound_control() {
            for (lane, source) in self.sources().into_iter().enumerate() {
                let live = source != NOWHERE && exec >> (source & 63) & 1 != 0;
                mask &= !(u64::from(!live) << lane);
            }
        }
        mask & exec
    }
}
