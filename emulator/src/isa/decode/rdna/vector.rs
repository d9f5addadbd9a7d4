//! VOP1, VOP2, VOPC, VOP3, VOP3P and VOPD of RDNA, with the DPP words that can follow.

use super::super::{
    super::{
        inst::{Inst, Mods, Operand, Variant},
        row::{Family, Generation, Row, Shape, Ty, flag},
    },
    DecodeErrorKind, Decoded, Fetch, bits, operand,
    operand::vgpr,
    require,
    vector::{neg_abs_allowed, sdwa},
};

/// Source-0 codes that announce another word.
const DPP8: u32 = 233;
const DPP8_FI: u32 = 234;
const SDWA: u32 = 249;
const DPP: u32 = 250;
/// The bit of an 8-bit register field that says which half a 16-bit operand is, from RDNA 3 on.
const HALF: u32 = 0x80;
/// The bit of op_sel of the destination.
const DESTINATION: usize = 3;

/// Whether an operand is one half of a register, which an instruction leaves the other half of.
const fn is_half(ty: Ty) -> bool {
    matches!(ty, Ty::I16 | Ty::F16 | Ty::Bf16)
}

/// A field of eight bits that names a VGPR, or a half of one of the first 128, which then goes to bit `n` of op_sel.
fn short_register(f: &Fetch, inst: &mut Inst, n: usize, code: u32, ty: Ty) -> Operand {
    if !is_half(ty) || f.target.generation() < Generation::Gfx11 {
        return vgpr(code);
    }
    inst.mods.op_sel |= u8::from(code & HALF != 0) << n;
    vgpr(code & !HALF)
}

/// A 9-bit source of the short encodings.
fn short_source(f: &Fetch, inst: &mut Inst, n: usize, code: u32) -> Decoded<Operand> {
    let ty = inst.row.shape.src[n];
    match code {
        256.. => Ok(short_register(f, inst, n, code - 256, ty)),
        _ => operand(f.rdna_ssrc(code, ty), inst.row),
    }
}

fn destination(f: &Fetch, inst: &mut Inst, code: u32, is_short: bool) -> Decoded<()> {
    let (row, ty) = (inst.row, inst.row.shape.dst);
    inst.dst = match ty {
        Ty::No => Operand::NONE,
        Ty::S32 | Ty::S64 => operand(f.rdna_sdst(code, ty), row)?,
        ty if is_short => short_register(f, inst, DESTINATION, code, ty),
        _ => vgpr(code),
    };
    if is_half(ty) {
        inst.mods.op_sel |= Mods::KEEPS_OTHER_HALF;
    }
    Ok(())
}

pub fn vop1(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vop1, f.lo(16, 9))?;
    let mut inst = f.inst(row);
    destination(f, &mut inst, f.lo(24, 17), true)?;
    short(f, inst)
}

pub fn vop2(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vop2, f.lo(30, 25))?;
    let mut inst = f.inst(row);
    destination(f, &mut inst, f.lo(24, 17), true)?;
    if row.shape.sdst == Ty::Mask {
        inst.sdst = Operand::VCC_LO;
    }
    if row.shape.src[2] == Ty::Mask {
        inst.src[2] = Operand::VCC_LO;
    }
    inst.src[1] = short_register(f, &mut inst, 1, f.lo(16, 9), row.shape.src[1]);
    let has_literal = row.shape.has(flag::MADMK | flag::MADAK);
    let mut inst = short(f, inst)?;
    if has_literal {
        inst.literal = f.second()?;
        inst.size = 8;
    }
    Ok(inst)
}

pub fn vopc(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vopc, f.lo(24, 17))?;
    let mut inst = f.inst(row);
    if row.shape.sdst == Ty::Mask {
        inst.sdst = Operand::VCC_LO;
    }
    inst.src[1] = short_register(f, &mut inst, 1, f.lo(16, 9), row.shape.src[1]);
    short(f, inst)
}

