//! Vector instructions and their modifiers.

use super::{
    super::{
        super::{
            inst::{Inst, Operand, Variant},
            row::{Family, Generation, Target, Ty, flag},
        },
        Text, bits,
        operand::immediate32,
        vector::{clamp_and_omod, constant_k, list, sdwa},
    },
    operand::{half as half_name, name},
};

fn is_half(ty: Ty) -> bool {
    matches!(ty, Ty::I16 | Ty::F16 | Ty::Bf16)
}

/// Whether 16-bit operands that are VGPRs are named with their half.
fn names_halves(inst: &Inst, target: Target) -> bool {
    target.generation() > Generation::Gfx10 && inst.row.family != Family::Vop3p
}

/// Whether LLVM takes an instruction in the 64-bit encoding for one of whole registers: it does if a bit of op_sel is
/// set that no operand has.
fn takes_whole_registers(inst: &Inst) -> bool {
    let shape = &inst.row.shape;
    let sources = shape.sources() - usize::from(shape.src[2] == Ty::Mask);
    let operands = ((1 << sources) - 1) | (u32::from(inst.row.family != Family::Vopc) << 3);
    inst.word0 >> 26 == 0x35
        && !shape.has(flag::PERMLANE | flag::BYTE_SEL)
        && bits(inst.word0, 14, 11) & !operands != 0
}

/// VOP1, VOP2, VOPC and VOP3 in all their forms.
pub fn print(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    let wraps = takes_whole_registers(inst);
    let halves = names_halves(inst, target) && !wraps && shape.dst != Ty::S32;
    if inst.dst != Operand::NONE {
        text.operand(&match shape.dst {
            ty if halves && is_half(ty) => half_name(inst.dst, inst.mods.op_sel & 8 != 0),
            ty => name(inst.dst, ty, inst.literal),
        });
    }
    if inst.sdst != Operand::NONE {
        text.operand(&name(inst.sdst, Ty::Mask, 0));
    }
    for i in 0..3 {
        if shape.has(flag::MADMK) && i == 1 || shape.has(flag::MADAK) && i == 2 {
            text.operand(&constant_k(inst.literal, shape.src[0]));
        }
        if inst.src[i] != Operand::NONE {
            text.operand(&source(inst, i, halves));
        }
    }
    if !wraps {
        op_sel(text, inst, halves);
    }
    if inst.variant == Variant::Sdwa {
        return sdwa(text, inst);
    }
    clamp_and_omod(text, inst);
    dpp(text, inst);
}

/// The bits of op_sel, with that of the destination behind those of the sources.
fn op_sel(text: &mut Text, inst: &Inst, halves: bool) {
    let shape = &inst.row.shape;
    let has_halves =
        shape.has(flag::OP_SEL) || halves && shape.src.into_iter().chain([shape.dst]).any(is_half);
    if shape.has(flag::BYTE_SEL) && inst.word0 >> 26 == 0x35 {
        let bit = |n: u32| inst.word0 >> (11 + n) & 1;
        let byte = if inst.row.family == Family::Vop1 { bit(0) << 1 | bit(1) } else { bit(3) << 1 | bit(2) };
        return text.flag(byte != 0, &format!("byte_sel:{byte}"));
    }
    if inst.word0 >> 26 != 0x35 || !has_halves || shape.src[2] == Ty::Mask {
        return;
    }
    let sources = match shape.has(flag::PERMLANE) {
        true => 2,
        false => shape.sources() + usize::from(accumulates(inst)),
    };
    let hides = |i: usize| i < 3 && matches!(shape.src[i], Ty::V2F16 | Ty::V2Bf16);
    // CAST: one bit each.
    let shown = |i: usize| if hides(i) { 0 } else { (inst.word0 >> (11 + i) & 1) as u8 };
    // Comparisons with DPP have no bit of a destination.
    let moves = matches!(inst.variant, Variant::Dpp | Variant::Dpp8);
    let has_destination = !shape.has(flag::PERMLANE) && (inst.row.family != Family::Vopc || !moves);
    let destination = has_destination.then_some(3);
    let bits: Vec<_> = (0..sources).chain(destination).map(shown).collect();
    if bits.iter().any(|bit| *bit != 0) {
        text.modifier(&list("op_sel", bits.into_iter()));
    }
}

