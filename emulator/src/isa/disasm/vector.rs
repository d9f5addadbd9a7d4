//! Vector instructions and their modifiers.

use super::{
    super::{
        inst::{Inst, Operand, Variant},
        row::{Family, Target, Ty, flag},
    },
    Text, bits,
    operand::{inline_bits, name, scalar},
};

/// VOP1, VOP2, VOPC and VOP3 in all their forms.
pub fn print(text: &mut Text, inst: &Inst) {
    let shape = &inst.row.shape;
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, inst.literal));
    }
    if inst.sdst != Operand::NONE {
        text.operand(&name(inst.sdst, Ty::S64, 0));
    }
    for i in 0..3 {
        if shape.has(flag::MADMK) && i == 1 || shape.has(flag::MADAK) && i == 2 {
            text.operand(&constant_k(inst.literal, shape.src[0]));
        }
        if inst.src[i] != Operand::NONE {
            text.operand(&source(inst, i));
        }
    }
    match inst.variant {
        Variant::Sdwa if shape.src[0] == Ty::No => {}
        Variant::Sdwa => sdwa(text, inst),
        Variant::Dpp => dpp(text, inst),
        _ => {
            if shape.has(flag::BITOP3) {
                let table = inst.bitop3();
                let digits = if table <= 10 { table.to_string() } else { format!("{table:#x}") };
                text.flag(table != 0, &format!("bitop3:{digits}"));
            }
            if shape.has(flag::PERMLANE) && inst.variant == Variant::E64 {
                text.flag(inst.word0 >> 12 & 1 != 0, "bound_ctrl:1");
                text.flag(inst.word0 >> 11 & 1 != 0, "fi:1");
            }
            if inst.mods.op_sel != 0 {
                let sources = if shape.has(flag::BYTE_SEL) { 3 } else { shape.sources() };
                let bits = (0..sources).chain([3]).map(|i| inst.mods.op_sel >> i & 1);
                text.modifier(&list("op_sel", bits));
            }
            clamp_and_omod(text, inst);
        }
    }
}

/// The constant K of v_madmk and the like. LLVM takes it for an operand code: a K that is the code of an inline
/// constant comes out as that constant's value.
pub fn constant_k(k: u32, ty: Ty) -> String {
    let value = match u16::try_from(k).ok().and_then(inline_bits) {
        Some(constant) if ty == Ty::F16 && k <= 208 => constant & 0xffff,
        Some(constant) => constant,
        None => k,
    };
    format!("{value:#x}")
}

pub fn clamp_and_omod(text: &mut Text, inst: &Inst) {
    text.flag(inst.mods.clamp, "clamp");
    if inst.mods.omod != 0 {
        text.modifier(["", "mul:2", "mul:4", "div:2"][usize::from(inst.mods.omod & 3)]);
    }
}

/// A source with its modifiers.
fn source(inst: &Inst, i: usize) -> String {
    let ty = inst.row.shape.src[i];
    let op = inst.src[i];
    let text = name(op, ty, inst.literal);
    if inst.variant == Variant::Sdwa && !ty.is_float() {
        let sext = i < 2 && inst.word1 >> (19 + 8 * i) & 1 != 0;
        return if sext && ty != Ty::V2F16 { format!("sext({text})") } else { text };
    }
    let (neg, abs) = (inst.mods.neg >> i & 1 != 0, inst.mods.abs >> i & 1 != 0);
    let is_constant = (128..=208).contains(&op.0) || (240..=248).contains(&op.0);
    match (neg, abs) {
        (false, false) => text,
        (false, true) => format!("|{text}|"),
        (true, true) => format!("-|{text}|"),
        (true, false) if is_constant => format!("neg({text})"),
        (true, false) => format!("-{text}"),
    }
}

pub fn sdwa(text: &mut Text, inst: &Inst) {
    const SELECT: [&str; 8] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", ""];
    const UNUSED: [&str; 4] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", ""];
    let word = inst.word1;
    let select = |high, low| SELECT[bits(word, high, low) as usize];
    clamp_and_omod(text, inst);
    if inst.row.family != Family::Vopc && !inst.row.shape.has(flag::NO_DST_SEL) {
        text.modifier(&format!("dst_sel:{}", select(10, 8)));
        text.modifier(&format!("dst_unused:{}", UNUSED[bits(word, 12, 11) as usize]));
    }
    text.modifier(&format!("src0_sel:{}", select(18, 16)));
    if inst.row.family != Family::Vop1 {
        text.modifier(&format!("src1_sel:{}", select(26, 24)));
    }
}

