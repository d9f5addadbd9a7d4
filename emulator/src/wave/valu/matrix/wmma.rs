//! Matrix instructions of RDNA: WMMA.
//!
//! D = C + A * B of 16 x 16 elements, A and B of K. A row of A and a column of B are a lane's: on RDNA 3 all of its
//! elements, which the next 16 lanes hold once more; on RDNA 4 the lanes of a wave share them. A column of C and D is
//! shared likewise: on RDNA 3 in turn, on RDNA 4 one part behind the other. RDNA 3 has D's halves in one half of each
//! register, RDNA 4 packs them (AMD RDNA3 and RDNA4 ISA, "WMMA").
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
    isa::{Flow, Generation, Inst, Mods},
    wave::{FaultKind, Wave, multiversion::multiversion},
};

/// Rows and columns.
const N: usize = 16;

/// Where elements stand in the registers of a wave.
#[derive(Clone, Copy)]
struct Layout {
    is_rdna4: bool,
    /// Lanes that share a row of A, a column of B, C or D.
    groups: usize,
}

impl Layout {
    fn of(wave: &Wave) -> Self {
        let is_rdna4 = wave.target.generation() == Generation::Gfx12;
        Self { is_rdna4, groups: wave.lanes / N }
    }

    /// The register, the lane and the lowest bit of element `k` of `count` of row (column) `line`.
    #[inline(always)]
    fn factor(self, line: usize, k: usize, count: usize, bits: usize) -> (usize, usize, usize) {
        let per_lane = if self.is_rdna4 { count / self.groups } else { count };
        let bit = k % per_lane * bits;
        (bit / 32, line + N * (k / per_lane), bit % 32)
    }

    /// The place in the lane's registers, counted in elements, and the lane of an element of C and D.
    #[inline(always)]
    fn sum(self, row: usize, column: usize) -> (usize, usize) {
        if self.is_rdna4 {
            let per_lane = N / self.groups;
            (row % per_lane, column + N * (row / per_lane))
        } else {
            (row / self.groups, column + N * (row % self.groups))
        }
    }

    /// Register and lowest bit of a sum of 16 bits.
    #[inline(always)]
    fn half(self, place: usize, mods: Mods) -> (usize, u32) {
        // CAST: 0 or 1.
        if self.is_rdna4 {
            (place / 2, 16 * (place % 2) as u32)
        } else {
            (place, u32::from(mods.op_sel >> 2 & 1) * 16)
        }
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
fn addend(wave: &Wave, inst: &Inst, kind: Kind) -> [[u32; N]; N] {
    let layout = Layout::of(wave);
    let Some(first) = inst.src[2].row() else {
        let mut room = Room::uninit();
        return [[raw(wave, inst, inst.src[2], kind, &mut room)[0].0[0]; N]; N];
    };
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let (place, lane) = layout.sum(row, column);
            if kind.is_half() {
                let (register, bit) = layout.half(place, inst.mods);
                wave.row(first + register)[lane] >> bit & 0xffff
            } else {
                wave.row(first + place)[lane]
            }
        })
    })
}

