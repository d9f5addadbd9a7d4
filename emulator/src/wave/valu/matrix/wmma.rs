//! Matrix instructions of RDNA: WMMA and, on RDNA 4, SWMMAC.
//!
//! D = C + A * B of 16 x 16 elements, A and B of K. A row of A and a column of B are a lane's: on RDNA 3 all of its
//! elements, which the next 16 lanes hold once more; on RDNA 4 lanes share them, those of 16 bits in two runs each. A
//! column of C and D is shared likewise: on RDNA 3 in turn, on RDNA 4 one part behind the other. RDNA 3 has D's halves
//! in one half of each register, RDNA 4 packs them. What a wave of 64 lanes has in its upper lanes on RDNA 4 is what one
//! of 32 has in the upper half of the registers (AMD RDNA3 and RDNA4 ISA, "WMMA"; AMD's matrix instruction calculator).
//!
//! SWMMAC adds to D. Of each four elements of a row of A two are stored. The lane that has them has their places, too,
//! two bits each in a part of source 2 that op_sel names.
//!
//! AMD documents neither the order nor the precision of the sums, and nobody has measured them: they are taken to be one
//! fused multiplication and addition after the other in single precision, rounded once to a narrower result.

use super::{
    super::{
        half::{Bf16, F16},
        lane::Kind,
        source::{Room, raw},
    },
    format::{self, Element},
};
use crate::{
    isa::{Flow, Generation, Inst, Mods, Operand, flag},
    wave::{FaultKind, Wave, multiversion::multiversion},
};

/// Rows and columns.
const N: usize = 16;

/// Where elements stand in the registers of a wave.
#[derive(Clone, Copy)]
struct Layout {
    is_rdna4: bool,
    /// Lanes that share a column of C and D.
    groups: usize,
}

/// A register behind the first, a lane, and the lowest bit.
type Place = (usize, usize, usize);

impl Layout {
    fn of(wave: &Wave) -> Self {
        let is_rdna4 = wave.target.generation() == Generation::Gfx12;
        Self { is_rdna4, groups: wave.lanes / N }
    }

    /// Where element `k` of `count` of row (column) `line` stands.
    #[inline(always)]
    fn factor(self, line: usize, k: usize, count: usize, bits: usize) -> Place {
        if !self.is_rdna4 {
            return (k * bits / 32, line, k * bits % 32);
        }
        let run = if bits == 16 { count / 4 } else { count / 2 };
        let bit = (k / run / 2 * run + k % run) * bits;
        let (register, lane) = self.spread(bit / 32, count * bits / 64, line + N * (k / run % 2));
        (register, lane, bit % 32)
    }

    /// Where register `register` of `registers` of a wave of 32 lanes is in this one.
    #[inline(always)]
    fn spread(self, register: usize, registers: usize, lane: usize) -> (usize, usize) {
        let kept = registers.div_ceil(2);
        if self.groups > 2 && register >= kept { (register - kept, lane + 32) } else { (register, lane) }
    }

    /// Where an element of C and D stands.
    #[inline(always)]
    fn sum(self, row: usize, column: usize, is_half: bool, mods: Mods) -> Place {
        if !self.is_rdna4 {
            let bit = if is_half { usize::from(mods.op_sel >> 2 & 1) * 16 } else { 0 };
            return (row / self.groups, column + N * (row % self.groups), bit);
        }
        let (place, lane) = (row % 8, column + N * (row / 8));
        let packed = 1 + usize::from(is_half);
        let (register, lane) = self.spread(place / packed, 8 / packed, lane);
        (register, lane, place % packed * 16)
    }
}

type Factor<T, const K: usize> = [[T; N]; K];

/// Elements of A or B, by k and then by row or column.
#[inline(always)]
fn factor<T: Copy + Default, const K: usize>(
    wave: &Wave,
    inst: &Inst,
    n: usize,
    bits: usize,
    decode: impl Fn(u32, usize) -> T,
) -> Option<Factor<T, K>> {
    let (layout, first) = (Layout::of(wave), inst.src[n].row()?);
    let mut elements = [[T::default(); N]; K];
    for (k, elements) in elements.iter_mut().enumerate() {
        for (line, element) in elements.iter_mut().enumerate() {
            let (register, lane, bit) = layout.factor(line, k, K, bits);
            *element = decode(wave.row(first + register)[lane] >> bit, k);
        }
    }
    Some(elements)
}

/// C, or a constant in its place.
fn addend(wave: &Wave, inst: &Inst, op: Operand, kind: Kind) -> [[u32; N]; N] {
    let layout = Layout::of(wave);
    let Some(first) = op.row() else {
        let mut room = Room::uninit();
        return [[raw(wave, inst, op, kind, &mut room)[0].0[0]; N]; N];
    };
    let mask = if kind.is_half() { 0xffff } else { u32::MAX };
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let (register, lane, bit) = layout.sum(row, column, kind.is_half(), inst.mods);
            wave.row(first + register)[lane] >> bit & mask
        })
    })
}

