//! Floating-point read-modify-write: rounding, denormals and NaNs (CDNA3 ISA, 9.2). Values are bit patterns.
//!
//! Where both inputs are NaN the manual takes "the first input"; here that is what memory holds.

use super::float16;
use crate::{
    isa::{Generation, Target},
    wave::Mode,
};

/// What an operation makes of numbers that are none or hardly any.
#[derive(Clone, Copy)]
pub struct Edges {
    /// Which denormals it keeps: MODE's two-bit fields, bit 0 for inputs, bit 1 for results.
    single: u32,
    /// Also of halves.
    double: u32,
    /// Whether minimum and maximum return a signalling NaN: not on RDNA 4, where a number always wins.
    signals: bool,
}

impl Edges {
    fn new(target: Target, single: u32, double: u32) -> Self {
        Self { single, double, signals: target.generation() != Generation::Gfx12 }
    }

    /// Of an atomic that LDS performs: MODE says.
    pub fn in_lds(target: Target, mode: Mode) -> Self {
        Self::new(target, mode.denorm32(), mode.denorm64())
    }

    /// Of an atomic that the L2 cache performs: gfx90a flushes in single-precision additions.
    pub fn in_memory(target: Target) -> Self {
        Self::new(target, if target == Target::Gfx90a { 0 } else { 3 }, 3)
    }
}

/// One of the two formats, as bit patterns in a `u64`.
struct Format {
    sign: u64,
    infinity: u64,
    /// The fraction's highest bit, which makes a NaN quiet.
    quiet: u64,
}

const SINGLE: Format = Format { sign: 1 << 31, infinity: 0x7f80_0000, quiet: 1 << 22 };
const DOUBLE: Format = Format { sign: 1 << 63, infinity: 0x7ff0_0000_0000_0000, quiet: 1 << 51 };

impl Format {
    fn magnitude(&self, value: u64) -> u64 {
        value & (self.sign - 1)
    }

    fn is_nan(&self, value: u64) -> bool {
        self.magnitude(value) > self.infinity
    }

    fn is_signalling(&self, value: u64) -> bool {
        self.is_nan(value) && value & self.quiet == 0
    }

    /// The value, or a zero of its sign if it is a denormal that is not kept.
    fn flush(&self, value: u64, keep: bool) -> u64 {
        if !keep && self.magnitude(value) & self.infinity == 0 { value & self.sign } else { value }
    }

    /// Numbers in their order, -0 below +0.
    fn order(&self, value: u64) -> u64 {
        if value & self.sign != 0 { self.magnitude(!value) } else { value | self.sign }
    }

    /// The smaller or, if `max`, the larger of two; a signalling NaN wins where there are `signals`, a quiet one loses.
    /// Flushing concerns the comparison only.
    fn select(&self, old: u64, data: u64, max: bool, keep: bool, signals: bool) -> u64 {
        let wins = |x: u64| signals && self.is_signalling(x);
        if wins(old) || self.is_nan(data) && self.is_nan(old) && !wins(data) {
            return old | self.quiet;
        }
        if wins(data) {
            return data | self.quiet;
        }
        if self.is_nan(old) {
            return data;
        }
        if self.is_nan(data) {
            return old;
        }
        let [a, b] = [old, data].map(|v| self.order(self.flush(v, keep)));
        let chosen = if max { b > a } else { b < a };
        if chosen { data } else { old }
    }

    /// `data` where memory equals the comparand, -0 and +0 alike. What is stored is flushed as the comparison
    /// is.
    fn compare_store(&self, old: u64, data: u64, comparand: u64, keep: bool) -> u64 {
        let [a, b] = [old, comparand].map(|v| self.flush(v, keep));
        let zeros = self.magnitude(a) == 0 && self.magnitude(b) == 0;
        if !self.is_nan(a) && !self.is_nan(b) && (a == b || zeros) { self.flush(data, keep) } else { old }
    }

    /// The sum as `add` has it for two numbers; NaNs are propagated and made quiet.
    fn sum(&self, old: u64, data: u64, add: impl Fn(u64, u64) -> u64) -> u64 {
        if self.is_nan(old) {
            return old | self.quiet;
        }
        if self.is_nan(data) {
            return data | self.quiet;
        }
        let sum = add(old, data);
        // Infinities of both signs.
        if self.is_nan(sum) { self.infinity | self.quiet } else { sum }
    }
}

/// The sum of two singles, rounded to nearest even.
pub fn add32(old: u32, data: u32, edges: Edges) -> u32 {
    let (inputs, result) = (edges.single & 1 != 0, edges.single & 2 != 0);
    let [a, b] = [old, data].map(|v| SINGLE.flush(v.into(), inputs));
    // CAST: singles stay within 32 bits.
    let add = |a, b| (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits().into();
    SINGLE.flush(SINGLE.sum(a, b, add), result) as u32
}

/// The sum of two doubles, rounded to nearest even; denormals are always kept.
pub fn add64(old: u64, data: u64) -> u64 {
    DOUBLE.sum(old, data, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits())
}

/// The smaller or, if `max`, the larger single.
pub fn select32(old: u32, data: u32, max: bool, edges: Edges) -> u32 {
    // CAST: singles stay within 32 bits.
    SINGLE.select(old.into(), data.into(), max, edges.single & 1 != 0, edges.signals) as u32
}

/// The smaller or, if `max`, the larger double.
pub fn select64(old: u64, data: u64, max: bool, edges: Edges) -> u64 {
    DOUBLE.select(old, data, max, edges.double & 1 != 0, edges.signals)
}

/// Compare-and-store of singles.
pub fn compare_store32(old: u32, data: u32, comparand: u32, edges: Edges) -> u32 {
    // CAST: singles stay within 32 bits.
    SINGLE.compare_store(old.into(), data.into(), comparand.into(), edges.single & 1 != 0) as u32
}

/// Compare-and-store of doubles.
pub fn compare_store64(old: u64, data: u64, comparand: u64, edges: Edges) -> u64 {
    DOUBLE.compare_store(old, data, comparand, edges.double & 1 != 0)
}

/// The sums of two pairs of halves.
pub fn pk_add_f16(old: u32, data: u32, edges: Edges) -> u32 {
    float16::pk_add_f16(old, data, edges.double)
}

/// The sums of two pairs of bfloat16.
pub fn pk_add_bf16(old: u32, data: u32, edges: Edges) -> u32 {
    float16::pk_add_bf16(old, data, edges.double)
}
