//! How two waves of 32 lanes that go in lockstep execute an instruction.

use crate::isa::{
    Family, Inst, Operand, Ty, flag,
    inst::{Memory, Variant},
};

/// How both waves execute an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// One after the other, each with its own EXEC.
    Apart = 0,
    /// One after the other; it is the scalar unit's, and has nothing to do with EXEC.
    Scalar = 1,
    /// As one wave of 64 lanes: what happens in a lane depends on no other.
    Together = Manner::TOGETHER as isize,
    /// As [`Manner::Together`] unless they have stacks, which a generic address may lead to.
    TogetherWithoutStack = (Manner::TOGETHER | Manner::WITHOUT_STACK) as isize,
}

impl Manner {
    const TOGETHER: u8 = 2;
    const WITHOUT_STACK: u8 = 4;

    /// Whether waves execute it as one; bits, of which the host makes branches that it predicts, where a `match` becomes a jump that
    /// it does not.
    #[inline(always)]
    pub(crate) fn is_together(self, have_stacks: bool) -> bool {
        // CAST: less than 8.
        let bits = self as u8;
        bits & Self::TOGETHER != 0 && (bits & Self::WITHOUT_STACK == 0 || !have_stacks)
    }
}

/// Scalars that an instruction can read at most.
const SCALARS: usize = 5;

/// See [`Manner`], and which scalar registers have to hold the same in both waves.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub manner: Manner,
    /// How many they are.
    count: u8,
    /// Their numbers, and behind them those of constants.
    scalars: [u8; SCALARS],
}

/// A scalar source that is the same for all waves: the constant 0.
const ZERO: u8 = 128;

impl Way {
    const APART: Self = Self::without_scalars(Manner::Apart);

    const fn without_scalars(manner: Manner) -> Self {
        Self { manner, count: 0, scalars: [ZERO; SCALARS] }
    }

    /// The way of an instruction, or of both halves of a dual-issue instruction.
    pub(crate) fn of(inst: &Inst, second: Option<&Inst>) -> Self {
        let Some(manner) = manner(inst) else { return Self::APART };
        if manner == Manner::Scalar {
            return Self::without_scalars(manner);
        }
        let mut way = Self::without_scalars(manner);
        for inst in [Some(inst), second].into_iter().flatten() {
            for (n, op) in inst.src.into_iter().enumerate() {
                let Ok(registers) = scalars(op, inst.source_type(n)) else { return Self::APART };
                for register in registers {
                    let Some(scalar) = way.scalars.get_mut(usize::from(way.count)) else {
                        return Self::APART;
                    };
                    *scalar = register;
                    way.count += 1;
                }
            }
        }
        way
    }

    /// Whether two waves have the same in the scalar registers that count.
    #[inline(always)]
    pub(crate) fn agrees(&self, first: &[u32; 256], second: &[u32; 256]) -> bool {
        let differs = |at: &u8| first[usize::from(*at)] ^ second[usize::from(*at)];
        let (few, more) = self.scalars.split_at(2);
        match self.count {
            0 => true,
            1 | 2 => differs(&few[0]) | differs(&few[1]) == 0,
            _ => few.iter().chain(more).map(differs).fold(0, |any, differs| any | differs) == 0,
        }
    }
}

/// The scalar registers that a source of a vector instruction takes the same number for all lanes from. An error: it depends
/// on what each wave has for itself.
fn scalars(op: Operand, ty: Ty) -> Result<std::ops::Range<u8>, ()> {
    match op.0 {
        // The mask of all lanes, of either wave.
        0..=126 if ty == Ty::Mask => Ok(0..0),
        0..=124 => {
            // An address that no column of the tables has.
            let dwords = if ty == Ty::No { 2 } else { ty.dwords() };
            // CAST: less than 128; the widest operand of a vector instruction that can be scalar has two dwords.
            Ok(op.0 as u8..(op.0 + dwords) as u8)
        }
        126 | 127 | 251..=254 => Err(()),
        // Nothing, constants, vector registers, or no operand.
        _ => Ok(0..0),
    }
}

/// Whether any of these words is part of `name`.
fn has(name: &str, words: &str) -> bool {
    words.split(' ').any(|word| name.contains(word))
}

/// The manner of an instruction, whatever its vector instruction's scalars are; `None`: [`Manner::Apart`].
fn manner(inst: &Inst) -> Option<Manner> {
    use Family::{Ds, Flat, Global, Smem, Sop1, Sop2, Sopc, Sopk, Sopp, Vop1, Vop2, Vop3, Vop3p, Vopc, Vopd};
    let (row, name) = (inst.row, inst.row.name);
    let manner = match row.family {
        Sop1 | Sop2 | Sopc | Sopk => {
            // EXEC, and the conditions of VCC and EXEC. Floats are the vector ALU's, with VCC for a while.
            let is_masks = |op: &Operand| matches!(op.0, 126 | 127 | 251 | 252);
            let sources = row.shape.src.iter().zip(&inst.src).filter(|(ty, _)| **ty != Ty::No);
            let mut operands = sources.map(|(_, op)| op).chain([&inst.dst, &inst.sdst]);
            let others = "exec pc_b64 rfe movrel barrier alloc sendmsg sleep call reg_ subvector wait version _f16 _f32";
            if operands.any(is_masks) || has(name, others) {
                return None;
            }
            Manner::Scalar
        }
        // A group of registers that begins there may reach EXEC.
        Smem if matches!(inst.src[0].0, 108..=127) || inst.src.iter().any(|op| matches!(op.0, 126 | 127)) => {
            return None;
        }
        Smem => Manner::Scalar,
        Sopp if has(name, "s_branch s_cbranch_scc") => Manner::Scalar,
        Vop1 | Vop2 | Vop3 | Vop3p | Vopc | Vopd => {
            let is_lanes = inst.dst.row().is_some() || inst.dst == Operand::NONE;
            let has_masks = matches!(row.shape.sdst, Ty::No | Ty::Mask);
            let others = "lane mbcnt movrel swaprel";
            // DPP's row_mask: a wave of 32 lanes has the first two of four rows.
            let has_rows = inst.variant == Variant::Dpp && inst.literal >> 28 & 3 != inst.literal >> 30;
            if has_rows || !is_lanes || !has_masks || row.shape.has(flag::WMMA) || has(name, others) {
                return None;
            }
            Manner::Together
        }
        Ds => {
            let others = "permute swizzle append consume ordered gws addtid bvh gs_reg direct";
            if inst.memory.has(Memory::GDS) || has(name, others) {
                return None;
            }
            Manner::Together
        }
        Flat | Global => {
            let others = "_tr_ addtid block _inv _wb ordered";
            if inst.memory.has(Memory::TO_LDS | Memory::FAILS) || has(name, others) {
                return None;
            }
            if row.family == Flat { Manner::TogetherWithoutStack } else { Manner::Together }
        }
        _ => return None,
    };
    Some(manner)
}
