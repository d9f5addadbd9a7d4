//! Packed math: two 16-bit or two 32-bit operations per lane (MI200 ISA, 6.7).

use std::mem::MaybeUninit;

use super::{
    float::{max, maximum3, min, minimum3},
    half::F16,
    lane::{Kind, Lane},
    mode::{Operand, Precision},
    result::store,
    soft::{self, Env, Round},
    source::{Room, accumulator, plain, prepared, raw, row_of},
};
use crate::{
    isa::{
        Flow, Inst,
        inst::{Mods, Variant},
    },
    wave::{Vector, Wave, multiversion::multiversion},
};

/// Source `n` with its halves selected and negated. `kind` is that of one half.
#[inline(always)]
fn halves<'a>(wave: &'a Wave, inst: &Inst, n: usize, kind: Kind, room: &'a mut Room) -> &'a Vector {
    let mods = inst.mods;
    let bit = |field: u8| field >> n & 1 != 0;
    let as_is = !bit(mods.op_sel) && bit(mods.op_sel_hi) && !bit(mods.neg) && !bit(mods.abs);
    if as_is && let Some(row) = row_of(inst.src[n], 1) {
        return &wave.vgpr[row & 511];
    }
    &arranged(wave, inst, n, kind, room)[0]
}

#[inline(never)]
fn arranged<'a>(wave: &Wave, inst: &Inst, n: usize, kind: Kind, room: &'a mut Room) -> &'a [Vector] {
    let mods = inst.mods;
    let rows = raw(wave, inst, inst.src[n], kind, room);
    let shift = |field: u8| u32::from(field >> n & 1) * 16;
    let (low, high) = (shift(mods.op_sel), shift(mods.op_sel_hi));
    let flip = if kind == Kind::F16 {
        u32::from(mods.neg >> n & 1) << 15 | u32::from(mods.abs >> n & 1) << 31
    } else {
        0
    };
    for word in rows[0].0.iter_mut() {
        *word = (*word >> low & 0xffff | (*word >> high) << 16) ^ flip;
    }
    rows
}

/// A function of one half of three sources; unused ones repeat the first.
#[inline(always)]
fn packed<T: Lane<Rows = [Vector; 1]>>(
    wave: &mut Wave,
    inst: &Inst,
    count: usize,
    f: impl Fn(T, T, T) -> T,
) -> Flow {
    let mut rooms = [const { MaybeUninit::uninit() }; 3];
    let [room0, room1, room2] = &mut rooms;
    let a = halves(wave, inst, 0, T::KIND, room0);
    let b = if count > 1 { halves(wave, inst, 1, T::KIND, room1) } else { a };
    let c = if count > 2 { halves(wave, inst, 2, T::KIND, room2) } else { a };
    let value = both(a, b, c, f);
    store::<u32>(wave, inst, true, &[value]);
    Flow::Next
}

#[inline(always)]
fn both<T: Lane<Rows = [Vector; 1]>>(a: &Vector, b: &Vector, c: &Vector, f: impl Fn(T, T, T) -> T) -> Vector {
    let (mut low, mut high) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let top = |row: &Vector| {
        let mut row = *row;
        for word in row.0.iter_mut() {
            *word >>= 16;
        }
        [row]
    };
    let (a1, b1, c1) = (top(a), top(b), top(c));
    let (a0, b0, c0) = ([*a], [*b], [*c]);
    for lane in 0..64 {
        T::put(&mut low, lane, f(T::get(&a0, lane), T::get(&b0, lane), T::get(&c0, lane)));
    }
    for lane in 0..64 {
        T::put(&mut high, lane, f(T::get(&a1, lane), T::get(&b1, lane), T::get(&c1, lane)));
    }
    // SAFETY: the loops wrote all lanes of both rows.
    let (low, high) = unsafe { (low.assume_init(), high.assume_init()) };
    let mut value = Vector([0; 64]);
    for lane in 0..64 {
        value.0[lane] = low[0].0[lane] & 0xffff | high[0].0[lane] << 16;
    }
    value
}

