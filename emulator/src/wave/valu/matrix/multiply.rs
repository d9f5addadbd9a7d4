//! Matrix instructions from operands to results.

use std::mem::MaybeUninit;

use super::{
    buffer::{Buffer, Room},
    chain,
    format::{self, Format},
    fused,
    layout::Shape,
    numbers::{Product, Sum},
    operand::{self, Modifiers, accumulator, destination, registers},
    pairwise,
    split::Split,
};
use crate::{
    isa::{Flow, Inst},
    wave::{FaultKind, Vector, Wave},
};

/// A source that the instruction cannot have, or a modifier that means nothing.
#[cold]
fn unsupported(wave: &mut Wave, inst: &Inst) -> Flow {
    wave.fault(inst, FaultKind::Unimplemented { name: inst.row.name })
}

/// MFMA.
pub(super) fn dense(wave: &mut Wave, inst: &Inst, shape: Shape, product: Product) -> Flow {
    let Some(modifiers) = Modifiers::checked(inst, wave.target, shape, product) else {
        return unsupported(wave, inst);
    };
    let count = (shape.per_lane() * product.a.bits()).div_ceil(32);
    let (Some(a), Some(b)) = (registers(wave, inst.src[0], count), registers(wave, inst.src[1], count))
    else {
        return unsupported(wave, inst);
    };
    if product.a == Format::F64 {
        let (mut left, mut right) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let (mut left, mut right) = (Buffer::new(&mut left), Buffer::new(&mut right));
        format::doubles(a, shape, modifiers.negates(0), &mut left);
        format::doubles(b, shape, modifiers.negates(1), &mut right);
        let Some(d) = accumulator(wave, inst, 2 * shape.registers(), true) else {
            return unsupported(wave, inst);
        };
        chain::doubles(shape, &left, &right, modifiers.negates(2), &mut wave.vgpr[d]);
        return Flow::Next;
    }
    let (broadcast, permuted) = (modifiers.broadcast(shape, a), modifiers.permute(b));
    let a = broadcast.as_ref().map_or(a, |copies| &copies[..count]);
    let b = permuted.as_ref().map_or(b, |copies| &copies[..count]);
    let flush = wave.mode.denorm32() & 1 == 0;
    let mut rooms = [Rooms::new(), Rooms::new()];
    let factors = Factors::unpack(product, flush, [(a, shape), (b, shape)], &mut rooms);
    let Some(d) = accumulator(wave, inst, shape.registers(), false) else {
        return unsupported(wave, inst);
    };
    factors.multiply(shape, product.sum, None, wave.mode.fp16_overflow(), &mut wave.vgpr[d]);
    Flow::Next
}

/// SMFMAC.
pub(super) fn sparse(wave: &mut Wave, inst: &Inst, shape: Shape, product: Product) -> Flow {
    let modifiers = Modifiers::of(inst);
    let stored = Shape { k: shape.k / 2, ..shape };
    let per_lane = stored.per_lane();
    let count = per_lane * product.a.bits() / 32;
    let (Some(a), Some(b), Some(index)) = (
        registers(wave, inst.src[0], count),
        registers(wave, inst.src[1], 2 * count),
        registers(wave, inst.src[2], 1),
    ) else {
        return unsupported(wave, inst);
    };
    // Each pair of stored elements comes from four elements of a row, at the places that its two indices name.
    let mut picks = [0; 1024];
    for (lane, word) in index[0].0.iter().enumerate() {
        let (row, group) = (lane % shape.n, lane / shape.n);
        let word = word >> modifiers.index_bit(per_lane);
        for item in 0..per_lane {
            let k = group * 2 * per_lane + item / 2 * 4 + (word >> (2 * item) & 3) as usize;
            // CAST: `k` is below 128.
            picks[row * stored.k + group * per_lane + item] = k as u8;
        }
    }
    let mut rooms = [Rooms::new(), Rooms::new()];
    let factors = Factors::unpack(product, false, [(a, stored), (b, shape)], &mut rooms);
    let d = destination(inst, stored.registers());
    factors.multiply(stored, product.sum, Some(&picks), wave.mode.fp16_overflow(), &mut wave.vgpr[d]);
    Flow::Next
}

