//! SMEM, DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF.

use super::{
    super::{
        inst::{Inst, Memory, Operand},
        row::{Family, Row, Target, Ty, flag},
    },
    Decoded, Fetch, bits, operand,
    operand::{scalar, ssrc, vgpr, vgpr_or_agpr},
    require,
};

/// `saddr` field of FLAT that says "off".
const SADDR_OFF: u32 = 0x7f;

pub fn smem(f: &Fetch) -> Decoded {
    let row = f.row(Family::Smem, f.lo(25, 18))?;
    let shape = &row.shape;
    let mut inst = f.inst8(row)?;
    let glc = f.lo(16, 16) != 0;
    inst.memory = memory(shape.has(flag::ATOMIC) && glc, [glc, false, false]);
    if shape.dst != Ty::No {
        inst.dst = operand(scalar(f.lo(12, 6), shape.dst.dwords()), row)?;
    }
    if shape.has(flag::NO_ADDR) {
        require(f.lo(17, 17) == 0, row)?;
        return Ok(inst);
    }
    inst.src[0] = operand(scalar(f.lo(5, 0) << 1, shape.src[0].dwords()), row)?;
    let (has_imm, has_soffset) = (f.lo(17, 17) != 0, f.lo(14, 14) != 0);
    if has_soffset {
        inst.src[1] = operand(scalar(bits(inst.word1, 31, 25), 1), row)?;
    } else if !has_imm {
        inst.src[1] = operand(scalar(bits(inst.word1, 6, 0), 1), row)?;
    }
    if has_imm {
        inst.imm = sign_extend(bits(inst.word1, 20, 0), 21);
    }
    Ok(inst)
}

pub fn ds(f: &Fetch) -> Decoded {
    let row = f.row(Family::Ds, f.lo(24, 17))?;
    let shape = &row.shape;
    let mut inst = f.inst8(row)?;
    let (word1, acc, gds) = (inst.word1, f.lo(25, 25) != 0, f.lo(16, 16) != 0);
    inst.memory = Memory::new(if gds { Memory::GDS } else { 0 }, 0);
    require(if gds { !shape.has(flag::NO_GDS) } else { !shape.has(flag::GDS) }, row)?;
    // Unused fields are reserved.
    let field = |ty: Ty, n: u32, acc: bool| match ty {
        Ty::No => require(n == 0, row).map(|()| Operand::NONE),
        ty => operand(vgpr_or_agpr(n, ty.dwords(), acc), row),
    };
    // The only operand of the GWS instructions is data.
    let gws = shape.has(flag::GDS);
    let has_data = [shape.dst, shape.src[usize::from(!gws)]].iter().any(|ty| *ty != Ty::No);
    require(!acc || has_data, row)?;
    inst.src[0] = field(shape.src[0], bits(word1, 7, 0), acc && gws)?;
    inst.src[1] = field(shape.src[1], bits(word1, 15, 8), acc)?;
    inst.src[2] = field(shape.src[2], bits(word1, 23, 16), acc)?;
    inst.dst = field(shape.dst, bits(word1, 31, 24), acc)?;
    if shape.has(flag::OFFSET2) {
        inst.imm = f.lo(7, 0) as i32;
        inst.literal = f.lo(15, 8);
    } else {
        require(!shape.has(flag::NO_IMM) || f.lo(15, 0) == 0, row)?;
        inst.imm = f.lo(15, 0) as i32;
    }
    Ok(inst)
}

pub fn flat(f: &Fetch) -> Decoded {
    let family = match f.lo(15, 14) {
        0 => Family::Flat,
        1 => Family::Scratch,
        2 => Family::Global,
        _ => return Err(super::DecodeErrorKind::Encoding { word: f.word0 }),
    };
    let row = f.row(family, f.lo(24, 18))?;
    let shape = &row.shape;
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    let acc = bits(word1, 23, 23) != 0;
    let saddr = bits(word1, 22, 16);
    let bit13 = f.lo(13, 13) != 0;
    let returns = f.lo(16, 16) != 0;
    let scc = f.lo(25, 25) != 0;
    // On gfx90a bit 13 sends the data of some loads to LDS instead of to a register.
    let lds = f.target == Target::Gfx90a && bit13 && shape.has(flag::LDS);
    inst.memory = memory(shape.has(flag::ATOMIC) && returns, [returns, f.lo(17, 17) != 0, scc]);
    inst.memory.add(if lds { Memory::TO_LDS } else { 0 });
    // The scc bit of float atomics is reserved on gfx90a.
    require(f.target != Target::Gfx90a || !shape.has(flag::FLOAT) || !scc, row)?;
    let address = bits(word1, 7, 0);
    match family {
        Family::Flat => {
            require(saddr == 0 && !bit13, row)?;
            inst.src[0] = vgpr(address);
            inst.imm = f.lo(12, 0) as i32;
        }
        Family::Global => {
            let off = saddr == SADDR_OFF;
            require(!bit13 || lds, row)?;
            inst.src[0] = vgpr(address);
            if !off {
                inst.src[2] = operand(scalar(saddr, 2), row)?;
            }
            inst.imm = sign_extend(f.lo(12, 0), 13);
        }
        _ => {
            let off = saddr == SADDR_OFF;
            // The address register counts on gfx942 if bit 13 (SVE) says so, before where saddr is off.
            let has_vaddr = if f.target.is_gfx940() { bit13 } else { off };
            require(f.target.is_gfx940() || !bit13 || lds, row)?;
            if has_vaddr {
                inst.src[0] = vgpr(address);
            }
            if !off {
                inst.src[2] = operand(scalar(saddr, 1), row)?;
            }
            inst.imm = sign_extend(f.lo(12, 0), 13);
        }
    }
    if shape.src[1] != Ty::No {
        inst.src[1] = operand(vgpr_or_agpr(bits(word1, 15, 8), shape.src[1].dwords(), acc), row)?;
    }
    let no_register = lds || shape.has(flag::LDS) && shape.dst == Ty::No;
    require(!acc || !no_register, row)?;
    if f.target.is_gfx940() && shape.has(flag::FLOAT) && returns && acc {
        // The AGPR forms that return are those of gfx90a, without scc for doubles and without global singles.
        require(if shape.dst == Ty::B64 { !scc } else { family == Family::Flat }, row)?;
    }
    if shape.dst != Ty::No && !lds && (returns || !shape.has(flag::ATOMIC)) {
        inst.dst = operand(vgpr_or_agpr(bits(word1, 31, 24), shape.dst.dwords(), acc), row)?;
    }
    Ok(inst)
}

