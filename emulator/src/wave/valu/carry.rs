//! Instructions that produce a value and a bit per lane: carries, wide multiply-adds, division scaling.

use std::mem::MaybeUninit;

use super::{
    lane::Lane,
    result::{clamps, collect, flag, spread, store, write_mask},
    source::{plain, source},
};
use crate::{
    isa::{Flow, Inst},
    wave::{Vector, Wave, simd::multiversion},
};

/// Writes value and mask; lanes that are not live get a 0 bit.
#[inline(always)]
fn write<D: Lane>(wave: &mut Wave, inst: &Inst, plain: bool, value: &D::Rows, flags: &Vector) -> Flow {
    let live = if plain { wave.exec } else { write_mask(wave, inst) };
    store::<D>(wave, inst, plain, value);
    wave.set_scalar64(inst.sdst, collect(&flags.0) & live);
    Flow::Next
}

/// Two sources, a carry in (0 or 1); result and carry out. A clamped result that carries is `limit`.
#[inline(always)]
fn carrying(
    wave: &mut Wave,
    inst: &Inst,
    carry: u64,
    limit: u32,
    f: impl Fn(u32, u32, u32) -> (u32, bool),
) -> Flow {
    let clamp = clamps(inst);
    let plain = plain(inst);
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let a = source::<u32>(wave, inst, 0, plain, room0);
    let b = source::<u32>(wave, inst, 1, plain, room1);
    let carry = spread(carry);
    let mut value = MaybeUninit::uninit();
    let mut flags = Vector([0; 64]);
    for lane in 0..64 {
        let (result, carried) = f(u32::get(a, lane), u32::get(b, lane), carry.0[lane] & 1);
        u32::put(&mut value, lane, if clamp && carried { limit } else { result });
        flags.0[lane] = flag(carried);
    }
    // SAFETY: the loop wrote all lanes.
    write::<u32>(wave, inst, plain, unsafe { value.assume_init_ref() }, &flags)
}

/// Three sources; result and a bit per lane.
#[inline(always)]
pub(super) fn flagged<A: Lane, B: Lane, C: Lane, D: Lane>(
    wave: &mut Wave,
    inst: &Inst,
    f: impl Fn(A, B, C) -> (D, bool),
) -> Flow {
    let plain = plain(inst);
    let mut rooms = [const { MaybeUninit::uninit() }; 3];
    let [room0, room1, room2] = &mut rooms;
    let a = source::<A>(wave, inst, 0, plain, room0);
    let b = source::<B>(wave, inst, 1, plain, room1);
    let c = source::<C>(wave, inst, 2, plain, room2);
    let mut value = MaybeUninit::<D::Rows>::uninit();
    let mut flags = Vector([0; 64]);
    for lane in 0..64 {
        let (result, carried) = f(A::get(a, lane), B::get(b, lane), C::get(c, lane));
        D::put(&mut value, lane, result);
        flags.0[lane] = flag(carried);
    }
    // SAFETY: the loop wrote all lanes.
    write::<D>(wave, inst, plain, unsafe { value.assume_init_ref() }, &flags)
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
    wave.scalar64(inst.src[2], inst)
}

multiversion! {
    pub(crate) fn v_add_co_u32(wave, inst) {
        carrying(wave, inst, 0, u32::MAX, add)
    }
    pub(crate) fn v_sub_co_u32(wave, inst) {
        carrying(wave, inst, 0, 0, sub)
    }
    pub(crate) fn v_subrev_co_u32(wave, inst) {
        carrying(wave, inst, 0, 0, |a, b, c| sub(b, a, c))
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
