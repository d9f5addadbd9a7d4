//! Operand codes of RDNA.

use super::super::{
    super::{
        inst::Operand,
        row::{Generation, Ty},
    },
    Fetch,
};

/// Scalar registers that a field can name beside VCC and those of trap handlers.
const SGPRS: u32 = 106;
/// VCC_LO.
const VCC: u32 = 106;
/// The first register of trap handlers, and the first that is none.
const TRAP: std::ops::Range<u32> = 108..124;

impl Fetch {
    /// A scalar register group of `dwords` registers at `code`, aligned down as the hardware does; `None` if there
    /// is none.
    pub fn rdna_scalar(&self, code: u32, dwords: u16) -> Option<Operand> {
        // M0 and NULL changed places with RDNA 3.
        let code = match code {
            124 | 125 if self.target.generation() > Generation::Gfx10 => code ^ 1,
            _ => code,
        };
        // CAST: `code` is below 128 in every arm that uses it.
        let operand = |code: u32| Some(Operand(code as u16));
        let aligned = |align: u32| match code {
            _ if code < SGPRS => {
                let first = code & !(align - 1);
                // CAST: at most 16.
                (first + u32::from(dwords) <= SGPRS).then_some(Operand(first as u16))
            }
            _ if TRAP.contains(&code) => {
                let first = TRAP.start + ((code - TRAP.start) & !(align - 1));
                (first + u32::from(dwords) <= TRAP.end).then_some(Operand(first as u16))
            }
            _ => None,
        };
        match dwords {
            0 => None,
            // The null register has any width.
            _ if code == 125 => operand(125),
            1 => operand(code).filter(|_| code < 128),
            2 if code == VCC || code == 126 => operand(code),
            2 => aligned(2),
            _ => aligned(4),
        }
    }

    /// As [`ssrc`](super::super::operand::ssrc).
    pub fn rdna_ssrc(&self, code: u32, ty: Ty) -> Option<Operand> {
        // CAST: `code` is below 256.
        let constant = Some(Operand(code as u16));
        let dwords = if ty == Ty::Mask { 1 } else { ty.scalar_dwords(code) };
        match code {
            0..=127 => self.rdna_scalar(code, dwords),
            128..=208 | 240..=248 | 255 => constant,
            230 if dwords <= 2 => constant,
            231 if dwords == 1 => constant,
            235..=239 | 251..=253 if dwords <= 2 => constant,
            254 if dwords == 1 => constant,
            _ => None,
        }
    }

    /// A field that names a scalar destination. LLVM takes constants too; a write to one goes nowhere.
    pub fn rdna_sdst(&self, code: u32, ty: Ty) -> Option<Operand> {
        self.rdna_ssrc(code, ty).filter(|op| *op != Operand::LITERAL)
    }
}
