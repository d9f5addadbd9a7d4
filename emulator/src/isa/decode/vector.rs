//! VOP1, VOP2, VOPC, VOP3, VOP3P, and the SDWA and DPP words of the first three.

use super::{
    super::{
        inst::{Inst, Mods, Operand, Variant},
        row::{Family, Row, Ty, flag},
    },
    DecodeErrorKind, Decoded, Fetch, bits, operand,
    operand::{scalar, sdst, src, src_without_literal, vgpr, vgpr_or_agpr},
    require,
};

/// Source-0 codes that announce an SDWA or DPP word.
const SDWA: u32 = 249;
const DPP: u32 = 250;

pub fn vop1(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vop1, f.lo(16, 9))?;
    let mut inst = f.inst(row);
    inst.dst = destination(row, f.lo(24, 17))?;
    short(f, inst)
}

pub fn vop2(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vop2, f.lo(30, 25))?;
    let mut inst = f.inst(row);
    inst.dst = destination(row, f.lo(24, 17))?;
    if row.shape.sdst == Ty::Mask {
        inst.sdst = Operand::VCC_LO;
    }
    if row.shape.src[2] == Ty::Mask {
        inst.src[2] = Operand::VCC_LO;
    }
    inst.src[1] = vgpr(f.lo(16, 9));
    let mut inst = short(f, inst)?;
    if row.shape.has(flag::MADMK | flag::MADAK) {
        inst.literal = f.second()?;
        inst.size = 8;
    }
    Ok(inst)
}

pub fn vopc(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vopc, f.lo(24, 17))?;
    let mut inst = f.inst(row);
    inst.sdst = Operand::VCC_LO;
    inst.src[1] = vgpr(f.lo(16, 9));
    short(f, inst)
}

/// Source 0 of the short forms, with what may follow: a literal, SDWA or DPP.
fn short(f: &Fetch, mut inst: Inst) -> Decoded {
    let (row, code) = (inst.row, f.lo(8, 0));
    match code {
        SDWA | DPP if row.shape.src[0] == Ty::No => no_operands(f, inst, code == SDWA),
        SDWA if !row.shape.has(flag::NO_SDWA) => sdwa(f, inst),
        DPP if !row.shape.has(flag::NO_DPP) && row.family != Family::Vopc => dpp(f, inst),
        _ => {
            if row.shape.src[0] != Ty::No {
                inst.src[0] = operand(src(code, row.shape.src[0]), row)?;
            } else {
                require(f.lo(24, 17) == 0, row)?;
                return Ok(inst);
            }
            f.with_literal(inst)
        }
    }
}

/// v_nop and v_clrexcp ignore source 0, yet v_nop has SDWA and DPP forms of no effect, and of eight bytes.
fn no_operands(f: &Fetch, inst: Inst, is_sdwa: bool) -> Decoded {
    let row = inst.row;
    require(f.lo(24, 17) == 0, row)?;
    let (absent, reserved, variant) = match is_sdwa {
        true => (flag::NO_SDWA, 0xbf3f_e000, Variant::Sdwa),
        false => (flag::NO_DPP, 0x00f0_0000, Variant::Dpp),
    };
    match f.word1 {
        _ if row.shape.has(absent) => Ok(inst),
        Some(word) if word & reserved == 0 => Ok(Inst { variant, size: 8, word1: word, ..inst }),
        _ => Ok(inst),
    }
}

/// Whether the modifier bits of source `i` suit its type: `neg` and `abs` of floats only.
pub fn neg_abs_allowed(row: &'static Row, i: usize, neg: bool, abs: bool) -> bool {
    let ignored =
        row.shape.has(flag::MODS_IGNORED) && (i < row.shape.sources() || row.shape.has(flag::BYTE_SEL));
    !(neg || abs) || row.shape.src[i].is_float() || ignored
}

/// Whether the SDWA word's modifiers of source `i` are ignored, as for packed halves.
fn packed_ignored(row: &'static Row, i: usize) -> bool {
    row.shape.src[i] == Ty::V2F16 && row.shape.has(flag::MODS_IGNORED)
}