/// Writes D.
fn write(wave: &mut Wave, inst: &Inst, is_half: bool, sums: &[[u32; N]; N]) {
    let layout = Layout::of(wave);
    let Some(first) = inst.dst.row() else { return };
    for (row, sums) in sums.iter().enumerate() {
        for (column, sum) in sums.iter().enumerate() {
            let (register, lane, bit) = layout.sum(row, column, is_half, inst.mods);
            let word = &mut wave.row_mut(first + register)[lane];
            *word = if is_half { *word & !(0xffff << bit) | sum << bit } else { *sum };
        }
    }
}

/// What D consists of.
pub(crate) trait Sum {
    const KIND: Kind;
    fn widen(word: u32) -> f32;
    fn round(sum: f32) -> u32;
}

pub(crate) struct Singles;
pub(crate) struct Halves;
pub(crate) struct Brains;

impl Sum for Singles {
    const KIND: Kind = Kind::F32;
    #[inline(always)]
    fn widen(word: u32) -> f32 {
        f32::from_bits(word)
    }
    #[inline(always)]
    fn round(sum: f32) -> u32 {
        sum.to_bits()
    }
}

impl Sum for Halves {
    const KIND: Kind = Kind::F16;
    #[inline(always)]
    fn widen(word: u32) -> f32 {
        F16(word as u16).to_f32()
    }
    #[inline(always)]
    fn round(sum: f32) -> u32 {
        F16::from_f32(sum).0.into()
    }
}

impl Sum for Brains {
    const KIND: Kind = Kind::Bf16;
    #[inline(always)]
    fn widen(word: u32) -> f32 {
        Bf16(word as u16).to_f32()
    }
    #[inline(always)]
    fn round(sum: f32) -> u32 {
        Bf16::from_f32(sum).0.into()
    }
}

/// Of each row of A, the elements of B that its own are multiplied by.
#[derive(Clone, Copy)]
struct Places<const S: usize>([[u8; N]; S]);

impl<const S: usize> Places<S> {
    /// All of them, one after the other.
    const ALL: Self = {
        let mut places = [[0; N]; S];
        let mut k = 0;
        while k < S {
            // CAST: at most 32.
            places[k] = [k as u8; N];
            k += 1;
        }
        Self(places)
    };

    /// Those that source 2 names.
    fn of(wave: &Wave, inst: &Inst, bits: usize) -> Option<Self> {
        let (layout, register) = (Layout::of(wave), inst.src[2].row()?);
        // Elements of a lane: a group has all of a row, unless lanes 32 and up share it.
        let shares = layout.groups > 2 && S * bits > 64;
        let per_lane = if shares { S / 4 } else { S / 2 };
        let first = usize::from(inst.mods.op_sel) % (16 / per_lane) * per_lane;
        let mut places = [[0; N]; S];
        for (n, places) in places.iter_mut().enumerate() {
            for (row, place) in places.iter_mut().enumerate() {
                let (stored, lane, bit) = layout.factor(row, n, S, bits);
                let at = first + (32 * stored + bit) / bits;
                // CAST: at most 64.
                *place = (n / 2 * 4) as u8 + (wave.row(register)[lane] >> (2 * at) & 3) as u8;
            }
        }
        Some(Self(places))
    }
}

/// Adds the products of the elements of A, row by row, with those of B that belong to them.
#[inline(always)]
fn multiply<T: Copy, D: Copy, const S: usize, const K: usize>(
    a: &Factor<T, S>,
    b: &Factor<T, K>,
    places: &Places<S>,
    sums: &mut [[D; N]; N],
    add: impl Fn(T, T, D) -> D,
) {
    for (row, sums) in sums.iter_mut().enumerate() {
        for (a, places) in a.iter().zip(&places.0) {
            for (sum, b) in sums.iter_mut().zip(&b[usize::from(places[row])]) {
                *sum = add(a[row], *b, *sum);
            }
        }
    }
}

/// C, or D in its place, and the places of A's elements.
#[inline(always)]
fn others<const S: usize>(
    wave: &Wave,
    inst: &Inst,
    kind: Kind,
    bits: usize,
) -> Option<([[u32; N]; N], Places<S>)> {
    if inst.row.shape.has(flag::SPARSE) {
        Some((addend(wave, inst, inst.dst, kind), Places::of(wave, inst, bits)?))
    } else {
        Some((addend(wave, inst, inst.src[2], kind), Places::ALL))
    }
}

