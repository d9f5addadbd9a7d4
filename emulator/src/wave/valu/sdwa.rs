//! Sub-dword addressing: bytes and words as sources and destination (MI200 ISA, 13.3.7).

use super::rows;
use crate::{isa::Inst, wave::Vector};

/// The fields of an SDWA word.
#[derive(Clone, Copy)]
pub(super) struct Sdwa(pub u32);

impl Sdwa {
    pub(super) fn of(inst: &Inst) -> Self {
        Self(inst.word1)
    }

    fn source_fields(self, n: usize) -> u32 {
        self.0 >> (16 + 8 * n)
    }

    pub(super) fn abs(self, n: usize) -> bool {
        self.source_fields(n) & 1 << 5 != 0
    }

    pub(super) fn neg(self, n: usize) -> bool {
        self.source_fields(n) & 1 << 4 != 0
    }

    /// Whether source `n` is a dword without modifiers.
    pub(super) fn is_whole(self, n: usize) -> bool {
        self.source_fields(n) & 7 == 6 && !self.abs(n) && !self.neg(n)
    }

    pub(super) fn clamp(self) -> bool {
        self.0 & 1 << 13 != 0
    }

    pub(super) fn omod(self) -> u8 {
        (self.0 >> 14 & 3) as u8
    }

    /// Copies the selected part of source `n`, sign- or zero-extended.
    ///
    /// # Safety
    /// `to` is valid for writes, `from` for reads; they may be the same.
    pub(super) unsafe fn select(self, n: usize, to: *mut Vector, from: *const Vector) {
        let fields = self.source_fields(n);
        let (shift, bits) = part(fields & 7);
        // SAFETY: as the caller says.
        unsafe { rows::extract(to, from, 32 - bits - shift, 32 - bits, fields & 1 << 3 != 0) }
    }

    /// Turns the result into what the destination, which is `old`, becomes: the result stands in the selected part.
    pub(super) fn place(self, old: &Vector, row: &mut Vector) {
        let (shift, bits) = part(self.0 >> 8 & 7);
        if bits == 32 {
            return;
        }
        let mask = u32::MAX >> (32 - bits) << shift;
        match self.0 >> 11 & 3 {
            0 => rows::insert(row, &Vector([0; 64]), shift, mask),
            // The sign fills the bits above.
            1 => {
                let row = std::ptr::from_mut(row);
                // SAFETY: a reference, read and written through the same pointer.
                unsafe { rows::extract(row, row, 32 - bits, 32 - bits - shift, true) };
                // SAFETY: as above.
                unsafe { rows::copy(row, row, 64, u32::MAX << shift, 0) };
            }
            _ => rows::insert(row, old, shift, mask),
        }
    }
}

/// Shift and width of a select code: bytes 0 to 3, words 0 and 1, the dword.
fn part(select: u32) -> (u32, u32) {
    match select {
        0..=3 => (8 * select, 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => (0, 32),
    }
}