pub fn sdwa(f: &Fetch, inst: Inst) -> Decoded {
    let row = inst.row;
    let word = f.second()?;
    let bit = |n: u32| word >> n & 1 != 0;
    let two = row.shape.sources() >= 2;
    let mut inst = Inst { variant: Variant::Sdwa, size: 8, word1: word, ..inst };
    inst.src[0] = sdwa_source(row, 0, bits(word, 7, 0), bit(23))?;
    if two {
        inst.src[1] = sdwa_source(row, 1, u32::from(inst.src[1].0 - Operand::vgpr(0).0), bit(31))?;
    } else {
        require(bits(word, 29, 24) == 0 && !bit(31), row)?;
    }
    for (i, sel, sext, neg, abs) in [(0, bits(word, 18, 16), 19, 20, 21), (1, bits(word, 26, 24), 27, 28, 29)]
    {
        if i == 0 || two {
            let float = row.shape.src[i].is_float();
            require(sel != 7, row)?;
            require(if float { !bit(sext) } else { !bit(neg) && !bit(abs) }, row)?;
            if float && !packed_ignored(row, i) {
                inst.mods.neg |= u8::from(bit(neg)) << i;
                inst.mods.abs |= u8::from(bit(abs)) << i;
            }
        }
    }
    if row.family == Family::Vopc {
        require(!bit(15) || row.shape.sdst == Ty::Mask, row)?;
        if bit(15) {
            let code = bits(word, 14, 8);
            inst.sdst =
                operand(if f.target.is_rdna() { f.rdna_scalar(code, 1) } else { scalar(code, 2) }, row)?;
        }
    } else {
        if row.shape.has(flag::NO_DST_SEL) {
            require(bits(word, 10, 8) == 6, row)?;
        } else {
            require(bits(word, 10, 8) != 7 && bits(word, 12, 11) != 3, row)?;
        }
        let float = row.shape.dst.is_float() || row.shape.has(flag::NO_DST_SEL);
        require(float && row.shape.has(flag::OMOD) || bits(word, 15, 14) == 0, row)?;
        inst.mods.clamp = bit(13);
        inst.mods.omod = bits(word, 15, 14) as u8;
    }
    Ok(inst)
}

/// An SDWA source: a VGPR, or with the scalar bit an SGPR.
fn sdwa_source(row: &'static Row, i: usize, code: u32, is_scalar: bool) -> Decoded<Operand> {
    if is_scalar {
        return operand(src_without_literal(code, row.shape.src[i]), row);
    }
    Ok(vgpr(code))
}

fn dpp(f: &Fetch, inst: Inst) -> Decoded {
    let row = inst.row;
    let word = f.second()?;
    let bit = |n: u32| word >> n & 1 != 0;
    // The bit with which RDNA reads lanes that are off means nothing here.
    let literal = word & !Inst::FETCHES_INACTIVE;
    let mut inst = Inst { variant: Variant::Dpp, size: 8, word1: word, literal, ..inst };
    inst.src[0] = vgpr(bits(word, 7, 0));
    for (i, neg, abs) in [(0, 20, 21), (1, 22, 23)] {
        require(neg_abs_allowed(row, i, bit(neg), bit(abs)), row)?;
        if row.shape.src[i].is_float() {
            inst.mods.neg |= u8::from(bit(neg)) << i;
            inst.mods.abs |= u8::from(bit(abs)) << i;
        }
    }
    Ok(inst)
}

fn destination(row: &'static Row, code: u32) -> Decoded<Operand> {
    match row.shape.dst {
        Ty::No => Ok(Operand::NONE),
        ty @ (Ty::S32 | Ty::S64) => operand(sdst(code, ty), row),
        ty => operand(vgpr_or_agpr(code, ty.dwords(), ty == Ty::A32), row),
    }
}

