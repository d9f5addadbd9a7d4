//! Memory instructions.

use super::{
    super::{
        inst::{Inst, Memory, Operand},
        row::{Family, Target, Ty, flag},
    },
    Text, bits,
    operand::name,
    scalar::small,
};

pub fn smem(text: &mut Text, inst: &Inst) {
    let shape = &inst.row.shape;
    if shape.has(flag::PROBE) {
        text.operand(&small(bits(inst.word0, 12, 6)));
    } else if shape.dst != Ty::No {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    if shape.has(flag::NO_ADDR) {
        return;
    }
    text.operand(&name(inst.src[0], shape.src[0], 0));
    let (has_soffset, has_imm) = (inst.src[1] != Operand::NONE, bits(inst.word0, 17, 17) != 0);
    let offset = signed(inst.imm);
    if has_soffset {
        text.operand(&name(inst.src[1], Ty::B32, 0));
        text.flag(has_imm, &format!("offset:{offset}"));
    } else {
        text.operand(&offset);
    }
    text.flag(shape.dst != Ty::No && bits(inst.word0, 16, 16) != 0, "glc");
}

/// An offset of scalar memory.
pub fn signed(offset: i32) -> String {
    format!("{}{:#x}", if offset < 0 { "-" } else { "" }, offset.unsigned_abs())
}

pub fn ds(text: &mut Text, inst: &Inst) {
    let shape = &inst.row.shape;
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    for (op, ty) in inst.src.into_iter().zip(shape.src).filter(|(op, _)| *op != Operand::NONE) {
        text.operand(&name(op, ty, 0));
    }
    // CAST: at most 16 bits.
    let offset = inst.imm as u32;
    if shape.has(flag::OFFSET2) {
        text.flag(offset != 0, &format!("offset0:{offset}"));
        text.flag(inst.literal != 0, &format!("offset1:{}", inst.literal));
    } else if shape.has(flag::SWIZZLE) {
        text.flag(offset != 0, &format!("offset:{}", swizzle(offset)));
    } else {
        text.flag(offset != 0, &format!("offset:{offset}"));
    }
    // GFX9's bit is ignored where there is no GDS.
    text.flag(shape.has(flag::GDS) || inst.row.is_rdna() && inst.memory.has(Memory::GDS), "gds");
}

/// The pattern of ds_swizzle_b32, by the name of the simplest mode that it is a case of.
pub fn swizzle(offset: u32) -> String {
    if offset >= 0xe000 {
        return format!("swizzle(FFT,{})", offset & 31);
    }
    if offset >= 0xc000 {
        return format!("swizzle(ROTATE,{},{})", bits(offset, 10, 10), bits(offset, 9, 5));
    }
    if offset & 0xff00 == 0x8000 {
        let lanes: Vec<_> = (0..4).map(|i| (offset >> (2 * i) & 3).to_string()).collect();
        return format!("swizzle(QUAD_PERM,{})", lanes.join(","));
    }
    if offset & 0x8000 != 0 {
        return offset.to_string();
    }
    let (and, or, xor) = (bits(offset, 4, 0), bits(offset, 9, 5), bits(offset, 14, 10));
    let group = 32 - and;
    if and == 31 && or == 0 && xor.is_power_of_two() {
        format!("swizzle(SWAP,{xor})")
    } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        format!("swizzle(REVERSE,{})", xor + 1)
    } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
        format!("swizzle(BROADCAST,{group},{or})")
    } else {
        let (from0, from1) = (or ^ xor, (and | or) ^ xor);
        let mask: String = (0..5)
            .rev()
            .map(|i| match (from0 >> i & 1, from1 >> i & 1) {
                (0, 0) => '0',
                (0, _) => 'p',
                (_, 0) => 'i',
                _ => '1',
            })
            .collect();
        format!("swizzle(BITMASK_PERM,\"{mask}\")")
    }
}

/// The cache bits glc, slc and scc under their names on `target`.
fn cache(text: &mut Text, target: Target, glc: bool, slc: bool, scc: bool) {
    let names = match target {
        Target::Gfx90a => ["glc", "slc", "scc"],
        _ => ["sc0", "nt", "sc1"],
    };
    text.flag(glc, names[0]);
    text.flag(slc, names[1]);
    text.flag(scc, names[2]);
}

pub fn flat(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    let word0 = inst.word0;
    let scratch = inst.row.family == Family::Scratch;
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    let saddr = inst.src[2];
    let address = match inst.src[0] {
        Operand::NONE => "off".to_owned(),
        vaddr if scratch || saddr != Operand::NONE => name(vaddr, Ty::B32, 0),
        vaddr => name(vaddr, Ty::B64, 0),
    };
    text.operand(&address);
    if inst.src[1] != Operand::NONE {
        text.operand(&name(inst.src[1], shape.src[1], 0));
    }
    if inst.row.family != Family::Flat {
        let ty = if scratch { Ty::B32 } else { Ty::B64 };
        text.operand(&if saddr == Operand::NONE { "off".to_owned() } else { name(saddr, ty, 0) });
    }
    text.flag(inst.imm != 0, &format!("offset:{}", inst.imm));
    cache(text, target, bits(word0, 16, 16) != 0, bits(word0, 17, 17) != 0, bits(word0, 25, 25) != 0);
    text.flag(target == Target::Gfx90a && bits(word0, 13, 13) != 0, "lds");
}

pub fn buffer(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    let word0 = inst.word0;
    let typed = inst.row.family == Family::Mtbuf;
    let bit = |n: u32| bits(word0, n, n) != 0;
    let (glc, slc, scc, lds) = if typed {
        (bit(14), bits(inst.word1, 22, 22) != 0, bits(inst.word1, 21, 21) != 0, false)
    } else {
        (bit(14), bit(17), bit(15), bit(16))
    };
    if shape.has(flag::CACHE) {
        let scoped = target.is_gfx940();
        return cache(text, target, scoped && glc, false, scoped && scc);
    }
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    let (offen, idxen) = (bit(12), bit(13));
    if !(shape.dst == Ty::No && inst.src[0] == Operand::NONE) {
        text.operand(&match inst.src[0] {
            Operand::NONE => "off".to_owned(),
            vaddr => name(vaddr, if offen && idxen { Ty::B64 } else { Ty::B32 }, 0),
        });
    }
    text.operand(&name(inst.src[1], Ty::B128, 0));
    text.operand(&name(inst.src[2], Ty::B32, 0));
    if typed {
        format(text, bits(word0, 22, 19), bits(word0, 25, 23));
    }
    text.flag(idxen, "idxen");
    text.flag(offen, "offen");
    text.flag(inst.imm != 0, &format!("offset:{}", inst.imm));
    let stores_lds = lds && shape.has(flag::STORE);
    text.flag(stores_lds, "lds");
    cache(text, target, glc, slc, scc);
    text.flag(lds && !stores_lds, "lds");
}

/// By DATA_FORMAT.
pub const DATA: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// By NUM_FORMAT.
pub const NUMBER: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];

/// The data and number format of a typed buffer instruction; 8-bit unsigned normalised goes without saying.
fn format(text: &mut Text, dfmt: u32, nfmt: u32) {
    let data = format!("BUF_DATA_FORMAT_{}", DATA[dfmt as usize]);
    let number = format!("BUF_NUM_FORMAT_{}", NUMBER[nfmt as usize]);
    match (dfmt, nfmt) {
        (1, 0) => {}
        (1, _) => text.modifier(&format!("format:[{number}]")),
        (_, 0) => text.modifier(&format!("format:[{data}]")),
        _ => text.modifier(&format!("format:[{data},{number}]")),
    }
}