/// `neg` and `neg_hi` negate the even and the odd elements of A and B; of C, `neg` negates and `neg_hi` is the absolute
/// value.
#[inline(always)]
fn floats<A: Element, B: Element, D: Sum, const BITS: usize, const S: usize, const K: usize>(
    wave: &mut Wave,
    inst: &Inst,
) -> Flow {
    let Mods { neg, abs, .. } = inst.mods;
    let negated = |x: f32, is_negated: bool| if is_negated { -x } else { x };
    let sign = |n: usize| move |k: usize| (if k.is_multiple_of(2) { neg } else { abs }) >> n & 1 != 0;
    let a = factor::<f32, S>(wave, inst, 0, BITS, |word, k| negated(A::decode(word), sign(0)(k)));
    let b = factor::<f32, K>(wave, inst, 1, BITS, |word, k| negated(B::decode(word), sign(1)(k)));
    let (Some(a), Some(b), Some((c, places))) = (a, b, others::<S>(wave, inst, D::KIND, BITS)) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let mut sums = c.map(|row| {
        row.map(|word| {
            let c = D::widen(word);
            negated(if abs & 4 != 0 { c.abs() } else { c }, neg & 4 != 0)
        })
    });
    multiply(&a, &b, &places, &mut sums, |a, b, sum| a.mul_add(b, sum));
    let sums = sums.map(|row| row.map(D::round));
    write(wave, inst, D::KIND.is_half(), &sums);
    Flow::Next
}

/// Integers of `BITS` bits, of which `neg` says whether A's and B's are signed; saturated if clamped.
#[inline(always)]
fn integers<const BITS: usize, const S: usize, const K: usize>(wave: &mut Wave, inst: &Inst) -> Flow {
    let extend = |n: usize| {
        let is_signed = inst.mods.neg >> n & 1 != 0;
        move |word: u32, _: usize| {
            let raw = word << (32 - BITS);
            // CAST: reinterpreted as two's complement; unsigned ones have few bits.
            if is_signed { raw as i32 >> (32 - BITS) } else { (raw >> (32 - BITS)) as i32 }
        }
    };
    let (a, b) =
        (factor::<i32, S>(wave, inst, 0, BITS, extend(0)), factor::<i32, K>(wave, inst, 1, BITS, extend(1)));
    let (Some(a), Some(b), Some((c, places))) = (a, b, others::<S>(wave, inst, Kind::B32, BITS)) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let mut products = [[0i32; N]; N];
    multiply(&a, &b, &places, &mut products, |a, b, sum| sum + a * b);
    let mut sums = c;
    for (sum, product) in sums.as_flattened_mut().iter_mut().zip(products.as_flattened()) {
        // CAST: modulo 2^32.
        let c = *sum as i32;
        *sum = if inst.mods.clamp { c.saturating_add(*product) } else { c.wrapping_add(*product) } as u32;
    }
    write(wave, inst, false, &sums);
    Flow::Next
}

multiversion! {
    pub(crate) fn v_wmma_f32_16x16x16_f16(w, inst) { floats::<format::Half, format::Half, Singles, 16, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_bf16(w, inst) { floats::<format::Bf16, format::Bf16, Singles, 16, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f16_16x16x16_f16(w, inst) { floats::<format::Half, format::Half, Halves, 16, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_bf16_16x16x16_bf16(w, inst) { floats::<format::Bf16, format::Bf16, Brains, 16, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_fp8_fp8(w, inst) { floats::<format::Fp8, format::Fp8, Singles, 8, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_fp8_bf8(w, inst) { floats::<format::Fp8, format::Bf8, Singles, 8, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_bf8_fp8(w, inst) { floats::<format::Bf8, format::Fp8, Singles, 8, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_bf8_bf8(w, inst) { floats::<format::Bf8, format::Bf8, Singles, 8, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_i32_16x16x16_iu8(w, inst) { integers::<8, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_i32_16x16x16_iu4(w, inst) { integers::<4, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_i32_16x16x32_iu4(w, inst) { integers::<4, 32, 32>(w, inst) }
    pub(crate) fn v_swmmac_f32_16x16x32_f16(w, inst) { floats::<format::Half, format::Half, Singles, 16, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_f32_16x16x32_bf16(w, inst) { floats::<format::Bf16, format::Bf16, Singles, 16, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_f16_16x16x32_f16(w, inst) { floats::<format::Half, format::Half, Halves, 16, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_bf16_16x16x32_bf16(w, inst) { floats::<format::Bf16, format::Bf16, Brains, 16, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_f32_16x16x32_fp8_fp8(w, inst) { floats::<format::Fp8, format::Fp8, Singles, 8, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_f32_16x16x32_fp8_bf8(w, inst) { floats::<format::Fp8, format::Bf8, Singles, 8, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_f32_16x16x32_bf8_fp8(w, inst) { floats::<format::Bf8, format::Fp8, Singles, 8, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_f32_16x16x32_bf8_bf8(w, inst) { floats::<format::Bf8, format::Bf8, Singles, 8, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_i32_16x16x32_iu8(w, inst) { integers::<8, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_i32_16x16x32_iu4(w, inst) { integers::<4, 16, 32>(w, inst) }
    pub(crate) fn v_swmmac_i32_16x16x64_iu4(w, inst) { integers::<4, 32, 64>(w, inst) }
}

#[cfg(test)]
mod tests;