/// VOP3A and VOP3B; opcodes below 0x1c0 are the VOPC, VOP2 and VOP1 instructions, which share their rows.
pub fn vop3(f: &Fetch) -> Decoded {
    let opcode = f.lo(25, 16);
    let (family, base, variant) = match opcode {
        0..0x100 => (Family::Vopc, 0, Variant::E64),
        0x100..0x140 => (Family::Vop2, 0x100, Variant::E64),
        0x140..0x1c0 => (Family::Vop1, 0x140, Variant::E64),
        _ => (Family::Vop3, 0, Variant::Plain),
    };
    let row = f.row(family, opcode - base)?;
    let shape = &row.shape;
    if shape.has(flag::NO_E64) {
        // CAST: 10 bits.
        return Err(DecodeErrorKind::Opcode { family: Family::Vop3, opcode: opcode as u16 });
    }
    let mut inst = Inst { variant, ..f.inst8(row)? };
    let word1 = inst.word1;
    require(shape.src[0] != Ty::No || f.word0 & 0x87ff | word1 >> 27 == 0, row)?;
    // CAST: three bits each.
    let (abs, neg, omod) = match shape.has(flag::BITOP3) {
        // The table stays in the words.
        true => (0, 0, 0),
        false => (f.lo(10, 8) as u8, bits(word1, 31, 29) as u8, bits(word1, 28, 27) as u8),
    };
    let op_sel = f.lo(14, 11) as u8;
    let vop3b = shape.sdst != Ty::No && family != Family::Vopc;
    let sources = shape.sources();
    if family == Family::Vopc {
        inst.sdst = operand(sdst(f.lo(7, 0), Ty::Mask), row)?;
    } else {
        inst.dst = destination(row, f.lo(7, 0))?;
    }
    // No literal can follow the 64-bit encodings.
    require(inst.dst != Operand::LITERAL && inst.sdst != Operand::LITERAL, row)?;
    if vop3b {
        inst.sdst = operand(scalar(f.lo(14, 8), 2), row)?;
    }
    for (i, low) in [(0, 0), (1, 9), (2, 18)] {
        let (neg, abs) = (neg >> i & 1 != 0, !vop3b && abs >> i & 1 != 0);
        require(neg_abs_allowed(row, i, neg, abs), row)?;
        if i < sources {
            inst.src[i] = operand(src_without_literal(bits(word1, low + 8, low), shape.src[i]), row)?;
        }
        if i < sources && shape.src[i].is_float() {
            inst.mods.neg |= u8::from(neg) << i;
            inst.mods.abs |= u8::from(abs) << i;
        }
    }
    require(shape.has(flag::OMOD) || omod == 0, row)?;
    require(shape.has(flag::CLAMP) || f.lo(15, 15) == 0, row)?;
    if shape.has(flag::OP_SEL) {
        let unused = if shape.has(flag::BYTE_SEL) { 0 } else { 7 & !0 << sources };
        require(op_sel & unused == 0, row)?;
        inst.mods.op_sel = op_sel;
    }
    // Without op_sel its bits are ignored, with these exceptions.
    let reserved = if shape.has(flag::OP_SEL_IGNORED) { 4 } else { 0 };
    let reserved = if shape.has(flag::BITOP3) && !shape.has(flag::OP_SEL) { 15 } else { reserved };
    require(op_sel & reserved == 0, row)?;
    inst.mods.omod = omod;
    inst.mods.clamp = f.lo(15, 15) != 0;
    Ok(inst)
}

pub fn vop3p(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vop3p, f.lo(22, 16))?;
    if row.shape.has(flag::MFMA) {
        return mfma(f, row);
    }
    if row.shape.has(flag::ACCVGPR) {
        return accvgpr(f, row);
    }
    if row.shape.has(flag::LD_SCALE) {
        return scaled(f).unwrap_or_else(|| ld_scale(f, row));
    }
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    let sources = row.shape.sources();
    inst.dst = destination(row, f.lo(7, 0))?;
    for (i, low) in [(0, 0), (1, 9), (2, 18)].into_iter().take(sources) {
        inst.src[i] = operand(src_without_literal(bits(word1, low + 8, low), row.shape.src[i]), row)?;
    }
    // Modifier bits of sources that the instruction lacks are reserved, and so is op_sel of 32-bit sources.
    let unused = !0u32 << sources & 7;
    let halves = row.shape.src[0] != Ty::B32;
    require((f.lo(10, 8) | bits(word1, 31, 29) | f.lo(13, 11)) & unused == 0, row)?;
    require(halves || f.lo(13, 11) == 0, row)?;
    // CAST: three bits each.
    inst.mods = Mods {
        neg: bits(word1, 31, 29) as u8,
        abs: f.lo(10, 8) as u8,
        op_sel: f.lo(13, 11) as u8,
        op_sel_hi: (f.lo(14, 14) << 2 | bits(word1, 28, 27)) as u8,
        omod: 0,
        clamp: f.lo(15, 15) != 0,
    };
    Ok(inst)
}

