//! Memory instructions.

use super::super::{
    super::{
        inst::{Inst, Memory, Operand},
        row::{Family, Generation, Target, Ty, flag},
    },
    Text, bits,
    memory::signed,
    scalar::small,
};
use super::{format, operand::name};

/// What of the cache policy is not the default.
fn policy(text: &mut Text, inst: &Inst, target: Target) {
    let memory = inst.memory;
    if target.generation() != Generation::Gfx12 {
        text.flag(memory.caches(Memory::GLC), "glc");
        text.flag(memory.caches(Memory::SLC), "slc");
        text.flag(memory.caches(Memory::DLC), "dlc");
        return;
    }
    let shape = &inst.row.shape;
    let (hint, scope) = (memory.hint(), memory.scope());
    let kind = match () {
        () if shape.has(flag::ATOMIC) => "ATOMIC",
        () if shape.has(flag::STORE) => "STORE",
        () => "LOAD",
    };
    const LOADS: [&str; 8] = ["RT", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT", ""];
    const STORES: [&str; 8] = ["RT", "NT", "HT", "WB", "NT_RT", "RT_NT", "NT_HT", "NT_WB"];
    // The lowest bit of an atomic's hint says that it returns.
    let name = match kind {
        "ATOMIC" => match (hint >> 1, hint & 1) {
            (0, 0) => String::new(),
            (0, _) => "TH_ATOMIC_RETURN".to_owned(),
            (1, 0) => "TH_ATOMIC_NT".to_owned(),
            (1, _) => "TH_ATOMIC_NT_RETURN".to_owned(),
            (2, _) if scope >= 2 => "TH_ATOMIC_CASCADE_RT".to_owned(),
            (3, _) if scope >= 2 => "TH_ATOMIC_CASCADE_NT".to_owned(),
            _ => format!("TH_ATOMIC_{hint:#x}"),
        },
        _ if hint == 0 => String::new(),
        "STORE" if hint == 3 && scope == 3 => "TH_STORE_BYPASS".to_owned(),
        "LOAD" if hint == 7 => "0x7".to_owned(),
        "LOAD" if hint == 3 && scope == 3 => "TH_LOAD_BYPASS".to_owned(),
        "STORE" => format!("TH_STORE_{}", STORES[usize::from(hint)]),
        _ => format!("TH_LOAD_{}", LOADS[usize::from(hint)]),
    };
    // What only later processors of the generation have; LLVM shows it of all.
    let (scaled, nv) = match inst.row.family {
        Family::Smem => (32 + 24, 20),
        _ => (32 + 16, 7),
    };
    let bit = |n: u32| (if n < 32 { inst.word0 } else { inst.word1 }) >> (n & 31) & 1 != 0;
    let is_buffer = matches!(inst.row.family, Family::Mubuf | Family::Mtbuf);
    text.flag(bit(scaled) && !is_buffer, "scale_offset");
    text.flag(!name.is_empty(), &format!("th:{name}"));
    text.flag(scope != 0, &format!("scope:SCOPE_{}", ["CU", "SE", "DEV", "SYS"][usize::from(scope)]));
    text.flag(bit(nv), "nv");
}

pub fn smem(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    let is_gfx12 = target.generation() == Generation::Gfx12;
    if shape.dst != Ty::No {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    if shape.has(flag::NO_ADDR) {
        return;
    }
    if shape.has(flag::PROBE) {
        text.operand(&small(inst.literal));
    }
    if inst.src[0] != Operand::NONE {
        text.operand(&name(inst.src[0], shape.src[0], 0));
    }
    let offset = signed(inst.imm);
    let has_register = inst.src[1] != Operand::NONE;
    let register = if has_register { name(inst.src[1], Ty::B32, 0) } else { "null".to_owned() };
    if shape.has(flag::PREFETCH) {
        text.operand(&offset);
        text.operand(&register);
        text.operand(&small(inst.literal));
        return;
    }
    match (has_register, inst.imm != 0 || is_gfx12) {
        (false, true) => text.operand(&offset),
        (_, false) => text.operand(&register),
        (true, true) => {
            text.operand(&register);
            text.modifier(&format!("offset:{offset}"));
        }
    }
    if !shape.has(flag::PROBE) {
        policy(text, inst, target);
    }
}

pub fn flat(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    if shape.has(flag::CACHE) {
        return policy(text, inst, target);
    }
    let scratch = inst.row.family == Family::Scratch;
    let saddr = inst.src[2];
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    if !shape.has(flag::ADDTID) {
        text.operand(&match inst.src[0] {
            Operand::NONE => "off".to_owned(),
            vaddr if scratch || saddr != Operand::NONE => name(vaddr, Ty::B32, 0),
            vaddr => name(vaddr, Ty::B64, 0),
        });
    }
    if inst.src[1] != Operand::NONE {
        text.operand(&name(inst.src[1], shape.src[1], 0));
    }
    if inst.row.family != Family::Flat || saddr != Operand::NONE {
        let ty = if scratch { Ty::B32 } else { Ty::B64 };
        text.operand(&if saddr == Operand::NONE { "off".to_owned() } else { name(saddr, ty, 0) });
    }
    let offset = match (inst.row.family, target.generation()) {
        // CAST: at most 13 bits.
        (Family::Flat, Generation::Gfx10) => bits(inst.word0, 11, 0) as i32,
        (Family::Flat, Generation::Gfx11) => bits(inst.word0, 12, 0) as i32,
        _ => inst.imm,
    };
    text.flag(offset != 0, &format!("offset:{offset}"));
    policy(text, inst, target);
    text.flag(inst.memory.has(Memory::TO_LDS), "lds");
}

pub fn buffer(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    if shape.has(flag::CACHE) {
        return;
    }
    let fails = inst.memory.has(Memory::FAILS);
    match inst.dst {
        Operand::NONE => {}
        dst if fails => text.operand(&format!("v[{}:{}]", dst.0 - 256, dst.0 - 256 + shape.dst.dwords())),
        dst => text.operand(&name(dst, shape.dst, 0)),
    }
    let (offen, idxen) = (inst.memory.has(Memory::OFFEN), inst.memory.has(Memory::IDXEN));
    text.operand(&match inst.src[0] {
        Operand::NONE => "off".to_owned(),
        vaddr => name(vaddr, if offen && idxen { Ty::B64 } else { Ty::B32 }, 0),
    });
    text.operand(&name(inst.src[1], Ty::B128, 0));
    text.operand(&name(inst.src[2], Ty::B32, 0));
    if inst.row.family == Family::Mtbuf && inst.literal != format::DEFAULT {
        text.modifier(&format!("format:{}", format::name(inst.literal, target)));
    }
    text.flag(idxen, "idxen");
    text.flag(offen, "offen");
    text.flag(inst.imm != 0, &format!("offset:{}", inst.imm));
    policy(text, inst, target);
    text.flag(fails, "tfe");
    text.flag(inst.memory.has(Memory::TO_LDS), "lds");
}
