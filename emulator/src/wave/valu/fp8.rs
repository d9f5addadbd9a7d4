//! The 8-bit floats of gfx942, and conversions between them and singles (MI300 ISA, 7.2).
//!
//! Neither format has infinities or a negative zero, whose code 0x80 is the only NaN ("FNUZ").

use super::map::{accumulate, lanes};
use crate::{
    isa::{Flow, Inst},
    wave::{Wave, multiversion::multiversion},
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
}

impl Fnuz for Bf8 {
    const FRACTION: u32 = 2;
    const EXPONENT: u32 = 5;
}

lanes! {
    once;
    v_cvt_f32_fp8(a: u32) -> f32 { Fp8::decode(a) };
    v_cvt_f32_bf8(a: u32) -> f32 { Bf8::decode(a) };
    v_cvt_pk_f32_fp8(a: u32) -> u64 { pair(Fp8::decode(a), Fp8::decode(a >> 8)) };
    v_cvt_pk_f32_bf8(a: u32) -> u64 { pair(Bf8::decode(a), Bf8::decode(a >> 8)) };
}

#[inline(always)]
fn pair(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

/// Two codes into the half of the destination that op_sel names; the other half stays.
#[inline(always)]
fn pack<F: Fnuz>(wave: &mut Wave, inst: &Inst) -> Flow {
    let saturate = wave.mode.fp16_overflow();
    let shift = if inst.mods.op_sel & 8 != 0 { 16 } else { 0 };
    accumulate(wave, inst, |a: f32, b: f32, old: u32| {
        let codes = F::encode(a, saturate) | F::encode(b, saturate) << 8;
        old & !(0xffff << shift) | codes << shift
    })
}

/// A code into the byte of the destination that op_sel names; the others stay.
#[inline(always)]
fn stochastic<F: Fnuz>(wave: &mut Wave, inst: &Inst) -> Flow {
    let saturate = wave.mode.fp16_overflow();
    let shift = 8 * u32::from(inst.mods.op_sel >> 2 & 3);
    accumulate(wave, inst, |a: f32, random: u32, old: u32| {
        old & !(0xff << shift) | F::encode_stochastic(a, random, saturate) << shift
    })
}

multiversion! {
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
