//! Scalar operands: reading sources and writing destinations by their 8-bit codes.

use std::ptr::NonNull;

use super::{
    Vector, Wave,
    constants::{FLOATS, INV_2PI_F32, INV_2PI_F64},
    state::Masks,
};
use crate::isa::{Inst, Operand};

const TTMP0: u16 = 108;
const M0: u16 = 124;
const EXEC_LO: u16 = 126;
const EXEC_HI: u16 = 127;
/// The first code that is not a plain table entry: VCCZ, EXECZ, SCC, LDS direct, literal.
const SPECIAL: u16 = 251;

/// The first code of an inline constant.
const FIRST_CONSTANT: u16 = 128;

/// Inline constants in every lane, by their code less [`FIRST_CONSTANT`]: instructions read them where they read
/// registers otherwise.
static CONSTANT_ROWS: [Vector; 121] = {
    let mut rows = [Vector([0; 64]); 121];
    let mut n = 0;
    while n < 121 {
        let word = match n {
            0..=64 => n as u32,
            65..=80 => (n as u32 - 64).wrapping_neg(),
            112..=119 => (FLOATS[n - 112] as f32).to_bits(),
            120 => INV_2PI_F32,
            _ => 0,
        };
        rows[n] = Vector([word; 64]);
        n += 1;
    }
    rows
};

/// The row of a 32-bit inline constant that is the same for all waves.
pub(super) fn constant_row(op: Operand) -> Option<&'static Vector> {
    match op.0 {
        128..=208 | 240..=248 => Some(&CONSTANT_ROWS[usize::from(op.0 - FIRST_CONSTANT)]),
        _ => None,
    }
}

/// A 64-bit inline constant; integers sign-extend, floats are doubles.
fn wide_constant(wave: &Wave, code: u16) -> u64 {
    match code {
        128..=192 => u64::from(code - 128),
        193..=208 => (192i64 - i64::from(code)) as u64,
        235 => wave.surroundings.apertures.shared,
        236 => wave.surroundings.apertures.shared | u64::from(u32::MAX),
        237 => wave.surroundings.apertures.private,
        238 => wave.surroundings.apertures.private | u64::from(u32::MAX),
        240..=247 => FLOATS[usize::from(code - 240)].to_bits(),
        248 => INV_2PI_F64,
        _ => 0,
    }
}

impl Wave {
    /// A 32-bit scalar source. Operands that are no scalars read 0.
    #[inline(always)]
    pub fn scalar(&self, op: Operand, inst: &Inst) -> u32 {
        // All that is in the table: neither EXEC nor what has no fixed value.
        if op.0 < SPECIAL && op.0 | 1 != EXEC_HI {
            self.sgpr[usize::from(op.0)]
        } else if op == Operand::LITERAL {
            inst.literal
        } else {
            self.scalar_named(op)
        }
    }

    #[cold]
    #[inline(never)]
    fn scalar_named(&self, op: Operand) -> u32 {
        match op.0 {
            EXEC_LO => self.exec as u32,
            EXEC_HI => (self.exec >> 32) as u32,
            251 => u32::from(self.vcc() == 0),
            252 => u32::from(self.exec == 0),
            253 => u32::from(self.scc),
            _ => 0,
        }
    }

    /// A 64-bit scalar source of a bit or unsigned type: a literal is zero-extended.
    #[inline(always)]
    pub fn scalar64(&self, op: Operand, inst: &Inst) -> u64 {
        if op.0 < M0 {
            let i = usize::from(op.0 & 127);
            u64::from(self.sgpr[i]) | u64::from(self.sgpr[i + 1]) << 32
        } else if op.0 == EXEC_LO {
            self.exec
        } else {
            self.scalar64_named(op, inst)
        }
    }

    #[cold]
    #[inline(never)]
    fn scalar64_named(&self, op: Operand, inst: &Inst) -> u64 {
        match op.0 {
            M0 | 125 => u64::from(self.sgpr[usize::from(op.0)]),
            251 => u64::from(self.vcc() == 0),
            252 => u64::from(self.exec == 0),
            253 => u64::from(self.scc),
            255 => u64::from(inst.literal),
            code => wide_constant(self, code),
        }
    }

