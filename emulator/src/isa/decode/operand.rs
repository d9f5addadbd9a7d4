//! Operand codes: which registers and constants a field can name, and how wide register groups align.

use super::super::{inst::Operand, row::Ty};

/// A scalar register group of `dwords` registers at `code`, aligned down as the hardware does; `None` if there
/// is none.
pub fn scalar(code: u32, dwords: u16) -> Option<Operand> {
    // CAST: `code` is below 128 in every arm that uses it.
    let group = |align: u32, sgprs: u32| match code {
        _ if code < sgprs => Some(Operand((code & !(align - 1)) as u16)),
        108..=123 => {
            let first = 108 + ((code - 108) & !(align - 1));
            (first + u32::from(dwords) <= 124).then_some(Operand(first as u16))
        }
        _ => None,
    };
    match dwords {
        0 => None,
        // The null register has any width.
        _ if code == 125 => Some(Operand(125)),
        1 => (code < 128).then_some(Operand(code as u16)),
        2 => match code {
            102 | 104 | 106 | 126 => Some(Operand(code as u16)),
            _ => group(2, 102),
        },
        // Groups of four and more align to four; the last begins at or before s100, also of five.
        _ => group(4, 102).filter(|op| op.0 >= 108 || op.0 + (dwords & !3) <= 104),
    }
}

/// The VGPRs from v`n`. A group that begins below v256 may reach behind it, as it does for LLVM: the next row
/// of the register file is a0.
pub fn vgpr(n: u32) -> Operand {
    // CAST: `n` is below 256.
    Operand::vgpr(n as u16)
}

/// `dwords` registers from v`n`, or from a`n` if `acc`; `None` past a255.
pub fn vgpr_or_agpr(n: u32, dwords: u16, acc: bool) -> Option<Operand> {
    match acc {
        false => Some(vgpr(n)),
        // CAST: `n` is below 256.
        true => (n + u32::from(dwords) <= 256).then_some(Operand::agpr(n as u16)),
    }
}

/// An 8-bit field that names a scalar destination. LLVM takes constants too; a write to one goes nowhere.
pub fn sdst(code: u32, ty: Ty) -> Option<Operand> {
    ssrc(code, ty)
}

/// An 8-bit scalar source of type `ty`; 255 says that a literal follows.
pub fn ssrc(code: u32, ty: Ty) -> Option<Operand> {
    // CAST: `code` is below 256.
    let constant = Some(Operand(code as u16));
    match code {
        0..=127 => scalar(code, ty.scalar_dwords(code)),
        128..=208 | 240..=248 | 255 => constant,
        230 | 235..=239 | 251..=253 if ty.dwords() <= 2 => constant,
        // One dword only: the high half of the flat scratch base, LDS direct.
        231 | 254 if ty.dwords() == 1 => constant,
        _ => None,
    }
}

/// A 9-bit source of type `ty`.
pub fn src(code: u32, ty: Ty) -> Option<Operand> {
    match code {
        256.. => vgpr_or_agpr(code - 256, ty.dwords(), ty == Ty::A32),
        _ => ssrc(code, ty),
    }
}

/// As [`src`], where no literal can follow.
pub fn src_without_literal(code: u32, ty: Ty) -> Option<Operand> {
    src(code, ty).filter(|op| *op != Operand::LITERAL)
}
