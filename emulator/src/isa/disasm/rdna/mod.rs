//! [`Inst`] of RDNA to text, for waves of 32 lanes.

mod format;
mod memory;
mod operand;
mod scalar;
mod vector;

use super::{
    super::{
        decode,
        inst::{Inst, Variant},
        row::{Family, Target, flag},
    },
    Text, Ty,
};

pub fn print(text: &mut Text, inst: &Inst, target: Target) {
    text.out.push_str(inst.row.name);
    text.out.push_str(suffix(inst));
    match inst.row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp => {
            scalar::print(text, inst, target);
        }
        Family::Smem => memory::smem(text, inst, target),
        Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 => vector::print(text, inst, target),
        Family::Vop3p => vector::vop3p(text, inst, target),
        Family::Vopd => vopd(text, inst, target),
        Family::LdsDirect => vector::lds_direct(text, inst, target),
        Family::Ds => super::memory::ds(text, inst),
        Family::Flat | Family::Global | Family::Scratch => memory::flat(text, inst, target),
        Family::Mubuf | Family::Mtbuf => memory::buffer(text, inst, target),
    }
}

fn suffix(inst: &Inst) -> &'static str {
    let shape = &inst.row.shape;
    let is_long = inst.word0 >> 26 == 0x35 || inst.row.family == Family::Vop3p;
    let is_vopc = inst.row.family == Family::Vopc;
    match inst.variant {
        _ if shape.src[0] == Ty::No => "",
        Variant::Sdwa => "_sdwa",
        Variant::Dpp | Variant::Dpp8 if is_long => "_e64_dpp",
        Variant::Dpp | Variant::Dpp8 if is_vopc => "",
        Variant::Dpp | Variant::Dpp8 => "_dpp",
        // Instructions of one form have no suffix.
        _ if shape.has(flag::NO_E64) => "",
        Variant::E64 => "_e64",
        Variant::Plain if matches!(inst.row.family, Family::Vop1 | Family::Vop2 | Family::Vopc) => "_e32",
        Variant::Plain => "",
    }
}

/// Both halves of a dual-issue instruction.
fn vopd(text: &mut Text, inst: &Inst, target: Target) {
    let Some([first, second]) = decode::halves(target, &[inst.word0, inst.word1, inst.literal]) else {
        return;
    };
    let has_k = |inst: &Inst| inst.row.shape.has(flag::MADMK | flag::MADAK);
    // LLVM takes the constant for a code of an operand, but not where the other half has it, too.
    vector::half(text, &first, has_k(&second));
    text.modifier(":: ");
    text.out.push_str(second.row.name);
    text.operands = 0;
    vector::half(text, &second, false);
}