/// Packed half-precision arithmetic as MODE asks for.
#[inline(always)]
fn packed_f16(
    wave: &mut Wave,
    inst: &Inst,
    count: usize,
    native: impl Fn(F16, F16, F16) -> F16,
    exact: impl Fn(Env, F16, F16, F16) -> F16,
) -> Flow {
    let env = F16::env(wave.mode);
    let (clamp, dx10) = (inst.mods.clamp, wave.mode.dx10_clamp());
    if env == Env::DEFAULT && !clamp {
        packed(wave, inst, count, native)
    } else {
        packed(wave, inst, count, |a, b, c| {
            let result = exact(env, a, b, c);
            if clamp { soft::clamp(result, dx10) } else { result }
        })
    }
}

macro_rules! packed_integers {
    ($($name:ident: $ty:ty, $count:literal, |$a:ident, $b:ident, $c:ident| $f:expr, $saturated:expr;)*) => {
        multiversion! {$(
            pub(crate) fn $name(wave, inst) {
                if inst.mods.clamp {
                    packed(wave, inst, $count, |$a: $ty, $b: $ty, $c: $ty| -> $ty { let _ = $c; $saturated })
                } else {
                    packed(wave, inst, $count, |$a: $ty, $b: $ty, $c: $ty| -> $ty { let _ = $c; $f })
                }
            }
        )*}
    };
}

fn to_i16(x: i32) -> i16 {
    x.clamp(-0x8000, 0x7fff) as i16
}

fn to_u16(x: u32) -> u16 {
    x.min(0xffff) as u16
}

packed_integers! {
    v_pk_mad_i16: i16, 3, |a, b, c| a.wrapping_mul(b).wrapping_add(c),
        to_i16((i32::from(a) * i32::from(b)).saturating_add(c.into()));
    v_pk_mad_u16: u16, 3, |a, b, c| a.wrapping_mul(b).wrapping_add(c),
        to_u16((u32::from(a) * u32::from(b)).saturating_add(c.into()));
    v_pk_mul_lo_u16: u16, 2, |a, b, c| a.wrapping_mul(b), to_u16(u32::from(a) * u32::from(b));
    v_pk_add_i16: i16, 2, |a, b, c| a.wrapping_add(b), a.saturating_add(b);
    v_pk_sub_i16: i16, 2, |a, b, c| a.wrapping_sub(b), a.saturating_sub(b);
    v_pk_add_u16: u16, 2, |a, b, c| a.wrapping_add(b), a.saturating_add(b);
    v_pk_sub_u16: u16, 2, |a, b, c| a.wrapping_sub(b), a.saturating_sub(b);
    v_pk_lshlrev_b16: u16, 2, |a, b, c| b << (a & 15), b << (a & 15);
    v_pk_lshrrev_b16: u16, 2, |a, b, c| b >> (a & 15), b >> (a & 15);
    v_pk_ashrrev_i16: i16, 2, |a, b, c| b >> (a & 15), b >> (a & 15);
    v_pk_max_i16: i16, 2, |a, b, c| a.max(b), a.max(b);
    v_pk_min_i16: i16, 2, |a, b, c| a.min(b), a.min(b);
    v_pk_max_u16: u16, 2, |a, b, c| a.max(b), a.max(b);
    v_pk_min_u16: u16, 2, |a, b, c| a.min(b), a.min(b);
}

/// Minimum or maximum, sources and result flushed as MODE says.
#[inline(always)]
fn selecting(wave: &mut Wave, inst: &Inst, count: usize, f: impl Fn(bool, F16, F16, F16) -> F16) -> Flow {
    let ieee = wave.mode.ieee();
    packed_f16(
        wave,
        inst,
        count,
        |a, b, c| f(ieee, a, b, c),
        |e, a, b, c| {
            let [a, b, c] = [a, b, c].map(|x| x.flush_if(e.flush_in));
            f(ieee, a, b, c).flush_if(e.flush_out)
        },
    )
}