pub fn mubuf(f: &Fetch) -> Decoded {
    let row = f.row(Family::Mubuf, f.lo(24, 18))?;
    let shape = &row.shape;
    if shape.has(flag::CACHE) {
        let mut inst = f.inst8(row)?;
        inst.memory = memory(false, [f.lo(14, 14) != 0, f.lo(17, 17) != 0, f.lo(15, 15) != 0]);
        require(f.lo(13, 12) == 0 && f.lo(16, 16) == 0 && bits(inst.word1, 23, 23) == 0, row)?;
        // The scope bits exist on gfx942; buffer_wbl2 of gfx90a ignores them.
        require(f.target.is_gfx940() || row.name == "buffer_wbl2" || f.lo(15, 14) == 0, row)?;
        return Ok(inst);
    }
    let lds = f.lo(16, 16) != 0;
    // Of several dwords to LDS on gfx950 alone.
    let may = shape.has(flag::LDS) && (shape.dst.dwords() < 2 || f.target == Target::Gfx950);
    require(if lds { may } else { !shape.has(flag::LDS) || shape.dst != Ty::No }, row)?;
    require(f.target != Target::Gfx90a || !shape.has(flag::FLOAT) || f.lo(15, 15) == 0, row)?;
    buffer(f, row, lds)
}

pub fn mtbuf(f: &Fetch) -> Decoded {
    let row = f.row(Family::Mtbuf, f.lo(18, 15))?;
    buffer(f, row, false)
}

/// The fields that MUBUF and MTBUF share; `lds`: the data goes to LDS, not to a register.
fn buffer(f: &Fetch, row: &'static Row, lds: bool) -> Decoded {
    let shape = &row.shape;
    let mut inst: Inst = f.inst8(row)?;
    let word1 = inst.word1;
    require(!lds || bits(word1, 23, 23) == 0, row)?;
    let (offen, idxen) = (f.lo(12, 12) != 0, f.lo(13, 13) != 0);
    let glc = f.lo(14, 14) != 0;
    let (slc, scc) = match row.family {
        Family::Mtbuf => (bits(word1, 22, 22) != 0, bits(word1, 21, 21) != 0),
        _ => (f.lo(17, 17) != 0, f.lo(15, 15) != 0),
    };
    inst.memory = memory(shape.has(flag::ATOMIC) && glc, [glc, slc, scc]);
    for (set, flag) in [(offen, Memory::OFFEN), (idxen, Memory::IDXEN), (lds, Memory::TO_LDS)] {
        inst.memory.add(if set { flag } else { 0 });
    }
    // A store from LDS has no address register.
    require(shape.dst != Ty::No || !offen && !idxen, row)?;
    if shape.dst != Ty::No && !lds {
        let acc = bits(word1, 23, 23) != 0;
        inst.dst = operand(vgpr_or_agpr(bits(word1, 15, 8), shape.dst.dwords(), acc), row)?;
    }
    if offen || idxen {
        inst.src[0] = vgpr(bits(word1, 7, 0));
    }
    inst.src[1] = operand(scalar(bits(word1, 20, 16) << 2, 4), row)?;
    inst.src[2] = operand(ssrc(bits(word1, 31, 24), Ty::B32).filter(|op| *op != Operand::LITERAL), row)?;
    inst.imm = f.lo(11, 0) as i32;
    Ok(inst)
}

/// The cache bits GLC, SLC and SCC, under the names of gfx90a.
fn memory(returns: bool, [glc, slc, scc]: [bool; 3]) -> Memory {
    let policy =
        (u8::from(glc) * Memory::GLC) | (u8::from(slc) * Memory::SLC) | (u8::from(scc) * Memory::SCC);
    Memory::new(if returns { Memory::RETURNS } else { 0 }, policy)
}

/// `value` of `width` bits, sign-extended.
pub fn sign_extend(value: u32, width: u32) -> i32 {
    // CAST: reinterpreted as two's complement.
    ((value << (32 - width)) as i32) >> (32 - width)
}
