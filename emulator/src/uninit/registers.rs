//! The shadows of a wave's registers: the bits that come from bytes that nothing has written. Registers count as written at the
//! start: compilers leave some as they are.

use super::Origin;

/// Scalar registers, and behind them [`SCC`].
pub(crate) const SCALARS: usize = 129;
/// The scalar condition code.
pub(crate) const SCC: usize = 128;

/// A vector register.
#[derive(Clone)]
pub(crate) struct VectorShadow {
    /// Bits of each lane.
    pub(crate) bits: [u32; 64],
    /// The lanes in which they were computed, and not only copied.
    pub(crate) derived: u64,
    pub(crate) origin: Origin,
}

/// A scalar register.
#[derive(Clone, Copy, Default)]
pub(crate) struct ScalarShadow {
    pub(crate) bits: u32,
    pub(crate) derived: bool,
    pub(crate) origin: Origin,
}

/// All registers.
pub(crate) struct Registers {
    /// By rows of the register file; none before the first such value.
    vectors: Vec<VectorShadow>,
    /// The rows in which any bit is set.
    rows: [u64; 8],
    scalars: [ScalarShadow; SCALARS],
    /// The scalar registers in which any bit is set.
    set: [u64; 3],
}

impl Default for Registers {
    fn default() -> Self {
        let scalars = [ScalarShadow::default(); SCALARS];
        Self { vectors: Vec::new(), rows: [0; 8], scalars, set: [0; 3] }
    }
}

const NOTHING: VectorShadow = VectorShadow { bits: [0; 64], derived: 0, origin: 0 };

impl Registers {
    /// All of them are written.
    pub(crate) fn clear(&mut self) {
        // Rows keep what was in them: `set_row` begins with an empty one where no bit was set.
        self.rows = [0; 8];
        (self.scalars, self.set) = ([ScalarShadow::default(); SCALARS], [0; 3]);
    }

    /// Whether any vector register holds such a bit.
    pub(crate) fn has_vectors(&self) -> bool {
        self.rows != [0; 8]
    }

    /// Whether any scalar register does.
    pub(crate) fn has_scalars(&self) -> bool {
        self.set != [0; 3]
    }

    /// A row in which any bit is set.
    pub(crate) fn row(&self, row: usize) -> Option<&VectorShadow> {
        let row = row & 511;
        if self.rows[row / 64] >> (row % 64) & 1 == 0 { None } else { self.vectors.get(row) }
    }

    /// Gives the bits of a row, in the lanes of `exec`, and where they come from if there are any.
    pub(crate) fn set_row(&mut self, row: usize, exec: u64, new: &VectorShadow) {
        let row = row & 511;
        let has_new = (0..64).any(|lane| exec >> lane & 1 == 1 && new.bits[lane] != 0);
        let had_any = self.row(row).is_some();
        if !has_new && !had_any {
            return;
        }
        if self.vectors.is_empty() {
            self.vectors = vec![NOTHING; 512];
        }
        let old = &mut self.vectors[row];
        if !had_any {
            *old = NOTHING;
        }
        let mut any = 0;
        for lane in 0..64 {
            if exec >> lane & 1 == 1 {
                old.bits[lane] = new.bits[lane];
            }
            any |= old.bits[lane];
        }
        old.derived = old.derived & !exec | new.derived & exec;
        if has_new {
            old.origin = new.origin;
        }
        let bit = 1 << (row % 64);
        self.rows[row / 64] = self.rows[row / 64] & !bit | if any == 0 { 0 } else { bit };
    }

    /// The lanes of `exec` in a row are written.
    pub(crate) fn clear_row(&mut self, row: usize, exec: u64) {
        if self.row(row).is_some() {
            self.set_row(row, exec, &NOTHING);
        }
    }

    /// A scalar register, or [`SCC`].
    pub(crate) fn scalar(&self, n: usize) -> ScalarShadow {
        self.scalars.get(n).copied().unwrap_or_default()
    }

    /// See [`Registers::scalar`].
    pub(crate) fn set_scalar(&mut self, n: usize, new: ScalarShadow) {
        let Some(scalar) = self.scalars.get_mut(n) else { return };
        *scalar = new;
        let bit = 1 << (n % 64);
        self.set[n / 64] = self.set[n / 64] & !bit | if new.bits == 0 { 0 } else { bit };
    }
}
