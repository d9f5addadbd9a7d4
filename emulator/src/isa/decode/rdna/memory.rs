//! SMEM, DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF of RDNA.

use super::super::{
    super::{
        inst::{Inst, Memory, Operand},
        row::{Family, Generation, Row, Ty, flag},
    },
    DecodeErrorKind, Decoded, Fetch, bits,
    memory::sign_extend,
    operand,
    operand::vgpr,
    require,
};

/// NULL as a scalar address or offset: there is none.
const NULL: Operand = Operand(125);

/// Scope and temporal hint of RDNA 4.
fn policy(scope: u32, hint: u32) -> Memory {
    // CAST: two and three bits.
    Memory::scoped(scope as u8, hint as u8)
}

/// The cache bits of RDNA 2 and 3.
fn caches(glc: bool, slc: bool, dlc: bool) -> Memory {
    Memory::new(
        0,
        (u8::from(glc) * Memory::GLC) | (u8::from(slc) * Memory::SLC) | (u8::from(dlc) * Memory::DLC),
    )
}

pub fn smem(f: &Fetch) -> Decoded {
    let is_gfx12 = f.target.generation() == Generation::Gfx12;
    let row = f.row(Family::Smem, if is_gfx12 { f.lo(18, 13) } else { f.lo(25, 18) })?;
    let shape = &row.shape;
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    inst.memory = match f.target.generation() {
        Generation::Gfx12 => policy(f.lo(22, 21), f.lo(24, 23)),
        Generation::Gfx11 => caches(f.lo(14, 14) != 0, false, f.lo(13, 13) != 0),
        _ => caches(f.lo(16, 16) != 0, false, f.lo(14, 14) != 0),
    };
    if shape.dst != Ty::No {
        let code = f.lo(12, 6);
        inst.dst = operand(f.rdna_scalar(code, shape.dst.scalar_dwords(code)), row)?;
    }
    if shape.has(flag::NO_ADDR) {
        let is_gfx11 = f.target.generation() == Generation::Gfx11;
        let caches = is_gfx11 && inst.memory.caches(Memory::GLC | Memory::DLC);
        return require(shape.dst != Ty::No || !caches, row).map(|()| inst);
    }
    if shape.has(flag::PROBE) {
        let reserved = match f.target.generation() {
            Generation::Gfx12 => f.lo(12, 11) != 0,
            Generation::Gfx11 => inst.memory.caches(Memory::GLC | Memory::DLC),
            _ => false,
        };
        require(!reserved, row)?;
        inst.literal = f.lo(12, 6);
    }
    if shape.src[0] != Ty::No {
        inst.src[0] = operand(f.rdna_scalar(f.lo(5, 0) << 1, shape.src[0].dwords()), row)?;
    }
    inst.src[1] = operand(f.rdna_scalar(bits(word1, 31, 25), 1), row)?;
    if inst.src[1] == NULL {
        inst.src[1] = Operand::NONE;
    }
    inst.imm =
        if is_gfx12 { sign_extend(bits(word1, 23, 0), 24) } else { sign_extend(bits(word1, 20, 0), 21) };
    // No buffer is read in front of its begin.
    require(!is_gfx12 || shape.src[0] != Ty::B128 || inst.imm >= 0, row)?;
    if shape.has(flag::PREFETCH) {
        require(f.lo(12, 11) == 0, row)?;
        inst.literal = f.lo(10, 6);
    }
    Ok(inst)
}

pub fn ds(f: &Fetch) -> Decoded {
    let row = f.row(Family::Ds, f.lo(25, 18))?;
    let shape = &row.shape;
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    let has_gds = f.lo(17, 17) != 0;
    require(!has_gds || f.target.generation() != Generation::Gfx12, row)?;
    require(has_gds || !shape.has(flag::GDS), row)?;
    require(!has_gds || !shape.has(flag::NO_GDS), row)?;
    inst.memory = Memory::new(if has_gds { Memory::GDS } else { 0 }, 0);
    let field = |ty: Ty, n: u32| match ty {
        Ty::No => require(n == 0, row).map(|()| Operand::NONE),
        _ => Ok(vgpr(n)),
    };
    inst.src[0] = field(shape.src[0], bits(word1, 7, 0))?;
    inst.src[1] = field(shape.src[1], bits(word1, 15, 8))?;
    inst.src[2] = field(shape.src[2], bits(word1, 23, 16))?;
    inst.dst = field(shape.dst, bits(word1, 31, 24))?;
    if shape.has(flag::OFFSET2) {
        inst.imm = f.lo(7, 0) as i32;
        inst.literal = f.lo(15, 8);
    } else {
        require(!shape.has(flag::NO_IMM) || f.lo(15, 0) == 0, row)?;
        inst.imm = f.lo(15, 0) as i32;
    }
    Ok(inst)
}

/// Whether there is a form of a load of RDNA 2 with LDS as its destination.
fn loads_to_lds(row: &Row) -> bool {
    let name = row.name.split_once("_load_").map_or("", |(_, what)| what);
    matches!(name, "format_x" | "ubyte" | "sbyte" | "ushort" | "sshort" | "dword")
}

