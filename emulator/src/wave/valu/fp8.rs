//! The 8-bit floats of gfx942, and conversions between 8-bit floats and singles (MI300 ISA, 7.2).
//!
//! Neither format of gfx942 has infinities or a negative zero, whose code 0x80 is the only NaN ("FNUZ"). The same
//! instructions of gfx950 and RDNA 4 convert the formats of the Open Compute Project, [`small`]. On RDNA 4 op_sel names
//! the byte or half of a source, too (RDNA4 ISA, V_CVT_F32_FP8).

use super::{
    map::{accumulate, instructions, rare},
    small::{self, E4m3, E5m2, Rounding, Small},
};
use crate::{
    isa::{Flow, Inst, Target},
    wave::Wave,
};

const NAN: u32 = 0x80;
const MAX: u32 = 0x7f;
const INFINITY: u32 = 0x7f80_0000;

/// An 8-bit format.
pub(super) trait Fnuz {
    /// Bits of the fraction.
    const FRACTION: u32;
    /// Bits of the exponent.
    const EXPONENT: u32;
    /// What gfx950 and RDNA 4 have in its place.
    type Ocp: Small;
    /// One more than an IEEE format would have.
    const BIAS: u32 = 1 << (Self::EXPONENT - 1);

    /// The value of the low byte of `word`.
    #[inline(always)]
    fn decode(word: u32) -> f32 {
        // The exponent moves from one bias to the other; the product is exact, also for denormals.
        let rebias = f32::from_bits((254 - Self::BIAS) << 23);
        let magnitude = f32::from_bits((word & 0x7f) << (23 - Self::FRACTION)) * rebias;
        let value = f32::from_bits(magnitude.to_bits() | (word & 0x80) << 24);
        if word & 0xff == NAN { f32::NAN } else { value }
    }

    /// The nearest code, the even one of two.
    ///
    /// Too large a number becomes NaN or, if `saturate` (FP16_OVFL), the largest one.
    #[inline(always)]
    fn encode(x: f32, saturate: bool) -> u32 {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let last = 23 - Self::FRACTION;
        let normal = magnitude.wrapping_add((1 << (last - 1)) - 1).wrapping_add(magnitude >> last & 1);
        // The last place of the sum is the last place of a denormal code.
        let shift = (127 + 1 - Self::BIAS + last) << 23;
        let denormal = (f32::from_bits(magnitude) + f32::from_bits(shift)).to_bits().wrapping_sub(shift);
        Self::finish(x, normal, denormal, saturate)
    }

    /// A code next to `x`, the larger with a probability that grows with its nearness: a random number is added below
    /// the last bit that is kept, and the sum is truncated.
    ///
    /// The manual's "wrap around on overflow" is taken to mean that the sum carries into the exponent.
    #[inline(always)]
    fn encode_stochastic(x: f32, random: u32, saturate: bool) -> u32 {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let sum = magnitude.wrapping_add(random >> (9 + Self::FRACTION));
        // In units of the smallest denormal code. Only small sums are used.
        let unit = f32::from_bits((126 + Self::BIAS + Self::FRACTION) << 23);
        let denormal = (f32::from_bits(sum.min(0x3f80_0000)) * unit) as i32 as u32;
        Self::finish(x, sum, denormal, saturate)
    }

    /// The code of `x`, given its rounded magnitude as a single and, should it be a denormal, as a code.
    #[inline(always)]
    fn finish(x: f32, rounded: u32, denormal: u32, saturate: bool) -> u32 {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let smallest_normal = (128 - Self::BIAS) << 23;
        let normal = (rounded >> (23 - Self::FRACTION)).wrapping_sub((127 - Self::BIAS) << Self::FRACTION);
        let code = if rounded < smallest_normal { denormal } else { normal };
        let overflow = code > MAX || magnitude == INFINITY;
        let code = if overflow { MAX } else { code };
        let sign = if code == 0 { 0 } else { x.to_bits() >> 24 & 0x80 };
        if magnitude > INFINITY || overflow && !saturate { NAN } else { code | sign }
    }
}

/// Four bits of exponent, three of fraction.
pub(super) struct Fp8;
/// Five bits of exponent, two of fraction.
pub(super) struct Bf8;

impl Fnuz for Fp8 {
    const FRACTION: u32 = 3;
    const EXPONENT: u32 = 4;
    type Ocp = E4m3;
}

impl Fnuz for Bf8 {
    const FRACTION: u32 = 2;
    const EXPONENT: u32 = 5;
    type Ocp = E5m2;
}

/// Whether the formats are those of [`small`].
fn is_ocp(wave: &Wave) -> bool {
    wave.target == Target::Gfx950 || wave.target.is_rdna()
}

