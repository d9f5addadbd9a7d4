//! Instructions that produce a value and a bit per lane: carries, wide multiply-adds, division scaling.

use super::{
    kernel::{Baseline, Each},
    lane::Lane,
    map::{instructions, judge},
    result::clamps,
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

/// Two sources, a carry in (0 or 1); result and carry out. A clamped result that carries is `limit`.
#[inline(always)]
fn carrying(
    wave: &mut Wave,
    inst: &Inst,
    carry: u64,
    limit: u32,
    f: impl Fn(u32, u32, u32) -> (u32, bool),
) -> Flow {
    if clamps(inst) {
        return judge::<Baseline, u32, u32, u32, u32>(wave, inst, 2, carry, move |_, carry, a, b, _| {
            let (result, carried) = f(a, b, carry);
            (if carried { limit } else { result }, carried)
        });
    }
    judge::<Each, u32, u32, u32, u32>(wave, inst, 2, carry, move |_, carry, a, b, _| f(a, b, carry))
}

/// Three sources; result and a bit per lane.
#[inline(always)]
pub(super) fn flagged<A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B, C) -> (D, bool),
) -> Flow {
    judge::<Each, A, B, C, D>(wave, inst, 3, 0, move |_, _, a, b, c| f(a, b, c))
}

#[inline(always)]
fn add(a: u32, b: u32, carry: u32) -> (u32, bool) {
    let sum = a.wrapping_add(b);
    let total = sum.wrapping_add(carry);
    (total, (sum < a) | (total < sum))
}

#[inline(always)]
fn sub(a: u32, b: u32, borrow: u32) -> (u32, bool) {
    let difference = a.wrapping_sub(b);
    (difference.wrapping_sub(borrow), (a < b) | (difference < borrow))
}

/// The carry mask that the instruction reads.
#[inline(always)]
fn carry_in(wave: &Wave, inst: &Inst) -> u64 {
    wave.mask(inst.src[2], inst)
}

instructions! {
    pub(crate) fn v_add_co_u32(wave, inst) {
        carrying(wave, inst, 0, u32::MAX, |a, b, _| a.overflowing_add(b))
    }
    pub(crate) fn v_sub_co_u32(wave, inst) {
        carrying(wave, inst, 0, 0, |a, b, _| a.overflowing_sub(b))
    }
    pub(crate) fn v_subrev_co_u32(wave, inst) {
        carrying(wave, inst, 0, 0, |a, b, _| b.overflowing_sub(a))
    }
    pub(crate) fn v_addc_co_u32(wave, inst) {
        carrying(wave, inst, carry_in(wave, inst), u32::MAX, add)
    }
    pub(crate) fn v_subb_co_u32(wave, inst) {
        carrying(wave, inst, carry_in(wave, inst), 0, sub)
    }
    pub(crate) fn v_subbrev_co_u32(wave, inst) {
        carrying(wave, inst, carry_in(wave, inst), 0, |a, b, c| sub(b, a, c))
    }

    pub(crate) fn v_mad_u64_u32(wave, inst) {
        let clamp = clamps(inst);
        flagged(wave, inst, |a: u32, b: u32, c: u64| {
            let (sum, carried) = (u64::from(a) * u64::from(b)).overflowing_add(c);
            (if clamp && carried { u64::MAX } else { sum }, carried)
        })
    }

    // The bit is the 65th bit of the sum of two sign-extended numbers.
    pub(crate) fn v_mad_i64_i32(wave, inst) {
        let clamp = clamps(inst);
        flagged(wave, inst, |a: i32, b: i32, c: i64| {
            let product = i64::from(a) * i64::from(b);
            let (sum, overflow) = product.overflowing_add(c);
            (if clamp { product.saturating_add(c) } else { sum }, (sum < 0) != overflow)
        })
    }
}