/// Writes D.
fn write(wave: &mut Wave, inst: &Inst, is_half: bool, sums: &[[u32; N]; N]) {
    let layout = Layout::of(wave);
    let Some(first) = inst.dst.row() else { return };
    for (row, sums) in sums.iter().enumerate() {
        for (column, sum) in sums.iter().enumerate() {
            let (place, lane) = layout.sum(row, column);
            if is_half {
                let (register, bit) = layout.half(place, inst.mods);
                let word = &mut wave.row_mut(first + register)[lane];
                *word = *word & !(0xffff << bit) | sum << bit;
            } else {
                wave.row_mut(first + place)[lane] = *sum;
            }
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

/// Sums of products, row by row.
#[inline(always)]
fn multiply<const K: usize>(a: &Factor<f32, K>, b: &Factor<f32, K>, sums: &mut [[f32; N]; N]) {
    for (row, sums) in sums.iter_mut().enumerate() {
        for (a, b) in a.iter().zip(b) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = a[row].mul_add(*b, *sum);
            }
        }
    }
}

/// `neg` and `neg_hi` negate the even and the odd elements of A and B; of C, `neg` negates and `neg_hi` is the absolute
/// value.
#[inline(always)]
fn floats<A: Element, B: Element, D: Sum, const BITS: usize, const K: usize>(
    wave: &mut Wave,
    inst: &Inst,
) -> Flow {
    let Mods { neg, abs, .. } = inst.mods;
    let negated = |x: f32, is_negated: bool| if is_negated { -x } else { x };
    let sign = |n: usize| move |k: usize| (if k.is_multiple_of(2) { neg } else { abs }) >> n & 1 != 0;
    let a = factor::<f32, K>(wave, inst, 0, BITS, |word, k| negated(A::decode(word), sign(0)(k)));
    let b = factor::<f32, K>(wave, inst, 1, BITS, |word, k| negated(B::decode(word), sign(1)(k)));
    let (Some(a), Some(b)) = (a, b) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let mut sums = addend(wave, inst, D::KIND).map(|row| {
        row.map(|word| {
            let c = D::widen(word);
            negated(if abs & 4 != 0 { c.abs() } else { c }, neg & 4 != 0)
        })
    });
    multiply(&a, &b, &mut sums);
    let sums = sums.map(|row| row.map(D::round));
    write(wave, inst, D::KIND.is_half(), &sums);
    Flow::Next
}

/// Integers of `BITS` bits, of which `neg` says whether A's and B's are signed; saturated if clamped.
#[inline(always)]
fn integers<const BITS: usize, const K: usize>(wave: &mut Wave, inst: &Inst) -> Flow {
    let extend = |n: usize| {
        let is_signed = inst.mods.neg >> n & 1 != 0;
        move |word: u32, _: usize| {
            let raw = word << (32 - BITS);
            // CAST: reinterpreted as two's complement; unsigned ones have few bits.
            if is_signed { raw as i32 >> (32 - BITS) } else { (raw >> (32 - BITS)) as i32 }
        }
    };
    let (a, b) =
        (factor::<i32, K>(wave, inst, 0, BITS, extend(0)), factor::<i32, K>(wave, inst, 1, BITS, extend(1)));
    let (Some(a), Some(b)) = (a, b) else {
        return wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    };
    let mut sums = addend(wave, inst, Kind::B32);
    for (row, sums) in sums.iter_mut().enumerate() {
        for (column, sum) in sums.iter_mut().enumerate() {
            let products: i32 = a.iter().zip(&b).map(|(a, b)| a[row] * b[column]).sum();
            // CAST: modulo 2^32.
            let c = *sum as i32;
            *sum = if inst.mods.clamp { c.saturating_add(products) } else { c.wrapping_add(products) } as u32;
        }
    }
    write(wave, inst, false, &sums);
    Flow::Next
}

multiversion! {
    pub(crate) fn v_wmma_f32_16x16x16_f16(w, inst) { floats::<format::Half, format::Half, Singles, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_bf16(w, inst) { floats::<format::Bf16, format::Bf16, Singles, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f16_16x16x16_f16(w, inst) { floats::<format::Half, format::Half, Halves, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_bf16_16x16x16_bf16(w, inst) { floats::<format::Bf16, format::Bf16, Brains, 16, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_fp8_fp8(w, inst) { floats::<format::Fp8, format::Fp8, Singles, 8, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_fp8_bf8(w, inst) { floats::<format::Fp8, format::Bf8, Singles, 8, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_bf8_fp8(w, inst) { floats::<format::Bf8, format::Fp8, Singles, 8, 16>(w, inst) }
    pub(crate) fn v_wmma_f32_16x16x16_bf8_bf8(w, inst) { floats::<format::Bf8, format::Bf8, Singles, 8, 16>(w, inst) }
    pub(crate) fn v_wmma_i32_16x16x16_iu8(w, inst) { integers::<8, 16>(w, inst) }
    pub(crate) fn v_wmma_i32_16x16x16_iu4(w, inst) { integers::<4, 16>(w, inst) }
    pub(crate) fn v_wmma_i32_16x16x32_iu4(w, inst) { integers::<4, 32>(w, inst) }
}
