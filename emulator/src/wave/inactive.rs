//! Values that no lane has given: what `ds_bpermute_b32` reads from a lane that is off. They count when they get to memory, as
//! data or as an address; until then they may be selected away, or be in lanes that no other lane reads. What is not followed is
//! forgotten: scratch, scalars, DPP, SDWA, matrices, and accumulators.

use super::{
    Wave, accesses,
    exec::{ds, shape},
    valu::rdna,
};
use crate::{
    convergence::{Inactive, Row, rows},
    isa::{
        self, Family, Inst, Operand, Ty,
        flag::{MFMA, STORE, WMMA},
        inst::Variant,
    },
};

/// `ds_bpermute_b32`, by its opcodes on GFX9 (MI200 ISA, 12) and on RDNA.
fn is_bpermute(row: &isa::Row) -> bool {
    row.family == Family::Ds && row.opcode == if row.is_rdna() { 179 } else { 63 }
}

/// The lanes for which an instruction of DS, FLAT or GLOBAL accesses something else than scratch.
pub(super) fn beyond_scratch(wave: &Wave, inst: &Inst) -> u64 {
    let high = inst.src[0].row().filter(|_| inst.row.family == Family::Flat);
    let Some(high) = high.map(|row| wave.row(row + 1)) else { return wave.exec };
    // CAST: the low half of the aperture's base is zero.
    let private = (wave.surroundings.apertures.private >> 32) as u32;
    shape::lanes(wave.exec).filter(|lane| high[*lane] != private).fold(0, |mask, lane| mask | 1 << lane)
}

/// Follows the values through an instruction that is about to be executed, and says which lanes use one.
pub(super) fn follow(values: &mut Inactive, wave: &Wave, inst: &Inst, pc: u64) -> Option<Row> {
    use Family::{Ds, Flat, Global, LdsDirect, Mtbuf, Mubuf, Scratch, Vop1, Vop2, Vop3, Vop3p, Vopd};
    let row = inst.row;
    if is_bpermute(row) {
        permute(values, wave, inst, pc);
        return None;
    }
    if !values.is_any() {
        return None;
    }
    let resolved = if row.is_rdna() && row.family == Vop1 { rdna::resolved(wave, inst) } else { None };
    let inst = resolved.as_ref().unwrap_or(inst);
    let dst = (inst.dst, row.shape.dst);
    match row.family {
        Vop1 | Vop2 | Vop3 | Vop3p | Vopd | LdsDirect => {
            let carries = !matches!(inst.variant, Variant::Dpp | Variant::Dpp8 | Variant::Sdwa)
                && !row.shape.has(MFMA | WMMA);
            let result = if carries { result(values, wave, inst) } else { Row::default() };
            values.set(dst, wave.exec, result);
            if row.swaps() {
                values.set((inst.src[0], Ty::B32), wave.exec, Row::default());
            }
            None
        }
        Ds if accesses::is_permutation(inst) => {
            values.set(dst, wave.exec, Row::default());
            None
        }
        Ds | Flat | Global => {
            let used = operands(values, inst, beyond_scratch(wave, inst));
            values.set(dst, wave.exec, Row::default());
            (used.lanes != 0).then_some(used)
        }
        Scratch | Mubuf | Mtbuf if !row.shape.has(STORE) => {
            values.set(dst, wave.exec, Row::default());
            None
        }
        _ => None,
    }
}

/// The lanes in which any source holds such a value.
fn any(values: &Inactive, inst: &Inst, types: [Ty; 3], exec: u64) -> Row {
    let all = inst.src.into_iter().zip(types);
    values.any(all.flat_map(|(op, ty)| rows(op, ty)).map(|row| (row, exec)))
}

/// The lanes in which the address or the data of an access are such a value. One register of the address says enough: with a
/// scalar base there is no other.
fn operands(values: &Inactive, inst: &Inst, exec: u64) -> Row {
    let [_, data, more] = inst.row.shape.src;
    any(values, inst, [Ty::B32, data, more], exec)
}

fn result(values: &Inactive, wave: &Wave, inst: &Inst) -> Row {
    if !inst.row.name.contains("_cndmask_") {
        return any(values, inst, inst.row.shape.src, wave.exec);
    }
    let [no, yes, mask] = inst.src;
    let mask = wave.mask(mask, inst);
    let from = |op: Operand, mask: u64| op.row().map(|row| (row, mask));
    values.any(from(no, !mask).into_iter().chain(from(yes, mask)))
}

/// `ds_bpermute_b32`: each lane reads from the lane that its address names.
fn permute(values: &mut Inactive, wave: &Wave, inst: &Inst, pc: u64) {
    let [address, data, _] = inst.src.map(Operand::row);
    let (Some(address), Some(data)) = (address, data) else { return };
    let (addresses, data, reach) = (wave.row(address), values.row(data), ds::within_reach(wave));
    let (mut read, mut passed_on) = (0, 0);
    for lane in shape::lanes(wave.exec) {
        let from = ds::named(lane, addresses[lane].wrapping_add(inst.imm as u32) >> 2, reach);
        read |= (!wave.exec >> from & 1) << lane;
        passed_on |= ((data.lanes & wave.exec) >> from & 1) << lane;
    }
    if read != 0 {
        values.begin();
    }
    let origin = if read != 0 { pc } else { data.origin };
    values.set((inst.dst, Ty::B32), wave.exec, Row { lanes: read | passed_on, origin });
}
