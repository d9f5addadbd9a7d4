//! Vector instructions on the lanes of a wave, and their pseudocode on each.

use std::collections::HashMap;

use fastrand::Rng;

use super::{
    super::{CARRY, DST, Fields, Lab, SDST, bit_pattern, random_lanes},
    agree,
    eval::Machine,
    raw,
    syntax::Statement,
};
use crate::isa::{Family, Generation, Row, Ty, flag};

pub(super) fn applies(row: &'static Row) -> bool {
    let shape = &row.shape;
    let is_special = shape.has(flag::NO_E64 | flag::MFMA | flag::ACCVGPR | flag::WMMA);
    !is_special && shape.src[0] != Ty::No && shape.dst != Ty::S32
}

const fn is_half(ty: Ty) -> bool {
    matches!(ty, Ty::I16 | Ty::F16)
}

const fn is_packed(ty: Ty) -> bool {
    matches!(ty, Ty::V2I16 | Ty::V2F16)
}

/// Random values of the fields that choose halves of registers or signs.
fn fields(row: &Row, lab: &Lab, random: &mut Rng) -> Fields {
    let shape = &row.shape;
    let mut fields = Fields::default();
    if row.family == Family::Vop3p {
        fields.op_sel_hi = 7;
        for (n, _) in shape.src.into_iter().enumerate().filter(|(_, ty)| is_packed(*ty)) {
            fields.op_sel |= random.u32(..2) << n;
            fields.op_sel_hi ^= random.u32(..2) << n;
        }
        if shape.has(flag::NEG_SIGN) {
            fields.neg = random.u32(..4);
        }
    } else if lab.wave.target.generation() > Generation::Gfx10 && !shape.has(flag::PERMLANE) {
        for (n, _) in shape.src.into_iter().chain([shape.dst]).enumerate().filter(|(_, ty)| is_half(*ty)) {
            fields.op_sel |= random.u32(..2) << n;
        }
    }
    if shape.has(flag::BITOP3) {
        (fields.neg, fields.abs, fields.omod) = (random.u32(..8), random.u32(..8), random.u32(..4));
    }
    fields
}

/// A source with its halves where the fields say.
fn selected(value: u64, n: usize, row: &Row, fields: &Fields) -> u64 {
    let half = |op_sel: u32| value >> (16 * (op_sel >> n & 1)) & 0xffff;
    match row.shape.src[n] {
        ty if is_half(ty) => value >> (16 * (fields.op_sel >> n & 1)),
        ty if is_packed(ty) && row.family == Family::Vop3p => {
            half(fields.op_sel) | half(fields.op_sel_hi) << 16
        }
        _ => value,
    }
}

pub(super) fn compare(
    row: &'static Row,
    code: &[Statement],
    lab: &mut Lab,
    random: &mut Rng,
) -> Result<(), String> {
    let is_rdna = lab.wave.target.is_rdna();
    let grain = |ty: Ty| match ty {
        Ty::F16 | Ty::I16 | Ty::V2F16 | Ty::V2I16 => 16,
        Ty::F64 | Ty::B64 => 64,
        _ => 32u32,
    };
    let lanes = if is_rdna { random_lanes(random) } else { 64 };
    lab.set_lanes(lanes);
    let mut values_of_lanes = Vec::new();
    for lane in 0..64 {
        let mut values: [u64; 3] = std::array::from_fn(|n| {
            let bits = grain(row.shape.src[n]);
            (0..64 / bits).fold(0, |value, part| value | bit_pattern(random, bits) << (bits * part))
        });
        if random.usize(..4) == 0 {
            values[random.usize(..3)] = values[random.usize(..3)];
        }
        for (n, value) in values.into_iter().enumerate() {
            lab.set(2 * n, lane, value);
        }
        let old = random.u64(..);
        lab.set(DST, lane, old);
        values_of_lanes.push((values, old));
    }
    let carry = random.u64(..);
    for mask in [CARRY, 106, SDST] {
        lab.set_mask(mask, carry);
    }
    let fields = fields(row, lab, random);
    let exec = lab.wave.exec;
    lab.try_execute(&lab.words(row, fields))?;
    let compares = row.family == Family::Vopc;
    // RDNA's comparisons into EXEC have no other destination.
    let into_exec = is_rdna && row.compares_into_exec();
    let got_mask = if into_exec { lab.wave.exec } else { lab.mask(SDST) };
    let writes_mask = !into_exec && (compares || row.shape.sdst != Ty::No);
    if lanes == 32 && !into_exec && lab.mask(SDST) >> 32 != carry >> 32 {
        return Err("writes behind the mask of 32 lanes".into());
    }
    if !writes_mask && lab.mask(SDST) != carry {
        return Err("writes a mask".into());
    }
    if !row.compares_into_exec() && lab.wave.exec != exec {
        return Err("writes EXEC".into());
    }
    let keeps_other_half = is_rdna && is_half(row.shape.dst);
    for (lane, (values, old)) in values_of_lanes.into_iter().enumerate().take(lanes as usize) {
        let high = if fields.op_sel & 8 != 0 { 16 } else { 0 };
        let mut names = HashMap::new();
        for (n, value) in values.into_iter().enumerate() {
            names.insert(format!("S{n}"), raw(selected(value, n, row, &fields)));
        }
        let masks = raw(carry & 1 << lane);
        for (name, value) in [
            ("D0", raw(if compares { 0 } else { old >> high })),
            ("D1", raw(0)),
            ("VCC", masks),
            ("EXEC", raw(0)),
            ("laneId", raw(lane as u64)),
            ("IEEE", raw(u64::from(lab.wave.mode.ieee()))),
            ("OPSEL", raw(0)),
            ("ROUND_MODE", raw(0)),
            ("ROUND_NEAREST_EVEN", raw(0)),
            ("NEG", raw(fields.neg.into())),
            ("ABS", raw(fields.abs.into())),
            ("OMOD", raw(fields.omod.into())),
        ] {
            names.insert(name.into(), value);
        }
        let mut machine = Machine::new(names);
        machine.run(code)?;
        let bit = |name: &str| machine.names[name].bits >> if name == "D1" { 0 } else { lane } & 1 != 0;
        let got_bit = got_mask >> lane & 1 != 0;
        let want_bit = match row.name {
            _ if compares => Some(bit(if row.compares_into_exec() { "EXEC" } else { "D0" })),
            name if name.starts_with("v_mad_") && writes_mask => Some(bit("D1")),
            name if name.contains("_co_") => Some(bit("VCC")),
            _ => None,
        };
        let width = machine.written.min(64);
        let low = u64::MAX >> (64 - width.max(1));
        let [got, want] = [lab.get(DST, lane) >> high, machine.names["D0"].bits as u64].map(|x| x & low);
        let around = !(0xffff << high);
        let kept = !keeps_other_half || (lab.get(DST, lane) ^ old) & around == 0;
        let right = compares || width > 0 && agree(row.name, got, want, width) && kept;
        if !right || want_bit.is_some_and(|want| want != got_bit) {
            return Err(format!(
                "of {values:x?} over {old:x}: {got:x} {got_bit}, not {want:x} {want_bit:?}; {fields:x?}"
            ));
        }
    }
    Ok(())
}
