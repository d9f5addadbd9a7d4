//! [`Inst`] to text, character for character what `llvm-mc -disassemble` prints (LLVM 22).
//!
//! Left out are only LLVM's own diagnostics within the text: the comments `/*Invalid register ...*/`,
//! `/*Invalid immediate*/` and `; Warning ...` about operands that it decodes but would not assemble.

mod memory;
mod operand;
mod rdna;
mod scalar;
mod vector;

use super::{
    inst::{Inst, Variant},
    row::{Family, Target, Ty, flag},
};

/// The instruction as LLVM prints it for `target`; on RDNA as one of a wave of 32 lanes.
pub fn disassemble(inst: &Inst, target: Target) -> String {
    let mut text = Text { out: String::with_capacity(64), operands: 0 };
    if target.is_rdna() {
        rdna::print(&mut text, inst, target);
        return text.out;
    }
    match inst.row.name.strip_prefix("v_mfma") {
        Some(rest) if inst.scales().is_some() => text.out.extend(["v_mfma_scale", rest]),
        _ => text.out.push_str(inst.row.name),
    }
    text.out.push_str(suffix(inst));
    match inst.row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp => {
            scalar::print(&mut text, inst, target);
        }
        Family::Smem => memory::smem(&mut text, inst),
        Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 => vector::print(&mut text, inst),
        Family::Vop3p => vector::vop3p(&mut text, inst, target),
        Family::Ds => memory::ds(&mut text, inst),
        Family::Flat | Family::Global | Family::Scratch => memory::flat(&mut text, inst, target),
        Family::Mubuf | Family::Mtbuf => memory::buffer(&mut text, inst, target),
        // Those of RDNA.
        Family::Vopd | Family::LdsDirect => {}
    }
    text.out
}

fn suffix(inst: &Inst) -> &'static str {
    let shape = &inst.row.shape;
    match inst.variant {
        _ if shape.src[0] == Ty::No => "",
        Variant::Sdwa => "_sdwa",
        Variant::Dpp | Variant::Dpp8 => "_dpp",
        // Instructions of one form have no suffix.
        _ if shape.has(flag::NO_E64) => "",
        Variant::E64 => "_e64",
        Variant::Plain if matches!(inst.row.family, Family::Vop1 | Family::Vop2 | Family::Vopc) => "_e32",
        Variant::Plain => "",
    }
}

/// The text so far: a mnemonic, operands between commas, modifiers between blanks.
struct Text {
    out: String,
    operands: usize,
}

impl Text {
    /// Appends an operand, with a comma before all but the first.
    fn operand(&mut self, text: &str) {
        self.out.push_str(if self.operands == 0 { " " } else { ", " });
        self.out.push_str(text);
        self.operands += 1;
    }

    /// Appends ` text`.
    fn modifier(&mut self, text: &str) {
        self.out.push(' ');
        self.out.push_str(text);
    }

    fn flag(&mut self, set: bool, text: &str) {
        if set {
            self.modifier(text);
        }
    }
}

/// Bits `high..=low` of `word`.
fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & (u32::MAX >> (31 - (high - low)))
}