/// The low byte, or the one that op_sel names, with its two bits in reverse.
#[inline(always)]
fn unpack<F: Fnuz>(wave: &mut Wave, inst: &Inst) -> Flow {
    if is_ocp(wave) {
        let op_sel = u32::from(inst.mods.op_sel);
        let shift = (op_sel & 1) << 4 | (op_sel & 2) << 2;
        rare::map1(wave, inst, move |a: u32| small::decode::<F::Ocp>(a >> shift))
    } else {
        rare::map1(wave, inst, F::decode)
    }
}

/// The low two bytes, or the high ones if op_sel says so.
#[inline(always)]
fn unpack_pair<F: Fnuz>(wave: &mut Wave, inst: &Inst) -> Flow {
    let pair = |low: f32, high: f32| u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
    if is_ocp(wave) {
        let shift = u32::from(inst.mods.op_sel & 1) << 4;
        let half = move |a: u32| {
            let a = a >> shift;
            pair(small::decode::<F::Ocp>(a), small::decode::<F::Ocp>(a >> 8))
        };
        rare::map1(wave, inst, half)
    } else {
        rare::map1(wave, inst, |a: u32| pair(F::decode(a), F::decode(a >> 8)))
    }
}

/// Two codes into the half of the destination that op_sel names; the other half stays.
#[inline(always)]
fn pack<F: Fnuz>(wave: &mut Wave, inst: &Inst) -> Flow {
    let shift = if inst.mods.op_sel & 8 != 0 { 16 } else { 0 };
    let put = move |old: u32, low: u32, high: u32| old & !(0xffff << shift) | (low | high << 8) << shift;
    let saturate = wave.mode.fp16_overflow();
    if is_ocp(wave) {
        let encode = move |x| small::encode::<F::Ocp>(x, 127, Rounding::NearestEven, saturate);
        accumulate(wave, inst, |a: f32, b: f32, old: u32| put(old, encode(a), encode(b)))
    } else {
        accumulate(wave, inst, |a: f32, b: f32, old: u32| {
            put(old, F::encode(a, saturate), F::encode(b, saturate))
        })
    }
}

/// A code into the byte of the destination that op_sel names; the others stay.
#[inline(always)]
fn stochastic<F: Fnuz>(wave: &mut Wave, inst: &Inst) -> Flow {
    let shift = 8 * u32::from(inst.mods.op_sel >> 2 & 3);
    let put = move |old: u32, code: u32| old & !(0xff << shift) | code << shift;
    let saturate = wave.mode.fp16_overflow();
    if is_ocp(wave) {
        accumulate(wave, inst, |a: f32, random: u32, old: u32| {
            put(old, encode_sum::<F::Ocp>(a, random, saturate))
        })
    } else {
        accumulate(wave, inst, |a: f32, random: u32, old: u32| {
            put(old, F::encode_stochastic(a, random, saturate))
        })
    }
}

/// As [`Fnuz::encode_stochastic`]: the random number is added to the single, which differs from [`small::encode`] where
/// the code is a denormal.
#[inline(always)]
fn encode_sum<F: Small>(x: f32, random: u32, saturate: bool) -> u32 {
    let sum = x.abs().to_bits().wrapping_add(random >> (9 + F::FRACTION)).min(f32::MAX.to_bits());
    let sum = f32::from_bits(sum).copysign(x);
    small::encode::<F>(if x.is_finite() { sum } else { x }, 127, Rounding::Stochastic(0), saturate)
}

instructions! {
    pub(crate) fn v_cvt_f32_fp8(wave, inst) {
        unpack::<Fp8>(wave, inst)
    }
    pub(crate) fn v_cvt_f32_bf8(wave, inst) {
        unpack::<Bf8>(wave, inst)
    }
    pub(crate) fn v_cvt_pk_f32_fp8(wave, inst) {
        unpack_pair::<Fp8>(wave, inst)
    }
    pub(crate) fn v_cvt_pk_f32_bf8(wave, inst) {
        unpack_pair::<Bf8>(wave, inst)
    }
    pub(crate) fn v_cvt_pk_fp8_f32(wave, inst) {
        pack::<Fp8>(wave, inst)
    }
    pub(crate) fn v_cvt_pk_bf8_f32(wave, inst) {
        pack::<Bf8>(wave, inst)
    }
    pub(crate) fn v_cvt_sr_fp8_f32(wave, inst) {
        stochastic::<Fp8>(wave, inst)
    }
    pub(crate) fn v_cvt_sr_bf8_f32(wave, inst) {
        stochastic::<Bf8>(wave, inst)
    }
}

#[cfg(test)]
mod tests;