    /// Writes a 32-bit scalar destination.
    #[inline(always)]
    pub fn set_scalar(&mut self, op: Operand, value: u32) {
        // The registers of trap handlers, from 108 on, read 0 in user code and cannot be written; 125 is none.
        if op.0 < TTMP0 || op.0 == M0 {
            self.sgpr[usize::from(op.0 & 127)] = value;
        } else {
            self.set_exec_half(op, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_exec_half(&mut self, op: Operand, value: u32) {
        match op.0 {
            EXEC_LO => self.exec = self.exec & !0xffff_ffff | u64::from(value),
            EXEC_HI => self.set_exec(self.exec & 0xffff_ffff | u64::from(value) << 32),
            _ => {}
        }
    }

    /// Writes a 64-bit scalar destination.
    #[inline(always)]
    pub fn set_scalar64(&mut self, op: Operand, value: u64) {
        match op.0 {
            code if code < TTMP0 => {
                self.sgpr[usize::from(code)] = value as u32;
                self.sgpr[usize::from(code) + 1] = (value >> 32) as u32;
            }
            EXEC_LO => self.set_exec(value),
            _ => {}
        }
    }

    /// Makes the lanes of a mask live. A wave of 32 lanes has no upper half of EXEC.
    #[inline(always)]
    pub fn set_exec(&mut self, mask: u64) {
        self.exec = mask & self.full;
    }

    /// A lane mask: a pair of registers, or one in a wave of 32 lanes.
    #[inline(always)]
    pub fn mask(&self, op: Operand, inst: &Inst) -> u64 {
        match self.masks {
            Masks::Pairs => self.scalar64(op, inst),
            Masks::Singles => {
                std::hint::cold_path();
                u64::from(self.scalar(op, inst))
            }
            Masks::Split(second) => self.split_mask(second, op, inst),
        }
    }

    #[inline(never)]
    fn split_mask(&self, second: NonNull<[u32; 256]>, op: Operand, inst: &Inst) -> u64 {
        if op == Operand::EXEC_LO {
            return self.exec;
        }
        let low = self.scalar(op, inst);
        // SAFETY: the other wave's scalars, to which there are no references while these are split.
        let high = if op.0 < SPECIAL { unsafe { second.as_ref()[usize::from(op.0)] } } else { low };
        u64::from(low) | u64::from(high) << 32
    }

    /// Writes a lane mask: a pair of registers, or one in a wave of 32 lanes.
    #[inline(always)]
    pub fn set_mask(&mut self, op: Operand, value: u64) {
        match self.masks {
            Masks::Pairs => self.set_scalar64(op, value),
            Masks::Singles => {
                std::hint::cold_path();
                self.set_scalar(op, value as u32);
            }
            Masks::Split(second) => self.set_split_mask(second, op, value),
        }
    }

    #[inline(never)]
    fn set_split_mask(&mut self, mut second: NonNull<[u32; 256]>, op: Operand, value: u64) {
        if op == Operand::EXEC_LO {
            self.exec = value;
        } else if op.0 < TTMP0 || op.0 == M0 {
            self.sgpr[usize::from(op.0 & 127)] = value as u32;
            // SAFETY: as for `split_mask`.
            unsafe { second.as_mut()[usize::from(op.0 & 127)] = (value >> 32) as u32 };
        }
    }

    /// VCC, as many bits as there are lanes.
    #[inline(always)]
    pub fn vcc(&self) -> u64 {
        let high = match self.masks {
            // SAFETY: as for `split_mask`.
            Masks::Split(second) => unsafe { second.as_ref()[106] },
            _ => self.sgpr[107],
        };
        (u64::from(self.sgpr[106]) | u64::from(high) << 32) & self.full
    }

    /// M0.
    #[inline(always)]
    pub fn m0(&self) -> u32 {
        self.sgpr[usize::from(M0)]
    }
}