/// Source 0 of the short forms, with what may follow: a literal or DPP.
fn short(f: &Fetch, mut inst: Inst) -> Decoded {
    let (row, code) = (inst.row, f.lo(8, 0));
    if row.shape.src[0] == Ty::No {
        require(f.lo(24, 17) == 0, row)?;
        // v_nop reads no source, but may have a word of eight lanes.
        if f.target.generation() == Generation::Gfx10 && matches!(code, DPP8 | DPP8_FI) && may_move(f, row) {
            let word1 = f.second()?;
            inst = Inst { variant: Variant::Dpp8, size: 8, word1, literal: word1, ..inst };
        }
        return Ok(inst);
    }
    match code {
        SDWA if f.target.generation() == Generation::Gfx10 && !row.shape.has(flag::NO_SDWA) => sdwa(f, inst),
        DPP | DPP8 | DPP8_FI if may_move(f, row) => {
            inst.size = 8;
            inst.word1 = f.second()?;
            let word = inst.word1;
            dpp(f, &mut inst, code, word, true)?;
            Ok(inst)
        }
        _ => {
            inst.src[0] = short_source(f, &mut inst, 0, code)?;
            f.with_literal(inst)
        }
    }
}

/// The DPP word of an instruction, of which source 0 is the register that it names.
fn dpp(f: &Fetch, inst: &mut Inst, code: u32, word: u32, is_short: bool) -> Decoded<()> {
    let row = inst.row;
    let ty = row.shape.src[0];
    inst.variant = if code == DPP { Variant::Dpp } else { Variant::Dpp8 };
    inst.literal = word;
    let register = bits(word, 7, 0);
    inst.src[0] = if is_short { short_register(f, inst, 0, register, ty) } else { vgpr(register) };
    if code == DPP && is_short {
        for (i, neg, abs) in [(0, 20, 21), (1, 22, 23)] {
            let (neg, abs) = (bits(word, neg, neg) != 0, bits(word, abs, abs) != 0);
            let ignored = has_halves(f, &row.shape) && i < row.shape.sources();
            require(neg_abs_allowed(row, i, neg, abs) || ignored, row)?;
            if row.shape.src[i].is_float() {
                inst.mods.neg |= u8::from(neg) << i;
                inst.mods.abs |= u8::from(abs) << i;
            }
        }
    }
    Ok(())
}

/// VOP3 and VOP3SD; the opcodes of the short families share their rows.
pub fn vop3(f: &Fetch) -> Decoded {
    let opcode = f.lo(25, 16);
    let (family, base, variant) = match opcode {
        0..0x100 => (Family::Vopc, 0, Variant::E64),
        0x100..0x140 => (Family::Vop2, 0x100, Variant::E64),
        0x180..0x200 => (Family::Vop1, 0x180, Variant::E64),
        _ => (Family::Vop3, 0, Variant::Plain),
    };
    if f.target.generation() == Generation::Gfx10 && matches!(opcode, 512..=514 | 834 | 835 | 858) {
        return Err(DecodeErrorKind::NotCompute { encoding: "VINTRP" });
    }
    let row = f.row(family, opcode - base)?;
    let shape = &row.shape;
    if shape.has(flag::NO_E64) {
        // CAST: 10 bits.
        return Err(DecodeErrorKind::Opcode { family: Family::Vop3, opcode: opcode as u16 });
    }
    let mut inst = Inst { variant, ..f.inst8(row)? };
    let word1 = inst.word1;
    // CAST: three bits each.
    let (abs, neg, omod) = (f.lo(10, 8) as u8, bits(word1, 31, 29) as u8, bits(word1, 28, 27) as u8);
    let op_sel = f.lo(14, 11) as u8;
    let has_sdst = shape.sdst != Ty::No && family != Family::Vopc;
    if family == Family::Vopc {
        // What writes EXEC ignores the field: LLVM puts EXEC there; up to release 15, for RDNA 2, it was 0.
        if shape.sdst == Ty::Mask {
            inst.sdst = operand(f.rdna_sdst(f.lo(7, 0), Ty::Mask), row)?;
        }
    } else {
        destination(f, &mut inst, f.lo(7, 0), false)?;
    }
    if has_sdst {
        inst.sdst = operand(f.rdna_scalar(f.lo(14, 8), 1), row)?;
    }
    let sources = shape.sources();
    // Those of 16-bit integers are ignored.
    // v_nop reads and writes nothing.
    require(shape.src[0] != Ty::No || f.word0 & 0x87ff | word1 >> 27 == 0, row)?;
    let has_halves = has_halves(f, shape);
    let moving = sources - usize::from(shape.src[2] == Ty::Mask);
    let unused = 15 & !((1 << moving) - 1) & !(u8::from(family != Family::Vopc) << DESTINATION);
    let is_whole = op_sel & unused != 0;
    require(!(is_whole && shape.has(flag::OP_SEL)), row)?;
    let ignores_mods = has_halves && !is_whole && !shape.has(flag::PERMLANE);
    for (i, low) in [(0, 0), (1, 9), (2, 18)] {
        let (neg, abs) = (neg >> i & 1 != 0, !has_sdst && abs >> i & 1 != 0);
        let ignored = ignores_mods && i < sources && shape.src[i] != Ty::Mask;
        require(neg_abs_allowed(row, i, neg, abs) || ignored, row)?;
        require(i < sources || !(neg || abs), row)?;
        if i >= sources {
            continue;
        }
        let (code, ty) = (bits(word1, low + 8, low), shape.src[i]);
        if i == 0 && matches!(code, DPP | DPP8 | DPP8_FI) && may_move(f, row) {
            inst.size = 12;
            dpp(f, &mut inst, code, f.third()?, false)?;
        } else {
            inst.src[i] = match code {
                256.. => vgpr(code - 256),
                _ => operand(f.rdna_ssrc(code, ty), row)?,
            };
        }
        if ty.is_float() {
            inst.mods.neg |= u8::from(neg) << i;
            inst.mods.abs |= u8::from(abs) << i;
        }
    }
    if shape.has(flag::BYTE_SEL) {
        // The byte of the source, or of the destination.
        let byte = if family == Family::Vop1 { 3 } else { 12 };
        require(op_sel & !byte == 0 || inst.size == 12 && inst.variant != variant, row)?;
        inst.mods.op_sel = op_sel;
    }
    require(shape.has(flag::OMOD) || omod == 0, row)?;
    require(shape.has(flag::CLAMP) || f.lo(15, 15) == 0, row)?;
    if !has_sdst {
        for i in (0..sources).filter(|i| is_half(shape.src[*i]) || shape.has(flag::OP_SEL)) {
            inst.mods.op_sel |= op_sel & 1 << i;
        }
        if is_half(shape.dst) || shape.has(flag::OP_SEL) {
            inst.mods.op_sel |= op_sel & 1 << DESTINATION;
        }
    }
    inst.mods.omod = omod;
    inst.mods.clamp = f.lo(15, 15) != 0;
    f.with_third_literal(inst)
}