fn dpp(text: &mut Text, inst: &Inst) {
    let word = inst.word1;
    let shape = &inst.row.shape;
    let wide = [shape.dst, shape.src[0], shape.src[1]].iter().any(|ty| matches!(ty, Ty::B64 | Ty::F64));
    let control = bits(word, 16, 8);
    let lane = control & 15;
    text.modifier(&match control {
        0x150..=0x15f => format!("row_newbcast:{lane}"),
        _ if wide => " /* DP ALU dpp only supports row_newbcast */".to_owned(),
        0..=0xff => {
            let lanes = (0..4).map(|i| (control >> (2 * i) & 3) as u8);
            list("quad_perm", lanes)
        }
        0x101..=0x10f => format!("row_shl:{lane}"),
        0x111..=0x11f => format!("row_shr:{lane}"),
        0x121..=0x12f => format!("row_ror:{lane}"),
        0x130 => "wave_shl:1".to_owned(),
        0x134 => "wave_rol:1".to_owned(),
        0x138 => "wave_shr:1".to_owned(),
        0x13c => "wave_ror:1".to_owned(),
        0x140 => "row_mirror".to_owned(),
        0x141 => "row_half_mirror".to_owned(),
        0x142 => "row_bcast:15".to_owned(),
        0x143 => "row_bcast:31".to_owned(),
        0x160..=0x16f => "/* row_xmask is not supported on ASICs earlier than GFX10 */".to_owned(),
        _ => "/* Invalid dpp_ctrl value */".to_owned(),
    });
    text.modifier(&format!("row_mask:{:#x}", bits(word, 31, 28)));
    text.modifier(&format!("bank_mask:{:#x}", bits(word, 27, 24)));
    text.flag(bits(word, 19, 19) != 0, "bound_ctrl:1");
}

/// Packed, dot-product and matrix instructions.
pub fn vop3p(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    let sources = shape.sources();
    let mix = shape.src[0] == Ty::Mix;
    for i in 0..sources {
        let (op, ty) = (inst.src[i], inst.source_type(i));
        text.operand(&match ty {
            Ty::Mix => source(inst, i),
            // LLVM forgets the value of a constant that it narrows.
            _ if ty != shape.src[i] && op.row().is_none() && op.0 >= 128 => "0".to_owned(),
            // Constants of the multiplied matrices show the digits of 32 bits.
            _ if shape.has(flag::MFMA) && i < 2 && op.row().is_none() && op.0 >= 128 => name(op, Ty::B32, 0),
            _ if shape.has(flag::MFMA) && op.0 < 128 => scalar(op.0, ty.dwords().min(16)),
            _ => name(op, ty, 0),
        });
    }
    if shape.has(flag::MFMA) {
        return mfma(text, inst, target);
    }
    if shape.has(flag::ACCVGPR) {
        return;
    }
    let mods = inst.mods;
    let each = |bits: u8| (0..sources).map(move |i| bits >> i & 1);
    let all = (1u8 << sources) - 1;
    let dot = shape.src[0] == Ty::B32 && !shape.has(flag::LD_SCALE);
    // Halves are taken low from low and high from high by default; mixed sources are f32 by default.
    let op_sel_hi_default = if mix { 0 } else { all };
    if mods.op_sel & all != 0 {
        text.modifier(&list("op_sel", each(mods.op_sel)));
    }
    if !dot && mods.op_sel_hi & all != op_sel_hi_default {
        text.modifier(&list("op_sel_hi", each(mods.op_sel_hi)));
    }
    if !mix && mods.neg & all != 0 {
        text.modifier(&list("neg_lo", each(mods.neg)));
    }
    if !mix && mods.abs & all != 0 {
        text.modifier(&list("neg_hi", each(mods.abs)));
    }
    text.flag(mods.clamp, "clamp");
}

fn mfma(text: &mut Text, inst: &Inst, target: Target) {
    let (cbsz, mut abid) = (bits(inst.word0, 10, 8), bits(inst.word0, 14, 11));
    if let Some(scales) = inst.scales() {
        abid = 0;
        scales.iter().for_each(|scales| text.operand(&name(scales.source, Ty::B32, 0)));
        let bits = |bit: u8| scales.iter().map(move |scales| scales.byte >> bit & 1).chain([0]);
        if bits(0).any(|bit| bit != 0) {
            text.modifier(&list("op_sel", bits(0)));
        }
        text.modifier(&list("op_sel_hi", bits(1)));
    }
    let blgp = bits(inst.word1, 31, 29);
    text.flag(cbsz != 0, &format!("cbsz:{cbsz}"));
    text.flag(abid != 0, &format!("abid:{abid}"));
    // gfx942 names what BLGP does to doubles: it negates.
    if target.is_gfx940() && inst.row.shape.src[0] == Ty::F64 {
        text.flag(blgp != 0, &list("neg", (0..3).map(|i| (blgp >> i & 1) as u8)));
    } else {
        text.flag(blgp != 0, &format!("blgp:{blgp}"));
    }
}

/// `name:[a,b,c]`
pub fn list(name: &str, values: impl Iterator<Item = u8>) -> String {
    let values: Vec<_> = values.map(|v| v.to_string()).collect();
    format!("{name}:[{}]", values.join(","))
}
