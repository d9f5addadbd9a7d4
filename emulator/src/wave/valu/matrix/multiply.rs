//! Matrix instructions from operands to results.

use super::{
    buffer::Buffer,
    chain,
    format::{self, Format, Split},
    fused,
    layout::Shape,
    numbers::{Product, Sum},
    operand::{Modifiers, accumulator, registers},
    pairwise,
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
        let (mut left, mut right) = (Buffer::new(), Buffer::new());
        format::doubles(a, shape, modifiers.negates(0), &mut left);
        format::doubles(b, shape, modifiers.negates(1), &mut right);
        let Some(d) = accumulator(wave, inst, 2 * shape.registers(), true) else {
            return unsupported(wave, inst);
        };
        if !d.is_empty() {
            chain::doubles(shape, &left, &right, modifiers.negates(2), &mut wave.vgpr[d]);
        }
        return Flow::Next;
    }
    let mut rooms = [const { [const { Vector([0; 64]) }; 4] }; 2];
    let [room_a, room_b] = &mut rooms;
    let a = modifiers.broadcast(shape, a, room_a);
    let b = modifiers.permute(b, room_b);
    let flush = wave.mode.denorm32() & 1 == 0;
    let mut factors = Factors::new();
    factors.unpack(product, flush, [(a, shape), (b, shape)]);
    let Some(d) = accumulator(wave, inst, shape.registers(), false) else {
        return unsupported(wave, inst);
    };
    factors.multiply(shape, product.sum, None, wave.mode.fp16_overflow(), &mut wave.vgpr[d]);
    Flow::Next
}

/// SMFMAC.
pub(super) fn sparse(wave: &mut Wave, inst: &Inst, shape: Shape, product: Product) -> Flow {
    let bits = product.a.bits();
    let modifiers = Modifiers::of(inst);
    let stored = Shape { k: shape.k / 2, ..shape };
    let count = stored.per_lane() * bits / 32;
    let (Some(a), Some(b), Some(index)) = (
        registers(wave, inst.src[0], count),
        registers(wave, inst.src[1], 2 * count),
        registers(wave, inst.src[2], 1),
    ) else {
        return unsupported(wave, inst);
    };
    // Each pair of stored elements comes from four elements of a row, at the places that its two indices name.
    let mut picks = [0; 1024];
    let per_lane = stored.per_lane();
    for (lane, word) in index[0].0.iter().enumerate() {
        let (row, group) = (lane % shape.n, lane / shape.n);
        let word = word >> modifiers.index_bit(bits);
        for item in 0..per_lane {
            let k = group * 2 * per_lane + item / 2 * 4 + (word >> (2 * item) & 3) as usize;
            // CAST: `k` is below 64.
            picks[row * stored.k + group * per_lane + item] = k as u8;
        }
    }
    let mut factors = Factors::new();
    factors.unpack(product, false, [(a, stored), (b, shape)]);
    let registers = stored.registers();
    if let Some(row) = inst.dst.row().filter(|row| row % 256 + registers <= 256) {
        let (overflow, d) = (wave.mode.fp16_overflow(), &mut wave.vgpr[row..row + registers]);
        factors.multiply(stored, product.sum, Some(&picks), overflow, d);
    }
    Flow::Next
}

/// A and B, as values or as significands and exponents: fused sums want the latter.
struct Factors {
    values: [Buffer<f32>; 2],
    split: [Split; 2],
}

impl Factors {
    #[inline(always)]
    const fn new() -> Self {
        Self { values: [const { Buffer::new() }; 2], split: [const { Split::new() }; 2] }
    }

    fn unpack(&mut self, product: Product, flush: bool, factors: [(&[Vector], Shape); 2]) {
        for (n, (registers, shape)) in factors.into_iter().enumerate() {
            let format = match if n == 0 { product.a } else { product.b } {
                Format::F32 if flush => Format::F32Flushed,
                format => format,
            };
            match product.sum {
                Sum::Fused(_) | Sum::FusedBytes => self.split[n].unpack(registers, shape, format),
                Sum::Chain | Sum::Pairwise(_) | Sum::Integer => {
                    format::values(registers, shape, format, &mut self.values[n]);
                }
            }
        }
    }

    /// Adds A * B to `d`, which is empty if the result goes nowhere. `clamp` is FP16_OVFL.
    fn multiply(&self, shape: Shape, sum: Sum, picks: Option<&[u8]>, clamp: bool, d: &mut [Vector]) {
        if d.is_empty() {
            return;
        }
        let [a, b] = &self.values;
        let addends = if clamp && sum != Sum::Integer { d.to_vec() } else { Vec::new() };
        match sum {
            Sum::Integer => chain::integers(shape, [a, b], picks, clamp, d),
            Sum::Chain => chain::singles(shape, a, b, d),
            Sum::Pairwise(group) => pairwise::multiply(shape, a, b, group, d),
            Sum::Fused(_) | Sum::FusedBytes => {
                let [a, b] = &self.split;
                fused::multiply(shape, &fused::Operands { a, b, picks }, sum, d);
            }
        }
        if !addends.is_empty() {
            self.clamp(shape, picks, &addends, d);
        }
    }

    /// Replaces infinities that come from finite elements by the largest finite number.
    #[cold]
    fn clamp(&self, shape: Shape, picks: Option<&[u8]>, addends: &[Vector], d: &mut [Vector]) {
        let finite = |n: usize, index: usize| match self.values[n].get(index) {
            Some(value) => value.is_finite(),
            None => self.split[n].value(index).is_finite(),
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