/// What the encodings of FLAT, GLOBAL and SCRATCH hold.
struct Address {
    vaddr: u32,
    saddr: Option<Operand>,
    data: u32,
    dst: u32,
    offset: i32,
    /// SCRATCH: the address register counts.
    has_vaddr: bool,
    returns: bool,
}

fn flat_of(mut inst: Inst, family: Family, address: &Address) -> Inst {
    let shape = &inst.row.shape;
    if shape.has(flag::CACHE) {
        return inst;
    }
    let has_vaddr = match family {
        Family::Scratch => address.has_vaddr,
        _ => !shape.has(flag::ADDTID),
    };
    if has_vaddr {
        inst.src[0] = vgpr(address.vaddr);
    }
    inst.src[2] = address.saddr.unwrap_or(Operand::NONE);
    if shape.src[1] != Ty::No {
        inst.src[1] = vgpr(address.data);
    }
    if address.returns && shape.has(flag::ATOMIC) {
        inst.memory.add(Memory::RETURNS);
    }
    if shape.dst != Ty::No
        && !inst.memory.has(Memory::TO_LDS)
        && (address.returns || !shape.has(flag::ATOMIC))
    {
        inst.dst = vgpr(address.dst);
    }
    inst.imm = address.offset;
    inst
}

pub fn flat(f: &Fetch) -> Decoded {
    let is_gfx11 = f.target.generation() == Generation::Gfx11;
    let segment = if is_gfx11 { f.lo(17, 16) } else { f.lo(15, 14) };
    let family = match segment {
        0 => Family::Flat,
        1 => Family::Scratch,
        2 => Family::Global,
        _ => return Err(DecodeErrorKind::Encoding { word: f.word0 }),
    };
    let row = f.row(family, f.lo(24, 18))?;
    let mut inst = f.inst8(row)?;
    let word1 = inst.word1;
    let bit = |n: u32| f.lo(n, n) != 0;
    inst.memory =
        if is_gfx11 { caches(bit(14), bit(15), bit(13)) } else { caches(bit(16), bit(17), bit(12)) };
    let code = bits(word1, 22, 16);
    // On RDNA 2 127 says that scratch memory has no address at all.
    let is_off = if is_gfx11 { code == 124 } else { code == 125 };
    let saddr = match family {
        Family::Flat => None,
        _ if is_off => None,
        Family::Scratch if !is_gfx11 && code == 127 => None,
        Family::Scratch => Some(operand(f.rdna_scalar(code, 1), row)?),
        _ => Some(operand(f.rdna_scalar(code, 2), row)?),
    };
    let width = if is_gfx11 { 13 } else { 12 };
    let offset = f.lo(width - 1, 0);
    let address = Address {
        vaddr: bits(word1, 7, 0),
        saddr,
        data: bits(word1, 15, 8),
        dst: bits(word1, 31, 24),
        // The highest bit of FLAT is ignored.
        offset: if family == Family::Flat {
            (offset & !(1 << (width - 1))) as i32
        } else {
            sign_extend(offset, width)
        },
        has_vaddr: if is_gfx11 { bits(word1, 23, 23) != 0 } else { saddr.is_none() && code != 127 },
        returns: if is_gfx11 { bit(14) } else { bit(16) },
    };
    let to_lds = !is_gfx11 && bit(13);
    require(!to_lds || family != Family::Flat && loads_to_lds(row), row)?;
    inst.memory.add(if to_lds { Memory::TO_LDS } else { 0 });
    let null = if is_gfx11 { 124 } else { 125 };
    require(family != Family::Flat || code == null, row)?;
    require(is_gfx11 && family == Family::Scratch || bits(word1, 23, 23) == 0, row)?;
    Ok(flat_of(inst, family, &address))
}

/// The encodings of RDNA 4, three words each.
pub fn vflat(f: &Fetch, family: Family) -> Decoded {
    let row = f.row(family, f.lo(21, 14))?;
    let (word1, word2) = (f.second()?, f.third()?);
    let hint = bits(word1, 22, 20);
    let mut inst = Inst { size: 12, word1, memory: policy(bits(word1, 19, 18), hint), ..f.inst(row) };
    let code = f.lo(6, 0);
    let dwords = if family == Family::Scratch { 1 } else { 2 };
    let saddr = match family {
        _ if code == 124 => None,
        Family::Flat => return Err(DecodeErrorKind::Reserved { name: row.name }),
        _ => Some(operand(f.rdna_scalar(code, dwords), row)?),
    };
    require(family == Family::Scratch || bits(word1, 17, 17) == 0, row)?;
    require(!row.shape.has(flag::CACHE) || saddr.is_none(), row)?;
    let address = Address {
        vaddr: bits(word2, 7, 0),
        saddr,
        data: bits(word1, 30, 23),
        dst: bits(word1, 7, 0),
        offset: sign_extend(bits(word2, 31, 8), 24),
        has_vaddr: bits(word1, 17, 17) != 0,
        returns: hint & 1 != 0,
    };
    inst.literal = word2;
    Ok(flat_of(inst, family, &address))
}