/// MFMA whose modifiers name the formats, with scales or without.
pub(super) fn scaled(wave: &mut Wave, inst: &Inst, shape: Shape) -> Flow {
    let Some([a, b]) = Modifiers::of(inst).formats() else {
        return unsupported(wave, inst);
    };
    let product = Product { a, b, sum: Sum::FusedBytes };
    let count = |format: Format| shape.per_lane() * format.bits() / 32;
    let (Some(a), Some(b)) = (registers(wave, inst.src[0], count(a)), registers(wave, inst.src[1], count(b)))
    else {
        return unsupported(wave, inst);
    };
    let scales = inst.scales().map(|scales| scales.map(|from| operand::scales(wave, inst, from)));
    let mut rooms = [Rooms::new(), Rooms::new()];
    let mut factors = Factors::unpack(product, false, [(a, shape), (b, shape)], &mut rooms);
    let Some(d) = accumulator(wave, inst, shape.registers(), false) else {
        return unsupported(wave, inst);
    };
    if let (Factors::Split(split, scaled), Some(scales)) = (&mut factors, &scales) {
        split.iter_mut().zip(scales).for_each(|(split, scales)| split.spoil(shape, scales));
        *scaled = Some(scales);
    }
    factors.multiply(shape, product.sum, None, wave.mode.fp16_overflow(), &mut wave.vgpr[d]);
    Flow::Next
}

/// Memory for a factor.
struct Rooms {
    singles: Room<f32>,
    integers: Room<i32>,
}

impl Rooms {
    #[inline(always)]
    const fn new() -> Self {
        Self { singles: MaybeUninit::uninit(), integers: MaybeUninit::uninit() }
    }
}

/// A and B.
enum Factors<'a> {
    Values([Buffer<'a, f32>; 2]),
    /// With exponents, as fused sums want them, and the scales in each lane.
    Split([Split<'a>; 2], Option<&'a [[u8; 64]; 2]>),
}

impl<'a> Factors<'a> {
    #[inline(always)]
    fn unpack(
        product: Product,
        flush: bool,
        [(a, shape_a), (b, shape_b)]: [(&[Vector], Shape); 2],
        [room_a, room_b]: &'a mut [Rooms; 2],
    ) -> Self {
        let format = |format| if flush && format == Format::F32 { Format::F32Flushed } else { format };
        match product.sum {
            Sum::Fused(_) | Sum::FusedBytes => {
                let rooms = [
                    (&mut room_a.singles, &mut room_a.integers),
                    (&mut room_b.singles, &mut room_b.integers),
                ];
                Self::Split(Split::both([(a, shape_a, product.a), (b, shape_b, product.b)], rooms), None)
            }
            Sum::Chain | Sum::Pairwise(_) | Sum::Integer => {
                let mut left = Buffer::new(&mut room_a.singles);
                let mut right = Buffer::new(&mut room_b.singles);
                format::values(a, shape_a, format(product.a), &mut left);
                format::values(b, shape_b, format(product.b), &mut right);
                Self::Values([left, right])
            }
        }
    }

    /// Adds A * B to `d`, which is empty if the result goes nowhere. `clamp` is FP16_OVFL.
    fn multiply(&self, shape: Shape, sum: Sum, picks: Option<&[u8]>, clamp: bool, d: &mut [Vector]) {
        if d.is_empty() {
            return;
        }
        let addends = if clamp && sum != Sum::Integer { d.to_vec() } else { Vec::new() };
        match self {
            Self::Split([a, b], scales) => {
                fused::multiply(shape, &fused::Operands { a, b, picks, scales: *scales }, sum, d);
            }
            Self::Values([a, b]) => match sum {
                Sum::Integer => chain::integers(shape, [a, b], picks, clamp, d),
                Sum::Pairwise(group) => pairwise::multiply(shape, a, b, group, d),
                Sum::Chain | Sum::Fused(_) | Sum::FusedBytes => chain::singles(shape, a, b, d),
            },
        }
        if !addends.is_empty() {
            self.clamp(shape, picks, &addends, d);
        }
    }

    /// Replaces infinities that come from finite elements by the largest finite number.
    #[cold]
    fn clamp(&self, shape: Shape, picks: Option<&[u8]>, addends: &[Vector], d: &mut [Vector]) {
        let finite = |n: usize, index: usize| match self {
            Self::Values(values) => values[n][index].is_finite(),
            Self::Split(split, _) => split[n].value(index).is_finite(),
        };
        for row in 0..shape.width() {
            let (block, i) = (row / shape.n, row % shape.n);
            let (register, lane) = shape.row(4, block, i);
            for j in 0..shape.n {
                let result = &mut d[register].0[lane + j];
                let x = f32::from_bits(*result);
                let from_finite = || {
                    f32::from_bits(addends[register].0[lane + j]).is_finite()
                        && (0..shape.k).all(|k| {
                            let pick = picks.map_or(k, |picks| picks[row * shape.k + k].into());
                            finite(0, k * shape.width() + row)
                                && finite(1, pick * shape.width() + block * shape.n + j)
                        })
                };
                if x.is_infinite() && from_finite() {
                    *result = f32::MAX.copysign(x).to_bits();
                }
            }
        }
    }
}
