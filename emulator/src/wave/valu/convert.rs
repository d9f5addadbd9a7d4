//! Conversions between number formats.

use super::{
    half::{Bf16, F16},
    map::{accumulate, instructions, lanes, map1, map2, map3, rare},
    modal::floats,
    mode::{Operand, Precision},
    small::{self, Rounding},
    soft::{self, Env, Round},
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

/// To a signed 16-bit fraction of 1; NaN gives 0.
#[inline(always)]
fn snorm(x: f32) -> u32 {
    let x = if x.is_nan() { 0.0 } else { f64::from(x).clamp(-1.0, 1.0) };
    (x * 32767.0).round_ties_even() as i32 as u32 & 0xffff
}

/// To an unsigned 16-bit fraction of 1; NaN gives 0.
#[inline(always)]
fn unorm(x: f32) -> u32 {
    let x = if x.is_nan() { 0.0 } else { f64::from(x).clamp(0.0, 1.0) };
    (x * 65535.0).round_ties_even() as u32
}

#[inline(always)]
fn pack(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

#[inline(always)]
fn bytes([low, high]: [i32; 2]) -> u16 {
    (low & 0xff | high << 8) as u16
}

#[inline(always)]
fn quiet(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(x.to_bits() | 1 << 22) } else { x }
}

floats! {
    f32: v_cvt_f32_i32(a: i32) -> f32 { a as f32 },
        exact |e| { soft::scaled(e, a < 0, a.unsigned_abs().into(), 0) };
    f32: v_cvt_f32_u32(a: u32) -> f32 { a as f32 }, exact |e| { soft::scaled(e, false, a.into(), 0) };
    f32: v_cvt_i32_f32(a: f32) -> i32 { a as i32 };
    f32: v_cvt_u32_f32(a: f32) -> u32 { a as u32 };
    f32: v_cvt_f64_f32(a: f32) -> f64 { f64::from(quiet(a)) };
    F16: v_cvt_f32_f16(a: F16) -> f32 { quiet(a.to_f32()) };
}

floats! {
    once;
    F16: v_cvt_f16_u16(a: u16) -> F16 { F16::from_f32(f32::from(a)) },
        exact |e| { soft::scaled(e, false, a.into(), 0) };
    F16: v_cvt_f16_i16(a: i16) -> F16 { F16::from_f32(f32::from(a)) },
        exact |e| { soft::scaled(e, a < 0, a.unsigned_abs().into(), 0) };
    // Nearest with ties up, and down. The sum is exact in double precision.
    f32: v_cvt_rpi_i32_f32(a: f32) -> i32 { (f64::from(a) + 0.5).floor() as i32 };
    f32: v_cvt_flr_i32_f32(a: f32) -> i32 { a.floor() as i32 };
    F16: v_cvt_u16_f16(a: F16) -> u16 { a.to_f32() as u16 };
    F16: v_cvt_i16_f16(a: F16) -> i16 { a.to_f32() as i16 };
}

lanes! {
    // The manual moves the bits, whatever they are.
    v_cvt_f32_bf16(a: Bf16) -> f32 { a.to_f32() };
    v_cvt_f64_i32(a: i32) -> f64 { f64::from(a) };
    v_cvt_f64_u32(a: u32) -> f64 { f64::from(a) };
    v_cvt_f32_ubyte0(a: u32) -> f32 { (a & 0xff) as f32 };
    v_cvt_f32_ubyte1(a: u32) -> f32 { (a >> 8 & 0xff) as f32 };
    v_cvt_f32_ubyte2(a: u32) -> f32 { (a >> 16 & 0xff) as f32 };
    v_cvt_f32_ubyte3(a: u32) -> f32 { (a >> 24) as f32 };
}

lanes! {
    once;
    v_cvt_i32_f64(a: f64) -> i32 { a as i32 };
    v_cvt_u32_f64(a: f64) -> u32 { a as u32 };
    // Four bits, signed, in sixteenths.
    v_cvt_off_f32_i4(a: i32) -> f32 { (a << 28 >> 28) as f32 * 0.0625 };
    v_cvt_norm_i16_f16(a: F16) -> u16 { snorm(a.to_f32()) as u16 };
    v_cvt_norm_u16_f16(a: F16) -> u16 { unorm(a.to_f32()) as u16 };
    v_cvt_pknorm_i16_f32(a: f32, b: f32) -> u32 { pack(snorm(a), snorm(b)) };
    v_cvt_pknorm_u16_f32(a: f32, b: f32) -> u32 { pack(unorm(a), unorm(b)) };
    v_cvt_pknorm_i16_f16(a: F16, b: F16) -> u32 { pack(snorm(a.to_f32()), snorm(b.to_f32())) };
    v_cvt_pknorm_u16_f16(a: F16, b: F16) -> u32 { pack(unorm(a.to_f32()), unorm(b.to_f32())) };
    v_cvt_pk_u16_u32(a: u32, b: u32) -> u32 { pack(a.min(0xffff), b.min(0xffff)) };
    v_cvt_pk_i16_i32(a: i32, b: i32) -> u32 {
        pack(a.clamp(-0x8000, 0x7fff) as u32, b.clamp(-0x8000, 0x7fff) as u32)
    };
    v_ashr_pk_i8_i32(a: i32, b: i32, n: u32) -> u16 { bytes([a, b].map(|x| (x >> (n & 31)).clamp(-0x80, 0x7f))) };
    v_ashr_pk_u8_i32(a: i32, b: i32, n: u32) -> u16 { bytes([a, b].map(|x| (x >> (n & 31)).clamp(0, 0xff))) };
    v_sat_pk_u8_i16(a: u32) -> u16 {
        ((a as i16).clamp(0, 255) | ((a >> 16) as i16).clamp(0, 255) << 8) as u16
    };
}

instructions! {
    pub(crate) fn v_cvt_f16_f32(wave, inst) {
        let (from, to) = (f32::env(wave.mode), F16::env(wave.mode));
        if to == Env::DEFAULT {
            map1(wave, inst, |a: f32| F16::from_f32(a.flush_if(from.flush_in)))
        } else {
            rare::map1(wave, inst, |a: f32| -> F16 { soft::convert(from, to, a) })
        }
    }

    pub(crate) fn v_cvt_f32_f64(wave, inst) {
        let (from, to) = (f64::env(wave.mode), f32::env(wave.mode));
        if to == Env::DEFAULT && !from.flush_in {
            map1(wave, inst, |a: f64| quiet(a as f32))
        } else {
            rare::map1(wave, inst, |a: f64| -> f32 { soft::convert(from, to, a) })
        }
    }

    // Both round to nearest even whatever MODE says.
    pub(crate) fn v_cvt_pk_f16_f32(wave, inst) {
        let (from, to) = (f32::env(wave.mode), Env { round: Round::NearestEven, ..F16::env(wave.mode) });
        if to == Env::DEFAULT && !from.flush_in {
            map2(wave, inst, |a: f32, b: f32| pack(F16::from_f32(a).0.into(), F16::from_f32(b).0.into()))
        } else {
            let convert = |x: f32| u32::from(soft::convert::<f32, F16>(from, to, x).0);
            rare::map2(wave, inst, |a: f32, b: f32| pack(convert(a), convert(b)))
        }
    }

    pub(crate) fn v_cvt_pk_bf16_f32(wave, inst) {
        let env = Env { round: Round::NearestEven, ..f32::env(wave.mode) };
        if env == Env::DEFAULT {
            map2(wave, inst, |a: f32, b: f32| pack(Bf16::from_f32(a).0.into(), Bf16::from_f32(b).0.into()))
        } else {
            let convert = |x: f32| u32::from(soft::convert::<f32, Bf16>(env, env, x).0);
            rare::map2(wave, inst, |a: f32, b: f32| pack(convert(a), convert(b)))
        }
    }

    pub(crate) fn v_cvt_sr_f16_f32(wave, inst) {
        let (from, to) = (f32::env(wave.mode), F16::env(wave.mode));
        stochastic(wave, inst, |x, random| {
            let x = x.flush_if(from.flush_in);
            let code = small::encode::<small::Half>(x, 127, Rounding::Stochastic(random), to.saturate);
            // A NaN keeps the top of its payload.
            let half = if x.is_nan() { F16::from_f32(x) } else { F16(code as u16) };
            half.flush_if(to.flush_out).0
        })
    }

    pub(crate) fn v_cvt_sr_bf16_f32(wave, inst) {
        let env = f32::env(wave.mode);
        stochastic(wave, inst, |x, random| {
            let x = x.flush_if(env.flush_in);
            let code = small::encode::<small::Brain>(x, 127, Rounding::Stochastic(random), false);
            let half = if x.is_nan() { Bf16::from_f32(x) } else { Bf16(code as u16) };
            half.flush_if(env.flush_out).0
        })
    }

    pub(crate) fn v_cvt_pkrtz_f16_f32(wave, inst) {
        let from = f32::env(wave.mode);
        let to = Env { round: Round::Zero, ..F16::env(wave.mode) };
        map2(wave, inst, |a: f32, b: f32| {
            let convert = |x: f32| u32::from(toward_zero(x.flush_if(from.flush_in)).flush_if(to.flush_out).0);
            pack(convert(a), convert(b))
        })
    }
}

/// A function of a number and a random one into the half of the destination that op_sel names; the other half stays.
#[inline(always)]
fn stochastic(wave: &mut Wave, inst: &Inst, f: impl Fn(f32, u32) -> u16) -> Flow {
    let shift = if inst.mods.op_sel & 8 != 0 { 16 } else { 0 };
    rare::accumulate(wave, inst, |x: f32, random: u32, old: u32| {
        old & !(0xffff << shift) | u32::from(f(x, random)) << shift
    })
}

/// A byte, rounded in the mode of `env` and saturated; NaN gives 0.
fn byte(env: Env, x: f32) -> u32 {
    let x = x.flush_if(env.flush_in);
    let rounded = match env.round {
        Round::NearestEven => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
        Round::Zero => x.trunc(),
    };
    u32::from(rounded as u8)
}

/// `old` with the byte that the low bits of `select` name replaced.
fn insert(old: u32, select: u32, byte: u32) -> u32 {
    let shift = 8 * (select & 3);
    old & !(0xff << shift) | byte << shift
}

pub(crate) fn v_cvt_pk_u8_f32(wave: &mut Wave, inst: &Inst) -> Flow {
    let env = f32::env(wave.mode);
    map3(wave, inst, |x: f32, select: u32, old: u32| insert(old, select, byte(env, x)))
}

pub(crate) fn v_cvt_pkaccum_u8_f32(wave: &mut Wave, inst: &Inst) -> Flow {
    let env = f32::env(wave.mode);
    accumulate(wave, inst, |x: f32, select: u32, old: u32| insert(old, select, byte(env, x)))
}

/// Rounds to half precision toward zero.
#[inline(always)]
fn toward_zero(x: f32) -> F16 {
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    // In units of 2^-24, the last place of a denormal half.
    let denormal = (f32::from_bits(magnitude).min(1.0) * 16_777_216.0) as i32 as u32;
    let normal = magnitude.wrapping_sub(112 << 23) >> 13;
    let special = if magnitude > 0x7f80_0000 { 0x7e00 | (magnitude >> 13 & 0x3ff) } else { 0x7c00 };
    let finite = if magnitude < 0x3880_0000 {
        denormal
    } else if magnitude >= 0x4780_0000 {
        0x7bff
    } else {
        normal
    };
    F16(if magnitude >= 0x7f80_0000 { special } else { finite } as u16 | sign)
}