pub fn mubuf(f: &Fetch) -> Decoded {
    let row = f.row(Family::Mubuf, f.lo(25, 18))?;
    buffer(f, row)
}

pub fn mtbuf(f: &Fetch) -> Decoded {
    let is_gfx11 = f.target.generation() == Generation::Gfx11;
    let high = if is_gfx11 { f.lo(18, 18) } else { bits(f.second()?, 21, 21) };
    let opcode = if is_gfx11 { f.lo(18, 15) } else { high << 3 | f.lo(18, 16) };
    let row = f.row(Family::Mtbuf, opcode)?;
    let mut inst = buffer(f, row)?;
    inst.literal = f.lo(25, 19);
    Ok(inst)
}

/// The fields that MUBUF and MTBUF share on RDNA 2 and 3.
fn buffer(f: &Fetch, row: &'static Row) -> Decoded {
    let is_gfx11 = f.target.generation() == Generation::Gfx11;
    let shape = &row.shape;
    let mut inst: Inst = f.inst8(row)?;
    let word1 = inst.word1;
    let (bit, bit1) = (|n: u32| f.lo(n, n) != 0, |n: u32| bits(word1, n, n) != 0);
    let (offen, idxen) = if is_gfx11 { (bit1(22), bit1(23)) } else { (bit(12), bit(13)) };
    let to_lds = !is_gfx11 && bit(16) && row.family == Family::Mubuf;
    inst.memory = match is_gfx11 {
        true => caches(bit(14), bit(12), bit(13)),
        false => caches(bit(14), bit1(22), bit(15)),
    };
    if shape.has(flag::CACHE) {
        let reserved =
            if is_gfx11 { f.lo(14, 13) | bits(word1, 23, 21) } else { f.lo(16, 12) | bits(word1, 23, 23) };
        require(reserved == 0, row)?;
        return Ok(inst);
    }
    let loads = row.family == Family::Mubuf && !shape.has(flag::ATOMIC);
    let fails = bit1(if is_gfx11 { 21 } else { 23 });
    require(loads && !to_lds || !fails, row)?;
    require(!to_lds || loads_to_lds(row), row)?;
    require(is_gfx11 || !shape.has(flag::ATOMIC) || !bit(15) && !to_lds, row)?;
    let returns = bit(14) && shape.has(flag::ATOMIC);
    for (set, flag) in [
        (offen, Memory::OFFEN),
        (idxen, Memory::IDXEN),
        (to_lds, Memory::TO_LDS),
        (returns, Memory::RETURNS),
        (fails, Memory::FAILS),
    ] {
        inst.memory.add(if set { flag } else { 0 });
    }
    if shape.dst != Ty::No && !to_lds {
        inst.dst = vgpr(bits(word1, 15, 8));
    }
    if offen || idxen {
        inst.src[0] = vgpr(bits(word1, 7, 0));
    }
    inst.src[1] = operand(f.rdna_scalar(bits(word1, 20, 16) << 2, 4), row)?;
    inst.src[2] =
        operand(f.rdna_ssrc(bits(word1, 31, 24), Ty::B32).filter(|op| *op != Operand::LITERAL), row)?;
    inst.imm = f.lo(11, 0) as i32;
    Ok(inst)
}

/// Buffer instructions of RDNA 4, three words each.
pub fn vbuffer(f: &Fetch) -> Decoded {
    let opcode = f.lo(21, 14);
    let family = if opcode < 128 { Family::Mubuf } else { Family::Mtbuf };
    let row = f.row(family, opcode)?;
    let shape = &row.shape;
    let (word1, word2) = (f.second()?, f.third()?);
    let hint = bits(word1, 22, 20);
    let mut inst = Inst { size: 12, word1, memory: policy(bits(word1, 19, 18), hint), ..f.inst(row) };
    let (offen, idxen) = (bits(word1, 30, 30) != 0, bits(word1, 31, 31) != 0);
    let returns = hint & 1 != 0 && shape.has(flag::ATOMIC);
    for (set, flag) in [(offen, Memory::OFFEN), (idxen, Memory::IDXEN), (returns, Memory::RETURNS)] {
        inst.memory.add(if set { flag } else { 0 });
    }
    if shape.dst != Ty::No {
        inst.dst = vgpr(bits(word1, 7, 0));
    }
    if offen || idxen {
        inst.src[0] = vgpr(bits(word2, 7, 0));
    }
    inst.src[1] = operand(f.rdna_scalar(bits(word1, 17, 9), 4), row)?;
    inst.src[2] = operand(f.rdna_scalar(f.lo(6, 0), 1), row)?;
    inst.imm = sign_extend(bits(word2, 31, 8), 24);
    require(inst.imm >= 0, row)?;
    inst.literal = bits(word1, 29, 23);
    if f.lo(22, 22) != 0 {
        require(family == Family::Mubuf && !shape.has(flag::ATOMIC), row)?;
        inst.memory.add(Memory::FAILS);
    }
    Ok(inst)
}