/// Whether it accumulates in its destination, and has a DPP word beside its own two.
fn moves_accumulator(inst: &Inst) -> bool {
    inst.size == 12 && matches!(inst.variant, Variant::Dpp | Variant::Dpp8) && accumulates(inst)
}

/// Whether the destination is a source that VOP3 has no field for.
fn accumulates(inst: &Inst) -> bool {
    inst.row.name.starts_with("v_fmac")
}

/// A source with its modifiers.
fn source(inst: &Inst, i: usize, halves: bool) -> String {
    let ty = inst.row.shape.src[i];
    let op = inst.src[i];
    let text = match ty {
        ty if halves && is_half(ty) && op.row().is_some() => half_name(op, inst.mods.op_sel >> i & 1 != 0),
        _ if op == Operand::LITERAL && inst.row.swaps() => immediate32(inst.literal),
        Ty::Mix => name(op, if op == Operand::LITERAL { Ty::F16 } else { ty }, inst.literal),
        _ if is_half(ty) && inst.row.shape.has(flag::OTHER_CONSTANTS) => {
            name(op, if is_half(inst.row.shape.dst) { inst.row.shape.dst } else { Ty::F16 }, inst.literal)
        }
        // LLVM takes the code of a constant for the value.
        _ if matches!(op.0, 128..=208 | 240..=248) && moves_accumulator(inst) => format!("{:#x}", op.0),
        _ => name(op, ty, inst.literal),
    };
    let extends = i < 2 && inst.word1 >> (19 + 8 * i) & 1 != 0 && !ty.is_float();
    if inst.variant == Variant::Sdwa && extends {
        return format!("sext({text})");
    }
    let (neg, abs) = (inst.mods.neg >> i & 1 != 0, inst.mods.abs >> i & 1 != 0);
    let is_constant = matches!(op.0, 128..=208 | 240..=248 | 255) && !text.starts_with('l');
    match (neg, abs) {
        (false, false) => text,
        (false, true) => format!("|{text}|"),
        (true, true) => format!("-|{text}|"),
        (true, false) if is_constant => format!("neg({text})"),
        (true, false) => format!("-{text}"),
    }
}

fn dpp(text: &mut Text, inst: &Inst) {
    let word = inst.literal;
    if inst.variant == Variant::Dpp8 {
        text.modifier(&list("dpp8", (0..8).map(|n| (word >> (8 + 3 * n) & 7) as u8)));
        text.flag(inst.fetches_inactive(), "fi:1");
    }
    if inst.variant != Variant::Dpp {
        return;
    }
    let control = bits(word, 16, 8);
    let lane = control & 15;
    text.modifier(&match control {
        0..=0xff => {
            let lanes = (0..4).map(|i| (control >> (2 * i) & 3) as u8);
            list("quad_perm", lanes)
        }
        0x101..=0x10f => format!("row_shl:{lane}"),
        0x111..=0x11f => format!("row_shr:{lane}"),
        0x121..=0x12f => format!("row_ror:{lane}"),
        0x130 => "/* wave_shl is not supported starting from GFX10 */".to_owned(),
        0x134 => "/* wave_rol is not supported starting from GFX10 */".to_owned(),
        0x138 => "/* wave_shr is not supported starting from GFX10 */".to_owned(),
        0x13c => "/* wave_ror is not supported starting from GFX10 */".to_owned(),
        0x140 => "row_mirror".to_owned(),
        0x141 => "row_half_mirror".to_owned(),
        0x142 | 0x143 => "/* row_bcast is not supported starting from GFX10 */".to_owned(),
        0x150..=0x15f => format!("row_share:{lane}"),
        0x160..=0x16f => format!("row_xmask:{lane}"),
        _ => "/* Invalid dpp_ctrl value */".to_owned(),
    });
    text.modifier(&format!("row_mask:{:#x}", bits(word, 31, 28)));
    text.modifier(&format!("bank_mask:{:#x}", bits(word, 27, 24)));
    text.flag(bits(word, 19, 19) != 0, "bound_ctrl:1");
    text.flag(inst.fetches_inactive(), "fi:1");
}