multiversion! {
    pub(crate) fn v_pk_fma_f16(wave, inst) {
        packed_f16(wave, inst, 3, |a, b, c| a.fma(b, c), soft::fma)
    }
    pub(crate) fn v_pk_add_f16(wave, inst) {
        packed_f16(wave, inst, 2, |a, b, _| a.add(b), |e, a, b, _| soft::add(e, a, b))
    }
    pub(crate) fn v_pk_mul_f16(wave, inst) {
        packed_f16(wave, inst, 2, |a, b, _| a.mul(b), |e, a, b, _| soft::mul(e, a, b))
    }
    pub(crate) fn v_pk_min_f16(wave, inst) {
        selecting(wave, inst, 2, |ieee, a, b, _| min(ieee, a, b))
    }
    pub(crate) fn v_pk_max_f16(wave, inst) {
        selecting(wave, inst, 2, |ieee, a, b, _| max(ieee, a, b))
    }
    pub(crate) fn v_pk_minimum_f16(wave, inst) {
        selecting(wave, inst, 2, |ieee, a, b, _| minimum3(ieee, a, b, b))
    }
    pub(crate) fn v_pk_maximum_f16(wave, inst) {
        selecting(wave, inst, 2, |ieee, a, b, _| maximum3(ieee, a, b, b))
    }
    pub(crate) fn v_pk_minimum3_f16(wave, inst) {
        selecting(wave, inst, 3, minimum3)
    }
    pub(crate) fn v_pk_maximum3_f16(wave, inst) {
        selecting(wave, inst, 3, maximum3)
    }
}

/// Word `which` (0 the low result's, 1 the high result's) of 64-bit source `n`, selected by op_sel and negated.
#[inline(always)]
fn word<'a>(wave: &'a Wave, inst: &Inst, n: usize, which: usize, room: &'a mut Room) -> &'a [Vector; 1] {
    let mods = inst.mods;
    let (select, neg) = if which == 0 { (mods.op_sel, mods.neg) } else { (mods.op_sel_hi, mods.abs) };
    let high = usize::from(select >> n & 1);
    let negate = neg >> n & 1 != 0;
    if !negate && let Some(row) = row_of(inst.src[n], 2) {
        return f32::rows(&wave.vgpr[(row & 511) + high..]);
    }
    f32::rows(spread_word(wave, inst, n, high, negate, room))
}

#[inline(never)]
fn spread_word<'a>(
    wave: &Wave,
    inst: &Inst,
    n: usize,
    high: usize,
    negate: bool,
    room: &'a mut Room,
) -> &'a [Vector] {
    let op = inst.src[n];
    let rows = room.write([Vector([0; 64]); 2]);
    rows[0] = match row_of(op, 2) {
        Some(row) => wave.vgpr[row + high],
        // Registers come in pairs; a constant stands in both words.
        None if op.0 < 128 => Vector([(wave.scalar64(op, inst) >> (32 * high)) as u32; 64]),
        None => Vector([wave.scalar(op, inst); 64]),
    };
    if negate {
        for word in rows[0].0.iter_mut() {
            *word ^= 0x8000_0000;
        }
    }
    &rows[..1]
}