fn mfma(f: &Fetch, row: &'static Row) -> Decoded {
    let mut inst = f.inst8(row)?;
    let (shape, word1) = (&row.shape, inst.word1);
    let acc_cd = f.lo(15, 15) != 0;
    let sparse = shape.has(flag::SPARSE);
    require(!sparse || bits(word1, 31, 29) == 0, row)?;
    require(!shape.has(flag::F8F6F4) || f.lo(14, 11) == 0, row)?;
    inst.dst = operand(vgpr_or_agpr(f.lo(7, 0), shape.dst.dwords(), acc_cd), row)?;
    for (i, low) in [(0, 0), (1, 9)] {
        let acc = bits(word1, 27 + i as u32, 27 + i as u32) != 0;
        // Also of a narrow format, LLVM takes only what has room for the widest.
        inst.src[i] = operand(matrix(bits(word1, low + 8, low), shape.src[i], acc), row)?;
    }
    inst.src[2] = operand(matrix(bits(word1, 26, 18), shape.src[2], acc_cd && !sparse), row)?;
    Ok(inst)
}

/// A source of a matrix instruction: vector registers of either half, constants, and for LLVM scalars too.
fn matrix(code: u32, ty: Ty, acc: bool) -> Option<Operand> {
    match code {
        256.. => vgpr_or_agpr(code - 256, ty.dwords(), acc),
        0..=127 => scalar(code, ty.dwords().min(16)),
        _ => src_without_literal(code, ty),
    }
}

/// v_mfma_ld_scale_b32 and the matrix instruction behind it, whose lowest bit of abid says that it takes the scales.
/// Only there the bits that the first of both does not use are ignored; `None` if the words are no such pair.
fn scaled(f: &Fetch) -> Option<Decoded> {
    const TAKES_SCALES: u32 = 1 << 11;
    let (word0, word1, scales) = (f.word2?, f.word3?, f.word1?);
    let second =
        Fetch { target: f.target, word0: word0 ^ TAKES_SCALES, word1: Some(word1), word2: None, word3: None };
    let row = (word0 >> 23 == 0x1a7).then(|| second.row(Family::Vop3p, second.lo(22, 16)).ok())??;
    let inst = row.shape.has(flag::F8F6F4).then(|| mfma(&second, row).ok())??;
    for low in [0, 9] {
        src_without_literal(bits(scales, low + 8, low), Ty::B32)?;
    }
    // CAST: the bits of the dword.
    let imm = f.word0 as i32;
    Some(Ok(Inst { size: 16, imm, literal: scales, word0, ..inst }))
}

/// The scales alone.
fn ld_scale(f: &Fetch, row: &'static Row) -> Decoded {
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    require(f.lo(7, 0) | f.lo(10, 10) | f.lo(13, 13) | f.lo(15, 15) | bits(word1, 31, 31) == 0, row)?;
    for (i, low) in [(0, 0), (1, 9)] {
        inst.src[i] = operand(src_without_literal(bits(word1, low + 8, low), row.shape.src[i]), row)?;
    }
    // CAST: two bits each.
    (inst.mods.op_sel, inst.mods.op_sel_hi) = (f.lo(12, 11) as u8, bits(word1, 28, 27) as u8);
    Ok(inst)
}

fn accvgpr(f: &Fetch, row: &'static Row) -> Decoded {
    let mut inst = f.inst8(row)?;
    require(f.lo(13, 8) == 0 && bits(inst.word1, 31, 29) == 0, row)?;
    inst.dst = destination(row, f.lo(7, 0))?;
    inst.src[0] = operand(src_without_literal(bits(inst.word1, 8, 0), row.shape.src[0]), row)?;
    Ok(inst)
}
