//! Reading A, B and C, placing D, and the modifiers of matrix instructions.

use super::{
    super::source::row_of,
    format::Format,
    layout::Shape,
    numbers::{Product, Sum},
};
use crate::{
    isa::{Inst, Operand, Scales, Target},
    wave::{Vector, Wave},
};

/// CBSZ, ABID and BLGP of the VOP3P-MAI encoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modifiers {
    cbsz: usize,
    abid: usize,
    blgp: usize,
}

impl Modifiers {
    /// The fields as they stand.
    pub(super) fn of(inst: &Inst) -> Self {
        let field = |word: u32, low: u32, bits: u32| (word >> low & ((1 << bits) - 1)) as usize;
        Self { cbsz: field(inst.word0, 8, 3), abid: field(inst.word0, 11, 4), blgp: field(inst.word1, 29, 3) }
    }

    /// The fields, if the instruction has them and their values mean something.
    pub(super) fn checked(inst: &Inst, target: Target, shape: Shape, product: Product) -> Option<Self> {
        let fields = Self::of(inst);
        let gfx940 = target.is_gfx940();
        if product.a == Format::F64 && gfx940 {
            // These ignore CBSZ and ABID; BLGP negates.
            return Some(fields);
        }
        let broadcast = 1 << fields.cbsz <= shape.blocks && fields.abid < 1 << fields.cbsz;
        let permutes = match product.sum {
            _ if product.a == Format::F64 => false,
            Sum::Chain => true,
            _ => !gfx940 || shape.blocks > 1,
        };
        (broadcast && (permutes || fields.blgp == 0)).then_some(fields)
    }

    /// Which of A, B and C an instruction on doubles negates.
    pub(super) fn negates(self, n: usize) -> bool {
        self.blgp >> n & 1 != 0
    }

    /// The lane that `lane` of A reads: of every 2^CBSZ blocks, all read block ABID, says AMD's calculator. The
    /// manual's formula, the first or next 64 / 2^CBSZ lanes for all, differs unless 2^CBSZ is the number of blocks.
    fn lane_of_a(self, shape: Shape, lane: usize) -> usize {
        let block = lane / shape.n;
        ((block >> self.cbsz << self.cbsz) + self.abid) * shape.n + lane % shape.n
    }

    /// The lane that `lane` of B reads.
    fn lane_of_b(self, lane: usize) -> usize {
        match self.blgp {
            0 => lane,
            1 => lane % 32,
            2 => lane % 32 + 32,
            3 => (lane + 16) % 64,
            quarter => lane % 16 + 16 * (quarter - 4),
        }
    }

    /// Copies of the registers of A as the broadcast changes them, if it does.
    pub(super) fn broadcast(self, shape: Shape, registers: &[Vector]) -> Option<[Vector; 4]> {
        (self.cbsz != 0).then(|| rearrange(registers, |lane| self.lane_of_a(shape, lane)))
    }

    /// Copies of the registers of B as the permutation changes them, if it does.
    pub(super) fn permute(self, registers: &[Vector]) -> Option<[Vector; 4]> {
        (self.blgp != 0).then(|| rearrange(registers, |lane| self.lane_of_b(lane)))
    }

    /// First bit of the set of indices that a sparse instruction uses, whose lanes have `stored` elements of A, with two
    /// bits of index each: with CBSZ 0, ABID picks one of the sets that a register has room for.
    ///
    /// For the instructions of gfx950, whose lanes have twice as many elements, the manual names the sets of gfx942,
    /// which are too small; so does LLVM no longer (llvm-project#193541).
    pub(super) fn index_bit(self, stored: usize) -> usize {
        if self.cbsz & 3 == 0 { self.abid * 2 * stored % 32 } else { 0 }
    }

    /// The formats of A and B, which CBSZ and BLGP of the f8f6f4 instructions name.
    pub(super) fn formats(self) -> Option<[Format; 2]> {
        Some([Format::of_code(self.cbsz)?, Format::of_code(self.blgp)?])
    }
}

fn rearrange(registers: &[Vector], from: impl Fn(usize) -> usize) -> [Vector; 4] {
    let mut copies = [Vector([0; 64]); 4];
    for (register, copy) in registers.iter().zip(&mut copies) {
        for lane in 0..64 {
            copy.0[lane] = register.0[from(lane)];
        }
    }
    copies
}

/// `count` registers from `op` on; `None` for constants and scalar registers, which A, B and indices cannot be.
pub(super) fn registers(wave: &Wave, op: Operand, count: usize) -> Option<&[Vector]> {
    let row = row_of(op, count)?;
    Some(&wave.vgpr[row..row + count])
}

/// The scales in each lane: biased exponents of 8 bits. Of a scalar or a constant, the hardware takes the exponent
/// as a single has it (llvm-project#158117).
pub(super) fn scales(wave: &Wave, inst: &Inst, from: Scales) -> [u8; 64] {
    match from.source.row() {
        // CAST: one byte.
        Some(row) => wave.vgpr[row].0.map(|word| (word >> (8 * from.byte)) as u8),
        None => [(wave.scalar(from.source, inst) >> 23) as u8; 64],
    }
}

/// D's rows: none if D reaches past the end of the register file, whose results go nowhere.
pub(super) fn destination(inst: &Inst, count: usize) -> std::ops::Range<usize> {
    inst.dst.row().filter(|row| row % 256 + count <= 256).map_or(0..0, |row| row..row + count)
}

/// Copies C to D and returns D's rows; see [`destination`]. `None` if C is a scalar register.
pub(super) fn accumulator(
    wave: &mut Wave,
    inst: &Inst,
    count: usize,
    doubles: bool,
) -> Option<std::ops::Range<usize>> {
    let op = inst.src[2];
    let to = destination(inst, count);
    match row_of(op, count) {
        Some(from) if from == to.start || to.is_empty() => {}
        Some(from) => wave.vgpr.copy_within(from..from + count, to.start),
        None if !matches!(op.0, 128..=208 | 240..=248) => return None,
        None if doubles => {
            let bits = wave.scalar64(op, inst);
            for pair in wave.vgpr[to.clone()].chunks_exact_mut(2) {
                pair[0].0.fill(bits as u32);
                pair[1].0.fill((bits >> 32) as u32);
            }
        }
        None => {
            let bits = wave.scalar(op, inst);
            wave.vgpr[to.clone()].fill(Vector([bits; 64]));
        }
    }
    Some(to)
}