/// A function of one word of three sources, both words.
#[inline(always)]
fn packed_f32(wave: &mut Wave, inst: &Inst, count: usize, f: impl Fn(f32, f32, f32) -> f32) -> Flow {
    let mut value = [Vector([0; 64]); 2];
    for (which, row) in value.iter_mut().enumerate() {
        let mut rooms = [const { MaybeUninit::uninit() }; 3];
        let [room0, room1, room2] = &mut rooms;
        let a = word(wave, inst, 0, which, room0);
        let b = word(wave, inst, 1, which, room1);
        let c = if count > 2 { word(wave, inst, 2, which, room2) } else { a };
        for lane in 0..64 {
            row.0[lane] = f(f32::get(a, lane), f32::get(b, lane), f32::get(c, lane)).to_bits();
        }
    }
    if inst.mods.clamp {
        let dx10 = wave.mode.dx10_clamp();
        for x in value.iter_mut().flat_map(|row| row.0.iter_mut()) {
            *x = soft::clamp(f32::from_bits(*x), dx10).to_bits();
        }
    }
    store::<u64>(wave, inst, true, &value);
    Flow::Next
}

/// Packed single-precision arithmetic as MODE asks for.
#[inline(always)]
fn arithmetic_f32(
    wave: &mut Wave,
    inst: &Inst,
    count: usize,
    native: impl Fn(f32, f32, f32) -> f32,
    exact: impl Fn(Env, f32, f32, f32) -> f32,
) -> Flow {
    let env = f32::env(wave.mode);
    if env == Env::DEFAULT {
        packed_f32(wave, inst, count, native)
    } else if env.round == Round::NearestEven && env.flush_in && env.flush_out {
        packed_f32(wave, inst, count, |a, b, c| native(a.flush(), b.flush(), c.flush()).flush())
    } else {
        packed_f32(wave, inst, count, |a, b, c| exact(env, a, b, c))
    }
}

multiversion! {
    pub(crate) fn v_pk_fma_f32(wave, inst) {
        arithmetic_f32(wave, inst, 3, f32::mul_add, soft::fma)
    }
    pub(crate) fn v_pk_mul_f32(wave, inst) {
        arithmetic_f32(wave, inst, 2, |a, b, _| a * b, |e, a, b, _| soft::mul(e, a, b))
    }
    pub(crate) fn v_pk_add_f32(wave, inst) {
        arithmetic_f32(wave, inst, 2, |a, b, _| a + b, |e, a, b, _| soft::add(e, a, b))
    }
}

/// op_sel picks the word of source 0 for the low result and of source 1 for the high one.
pub(crate) fn v_pk_mov_b32(wave: &mut Wave, inst: &Inst) -> Flow {
    let select = inst.mods.op_sel;
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let low = spread_word(wave, inst, 0, usize::from(select & 1), false, room0);
    let high = spread_word(wave, inst, 1, usize::from(select >> 1 & 1), false, room1);
    let value = [low[0], high[0]];
    store::<u64>(wave, inst, true, &value);
    Flow::Next
}

/// `d = s0 * s1 + d` on both halves (VOP2: no selection, no negation).
pub(crate) fn v_pk_fmac_f16(wave: &mut Wave, inst: &Inst) -> Flow {
    let Mods { neg, abs, omod, clamp, .. } = inst.mods;
    // Sub-dword selects and signs of packed operands are not defined, nor is a modifier of a packed result.
    if inst.variant == Variant::Sdwa || neg | abs | omod != 0 {
        return wave.fault(inst, crate::wave::FaultKind::Unimplemented { name: inst.row.name });
    }
    let (env, dx10) = (F16::env(wave.mode), wave.mode.dx10_clamp());
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let a = if matches!(inst.variant, Variant::Dpp | Variant::Dpp8) {
        prepared(wave, inst, 0, Kind::B32)
    } else {
        raw(wave, inst, inst.src[0], Kind::F16, room0)[0]
    };
    let b = raw(wave, inst, inst.src[1], Kind::F16, room1)[0];
    let c = accumulator::<u32>(wave, inst)[0];
    let value = both(&a, &b, &c, |a: F16, b: F16, c: F16| {
        let sum = if env == Env::DEFAULT { a.fma(b, c) } else { soft::fma(env, a, b, c) };
        if clamp { soft::clamp(sum, dx10) } else { sum }
    });
    store::<u32>(wave, inst, plain(inst), &[value]);
    Flow::Next
}