/// Whether operands are halves of registers, and bits of op_sel are theirs.
fn has_halves(f: &Fetch, shape: &Shape) -> bool {
    f.target.generation() > Generation::Gfx10
        && shape.dst != Ty::S32
        && (shape.has(flag::OP_SEL) || is_half(shape.dst) || shape.src.into_iter().any(is_half))
}

/// Whether an instruction can have a DPP word: comparisons and those in the 64-bit encodings from RDNA 3 on.
fn may_move(f: &Fetch, row: &Row) -> bool {
    let is_old = row.family == Family::Vopc || matches!(f.word0 >> 26, 0x33 | 0x35);
    (f.target.generation() > Generation::Gfx10 || !is_old) && !row.shape.has(flag::NO_DPP)
}

pub fn vop3p(f: &Fetch) -> Decoded {
    let row = f.row(Family::Vop3p, f.lo(22, 16))?;
    require(f.lo(23, 23) == 0, row)?;
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    let shape = &row.shape;
    let sources = shape.sources();
    inst.dst = vgpr(f.lo(7, 0));
    if is_half(shape.dst) {
        inst.mods.op_sel = Mods::KEEPS_OTHER_HALF;
    }
    for (i, low) in [(0, 0), (1, 9), (2, 18)].into_iter().take(sources) {
        let (code, ty) = (bits(word1, low + 8, low), shape.src[i]);
        if i == 0 && matches!(code, DPP | DPP8 | DPP8_FI) && may_move(f, row) && !shape.has(flag::WMMA) {
            inst.size = 12;
            dpp(f, &mut inst, code, f.third()?, false)?;
        } else {
            inst.src[i] = match code {
                256.. => vgpr(code - 256),
                _ => operand(f.rdna_ssrc(code, ty), row)?,
            };
        }
    }
    // Modifier bits of sources that the instruction lacks are reserved, and so is op_sel of whole registers.
    let unused = !0u32 << sources & 7;
    require((f.lo(10, 8) | bits(word1, 31, 29) | f.lo(13, 11)) & unused == 0, row)?;
    let has_op_sel = match shape.has(flag::WMMA) {
        true if shape.has(flag::OP_SEL) => 7,
        true => 0,
        false if shape.src[0] == Ty::B32 => 0,
        false => 7,
    };
    let is_gfx12 = f.target.generation() == Generation::Gfx12;
    if is_gfx12 && (shape.has(flag::WMMA) || row.name.starts_with("v_dot4_f32")) {
        wmma_of_gfx12(f, row, word1)?;
    } else {
        require(f.lo(13, 11) & !has_op_sel == 0, row)?;
    }
    let clamps = shape.has(flag::CLAMP) || !shape.has(flag::WMMA) && !row.name.starts_with("v_dot4_f32");
    require(clamps || f.lo(15, 15) == 0, row)?;
    // CAST: three bits each.
    inst.mods = Mods {
        neg: bits(word1, 31, 29) as u8,
        abs: f.lo(10, 8) as u8,
        op_sel: inst.mods.op_sel | f.lo(13, 11) as u8,
        op_sel_hi: (f.lo(14, 14) << 2 | bits(word1, 28, 27)) as u8,
        omod: 0,
        clamp: f.lo(15, 15) != 0,
    };
    f.with_third_literal(inst)
}

