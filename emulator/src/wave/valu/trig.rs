//! Argument reduction for large angles.

use super::{
    map::rare,
    mode::Precision,
    soft::{self, Env},
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

/// The first 1201 bits of 2/pi's fraction, most significant first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b0000,
];

/// 53 bits of 2/pi from bit `shift` on.
fn window(shift: u32) -> u64 {
    let (word, bit) = ((shift / 64) as usize, shift % 64);
    let at = |n: usize| u128::from(TWO_OVER_PI.get(n).copied().unwrap_or(0));
    let pair = at(word) << 64 | at(word + 1);
    (pair << bit >> 75) as u64
}

/// The segment of 2/pi that an angle of this exponent needs (MI200 ISA, V_TRIG_PREOP_F64).
fn segment(env: Env, angle: f64, index: u32) -> f64 {
    let exponent = (angle.to_bits() >> 52 & 0x7ff) as u32;
    let shift = (index & 31) * 53 + exponent.saturating_sub(1077);
    let scale = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    soft::scaled(env, false, window(shift), scale)
}

pub(crate) fn v_trig_preop_f64(wave: &mut Wave, inst: &Inst) -> Flow {
    let env = f64::env(wave.mode);
    rare::map2(wave, inst, |angle: f64, index: u32| segment(env, angle, index))
}
