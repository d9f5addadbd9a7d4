//! Sub-dword addressing: bytes and words as sources and destination (MI200 ISA, 13.3.7).

use crate::isa::Inst;

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

    pub(super) fn clamp(self) -> bool {
        self.0 & 1 << 13 != 0
    }

    pub(super) fn omod(self) -> u8 {
        (self.0 >> 14 & 3) as u8
    }

    /// The selected part of source `n`, sign- or zero-extended.
    pub(super) fn select(self, n: usize, word: u32) -> u32 {
        let fields = self.source_fields(n);
        let signed = fields & 1 << 3 != 0;
        let (shift, bits) = part(fields & 7);
        let value = word << (32 - bits - shift);
        if signed { ((value as i32) >> (32 - bits)) as u32 } else { value >> (32 - bits) }
    }

    /// The result placed into the selected part of the destination, whose old word is `old`.
    pub(super) fn place(self, old: u32, value: u32) -> u32 {
        let (shift, bits) = part(self.0 >> 8 & 7);
        let mask = u32::MAX >> (32 - bits) << shift;
        let placed = value << shift & mask;
        match self.0 >> 11 & 3 {
            0 => placed,
            1 if placed >> (shift + bits - 1) & 1 != 0 => placed | !((1 << shift) - 1) & !mask,
            1 => placed,
            _ => old & !mask | placed,
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