/// Half of a dual-issue instruction.
pub fn half(text: &mut Text, inst: &Inst, shares_constant: bool) {
    let shape = &inst.row.shape;
    text.operand(&name(inst.dst, shape.dst, 0));
    for i in 0..3 {
        if shape.has(flag::MADMK) && i == 1 || shape.has(flag::MADAK) && i == 2 {
            text.operand(&match shares_constant {
                true => format!("{:#x}", inst.literal),
                false => constant_k(inst.literal, shape.src[0]),
            });
        }
        if inst.src[i] != Operand::NONE && shape.src[i] != Ty::Mask {
            text.operand(&source(inst, i, false));
        }
    }
}

pub fn lds_direct(text: &mut Text, inst: &Inst, target: Target) {
    text.operand(&name(inst.dst, Ty::B32, 0));
    let field = if target.generation() == Generation::Gfx12 { "wait_va_vdst" } else { "wait_vdst" };
    text.modifier(&format!("{field}:{}", bits(inst.word0, 19, 16)));
    if target.generation() == Generation::Gfx12 {
        text.modifier(&format!("wait_vm_vsrc:{}", bits(inst.word0, 23, 23)));
    }
}

/// A literal in the place of a matrix: of C it is an element, for which RDNA 3 has no other writing.
fn matrix_literal(inst: &Inst, i: usize, target: Target) -> String {
    let is_sum = i == 2 && !inst.row.shape.has(flag::SPARSE);
    let element = match inst.row.name.split('_').nth(2) {
        Some("f16") => Ty::F16,
        Some("bf16") => Ty::Bf16,
        _ => Ty::B32,
    };
    match target.generation() {
        Generation::Gfx12 if is_sum => name(Operand::LITERAL, element, inst.literal),
        _ if is_sum => format!("{:#x}", inst.literal),
        _ => immediate32(inst.literal),
    }
}

/// Packed, dot-product and matrix instructions.
pub fn vop3p(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    text.operand(&name(inst.dst, shape.dst, 0));
    let sources = shape.sources();
    let mix = shape.src[0] == Ty::Mix;
    for i in 0..sources {
        text.operand(&match shape.src[i] {
            Ty::Mix => source(inst, i, false),
            _ if shape.has(flag::WMMA) && inst.src[i] == Operand::LITERAL => matrix_literal(inst, i, target),
            _ if shape.has(flag::WMMA) && (128..256).contains(&inst.src[i].0) => {
                // LLVM takes those for C for wide ones on RDNA 3.
                let is_wide = i == 2 && target.generation() == Generation::Gfx11;
                name(inst.src[i], if is_wide { Ty::B64 } else { Ty::B32 }, 0)
            }
            ty => name(inst.src[i], ty, inst.literal),
        });
    }
    let mods = inst.mods;
    let each = |bits: u8| (0..sources).map(move |i| bits >> i & 1);
    let all = (1u8 << sources) - 1;
    // Halves are taken low from low and high from high by default; mixed sources are f32 by default.
    let op_sel_hi_default = if mix { 0 } else { all };
    let has_op_sel = match shape.has(flag::WMMA) {
        true => shape.has(flag::OP_SEL),
        false => shape.src[0] != Ty::B32,
    };
    if shape.has(flag::SPARSE) && mods.op_sel & 3 != 0 {
        text.modifier(&format!("index_key:{}", mods.op_sel & 3));
    }
    if mods.op_sel & all != 0 && !shape.has(flag::SPARSE) {
        text.modifier(&list("op_sel", each(mods.op_sel)));
    }
    if mods.op_sel_hi & all != op_sel_hi_default && has_op_sel {
        text.modifier(&list("op_sel_hi", each(mods.op_sel_hi)));
    }
    if !mix && mods.neg & all != 0 {
        text.modifier(&list("neg_lo", each(mods.neg)));
    }
    if !mix && mods.abs & all != 0 {
        text.modifier(&list("neg_hi", each(mods.abs)));
    }
    text.flag(mods.clamp, "clamp");
    dpp(text, inst);
}