/// What matrix instructions of RDNA 4 reserve.
fn wmma_of_gfx12(f: &Fetch, row: &Row, word1: u32) -> Decoded<()> {
    let (shape, name) = (&row.shape, row.name);
    let has_bytes = name.ends_with("p8") || name.ends_with("f8");
    let (low, high) = match shape.has(flag::SPARSE) {
        _ if shape.has(flag::NEG_SIGN) => (3, 0),
        true if has_bytes => (0, 0),
        true => (3, 3),
        false if has_bytes => (4, 4),
        false => (7, 7),
    };
    // Of sparse matrices, which part of the index.
    let op_sel = match shape.has(flag::SPARSE) {
        false => 0,
        true if name.ends_with("iu4") => 1,
        true => 3,
    };
    let all = f.lo(14, 14) << 2 | bits(word1, 28, 27) == 7;
    let reserved = bits(word1, 31, 29) & !low | f.lo(10, 8) & !high | f.lo(13, 11) & !op_sel;
    if all && reserved == 0 { Ok(()) } else { Err(DecodeErrorKind::Reserved { name }) }
}

/// The halves of a dual-issue instruction, which read their sources before either writes.
pub fn halves(f: &Fetch) -> Decoded<[Inst; 2]> {
    let word1 = f.second()?;
    // The lowest bit of the second destination is not that of the first.
    let second = bits(word1, 23, 17) << 1 | !bits(word1, 24, 24) & 1;
    let half = |opcode: u32, dst: u32, source: u32, register: u32| -> Decoded {
        let row = f.row(Family::Vopd, opcode)?;
        let mut inst = Inst { size: 8, word1, dst: vgpr(dst), ..f.inst(row) };
        inst.src[0] = match source {
            256.. => vgpr(source - 256),
            _ => operand(f.rdna_ssrc(source, row.shape.src[0]), row)?,
        };
        if row.shape.sources() > 1 {
            inst.src[1] = vgpr(register);
        } else {
            require(register == 0, row)?;
        }
        if row.shape.src[2] == Ty::Mask {
            inst.src[2] = Operand::VCC_LO;
        }
        Ok(inst)
    };
    let mut halves = [
        half(f.lo(25, 22), bits(word1, 31, 24), f.lo(8, 0), f.lo(16, 9))?,
        half(f.lo(21, 17), second, bits(word1, 8, 0), bits(word1, 16, 9))?,
    ];
    let has_literal =
        |inst: &Inst| inst.row.shape.has(flag::MADMK | flag::MADAK) || inst.src.contains(&Operand::LITERAL);
    if halves.iter().any(has_literal) {
        for inst in &mut halves {
            inst.literal = f.third()?;
            inst.size = 12;
        }
    }
    Ok(halves)
}

/// Loads of one dword of LDS into all lanes.
pub fn lds_direct(f: &Fetch) -> Decoded {
    if f.lo(21, 20) == 0 {
        return Err(DecodeErrorKind::NotCompute { encoding: "LDSDIR" });
    }
    let row = f.row(Family::LdsDirect, f.lo(21, 20))?;
    let mut inst = f.inst(row);
    inst.dst = vgpr(f.lo(7, 0));
    let reserved = f.lo(22, 22) | (u32::from(f.target.generation() == Generation::Gfx11) * f.lo(23, 23));
    require(reserved == 0, row)?;
    Ok(inst)
}
