//! Values that no lane has given: what `ds_bpermute_b32` reads from a lane that is off. They count when they get to memory, as
//! data or as an address; until then they may be selected away, or be of lanes that nobody asks.

use super::{
    Wave,
    converging::{DS_BPERMUTE, DS_PERMUTE, DS_SWIZZLE, beyond_scratch},
    exec::shape,
};
use crate::isa::{
    Family, Inst, Operand, Ty,
    flag::{MFMA, STORE},
    inst::Variant,
};

/// Opcode of VOP2 (MI200 ISA, 12).
const V_CNDMASK: u16 = 0;

/// The lanes of a register that hold such a value, and the instruction that has read it.
#[derive(Clone, Copy, Default)]
struct Row {
    lanes: u64,
    origin: u64,
}

/// Lanes that use such a value.
pub(super) struct Used {
    pub(super) lanes: u64,
    pub(super) origin: u64,
}

/// The registers of a wave that hold such values. What is not followed is forgotten: scratch, scalars, DPP, SDWA, matrices, and
/// accumulators.
#[derive(Default)]
pub(super) struct Inactive(Option<Box<[Row; 512]>>);

fn rows(op: Operand, ty: Ty) -> impl Iterator<Item = usize> {
    let first = op.row();
    let count = if first.is_some() { usize::from(ty.dwords()) } else { 0 };
    (0..count).map(move |n| (first.unwrap_or(0) + n) & 511)
}

impl Inactive {
    /// Follows the values through an instruction that is about to be executed, and says which lanes use one.
    pub(super) fn step(&mut self, wave: &Wave, inst: &Inst, pc: u64) -> Option<Used> {
        use Family::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Vop1, Vop2, Vop3, Vop3p};
        let row = inst.row;
        if row.family == Ds && row.opcode == DS_BPERMUTE {
            self.permute(wave, inst, pc);
            return None;
        }
        self.0.as_ref()?;
        match row.family {
            Vop1 | Vop2 | Vop3 | Vop3p => {
                let carries = !matches!(inst.variant, Variant::Dpp | Variant::Sdwa) && !row.shape.has(MFMA);
                let result = if carries { self.result(wave, inst) } else { Row::default() };
                self.set(inst.dst, row.shape.dst, wave.exec, result);
                if row.name == "v_swap_b32" {
                    self.set(inst.src[0], Ty::B32, wave.exec, Row::default());
                }
                None
            }
            Ds if matches!(row.opcode, DS_SWIZZLE | DS_PERMUTE) => {
                self.set(inst.dst, row.shape.dst, wave.exec, Row::default());
                None
            }
            Ds | Flat | Global => {
                let used = self.operands(inst, beyond_scratch(wave, inst));
                self.set(inst.dst, row.shape.dst, wave.exec, Row::default());
                (used.lanes != 0).then_some(Used { lanes: used.lanes, origin: used.origin })
            }
            Scratch | Mubuf | Mtbuf if !row.shape.has(STORE) => {
                self.set(inst.dst, row.shape.dst, wave.exec, Row::default());
                None
            }
            _ => None,
        }
    }

    fn row(&self, row: usize) -> Row {
        self.0.as_ref().map_or_else(Row::default, |rows| rows[row & 511])
    }

    fn set(&mut self, op: Operand, ty: Ty, exec: u64, Row { lanes, origin }: Row) {
        let Some(all) = &mut self.0 else { return };
        for row in rows(op, ty) {
            let kept = all[row].lanes & !exec;
            let origin = if lanes & exec != 0 { origin } else { all[row].origin };
            all[row] = Row { lanes: kept | lanes & exec, origin };
        }
    }

    /// The lanes in which any source holds such a value.
    fn sources(&self, inst: &Inst, exec: u64) -> Row {
        let all = inst.src.into_iter().zip(inst.row.shape.src);
        self.any(all.flat_map(|(op, ty)| rows(op, ty)).map(|row| (row, exec)))
    }

    /// The lanes in which the address or the data of an access are such a value. A register of the address says enough: with a
    /// scalar base there is no other.
    fn operands(&self, inst: &Inst, exec: u64) -> Row {
        let [_, data, more] = inst.row.shape.src;
        let all = inst.src.into_iter().zip([Ty::B32, data, more]);
        self.any(all.flat_map(|(op, ty)| rows(op, ty)).map(|row| (row, exec)))
    }

    fn any(&self, rows: impl Iterator<Item = (usize, u64)>) -> Row {
        rows.fold(Row::default(), |sum, (row, mask)| {
            let Row { lanes, origin } = self.row(row);
            let origin = if sum.lanes == 0 { origin } else { sum.origin };
            Row { lanes: sum.lanes | lanes & mask, origin }
        })
    }

    fn result(&self, wave: &Wave, inst: &Inst) -> Row {
        let selects = inst.row.family == Family::Vop2 && inst.row.opcode == V_CNDMASK;
        if !selects {
            return self.sources(inst, wave.exec);
        }
        let [no, yes, mask] = inst.src;
        let mask = wave.scalar64(mask, inst);
        let from = |op: Operand, mask: u64| op.row().map(|row| (row, mask));
        self.any(from(no, !mask).into_iter().chain(from(yes, mask)))
    }

    /// `ds_bpermute_b32`: each lane reads from the lane that its address names.
    fn permute(&mut self, wave: &Wave, inst: &Inst, pc: u64) {
        let [address, data, _] = inst.src.map(Operand::row);
        let (Some(address), Some(data)) = (address, data) else { return };
        let (addresses, data) = (wave.row(address), self.row(data));
        let (mut read, mut passed_on) = (0, 0);
        for lane in shape::lanes(wave.exec) {
            let from = addresses[lane].wrapping_add(inst.imm as u32) >> 2 & 63;
            read |= (!wave.exec >> from & 1) << lane;
            passed_on |= ((data.lanes & wave.exec) >> from & 1) << lane;
        }
        if read != 0 {
            self.0.get_or_insert_with(|| Box::new([Row::default(); 512]));
        }
        let origin = if read != 0 { pc } else { data.origin };
        self.set(inst.dst, Ty::B32, wave.exec, Row { lanes: read | passed_on, origin });
    }
}
