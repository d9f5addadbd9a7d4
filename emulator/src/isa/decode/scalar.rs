//! SOP1, SOP2, SOPK, SOPC, SOPP.

use super::{
    super::{
        inst::{Inst, Operand},
        row::{Family, Row, Ty, flag},
    },
    Decoded, Fetch, operand,
    operand::{scalar, ssrc},
    require,
};

pub fn sop1(f: &Fetch) -> Decoded {
    let row = f.row(Family::Sop1, f.lo(15, 8))?;
    let mut inst = f.inst(row);
    inst.dst = destination(f, row)?;
    inst.src[0] = source(f, &mut inst, 0, f.lo(7, 0))?;
    f.with_literal(inst)
}

pub fn sop2(f: &Fetch) -> Decoded {
    let row = f.row(Family::Sop2, f.lo(29, 23))?;
    let mut inst = f.inst(row);
    inst.dst = destination(f, row)?;
    inst.src[0] = source(f, &mut inst, 0, f.lo(7, 0))?;
    inst.src[1] = source(f, &mut inst, 1, f.lo(15, 8))?;
    if row.shape.has(flag::MADMK | flag::MADAK) {
        (inst.literal, inst.size) = (f.second()?, 8);
    }
    f.with_literal(inst)
}

pub fn sopc(f: &Fetch) -> Decoded {
    let row = f.row(Family::Sopc, f.lo(22, 16))?;
    let mut inst = f.inst(row);
    inst.src[0] = source(f, &mut inst, 0, f.lo(7, 0))?;
    if row.shape.has(flag::GPR_IDX) {
        inst.imm = f.lo(15, 8) as i32;
    } else {
        inst.src[1] = source(f, &mut inst, 1, f.lo(15, 8))?;
    }
    f.with_literal(inst)
}

pub fn sopk(f: &Fetch) -> Decoded {
    let row = f.row(Family::Sopk, f.lo(27, 23))?;
    let mut inst = Inst { imm: simm16(f), ..f.inst(row) };
    inst.dst = destination(f, row)?;
    if row.shape.has(flag::LITERAL) {
        inst.literal = f.second()?;
        inst.size = 8;
    }
    Ok(inst)
}

pub fn sopp(f: &Fetch) -> Decoded {
    let row = f.row(Family::Sopp, f.lo(22, 16))?;
    require(!row.shape.has(flag::NO_IMM) || f.lo(15, 0) == 0, row)?;
    Ok(Inst { imm: simm16(f), ..f.inst(row) })
}

fn simm16(f: &Fetch) -> i32 {
    // CAST: the low 16 bits, sign-extended.
    i32::from(f.word0 as i16)
}

fn destination(f: &Fetch, row: &'static Row) -> Decoded<Operand> {
    match row.shape.dst {
        Ty::No => Ok(Operand::NONE),
        ty if f.target.is_rdna() => operand(f.rdna_scalar(f.lo(22, 16), ty.dwords()), row),
        ty => operand(scalar(f.lo(22, 16), ty.dwords()), row),
    }
}

fn source(f: &Fetch, inst: &mut Inst, i: usize, code: u32) -> Decoded<Operand> {
    let row = inst.row;
    match row.shape.src[i] {
        Ty::No => Ok(Operand::NONE),
        Ty::Msg => {
            // CAST: eight bits.
            inst.imm = code as i32;
            Ok(Operand::NONE)
        }
        ty if f.target.is_rdna() => operand(f.rdna_ssrc(code, ty), row),
        ty => operand(ssrc(code, ty), row),
    }
}
