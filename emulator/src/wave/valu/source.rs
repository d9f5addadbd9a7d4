//! Fetching a vector source: a row of the register file, or a prepared copy of it.

use std::mem::MaybeUninit;

use super::{
    dpp::Dpp,
    half::F16,
    lane::{Kind, Lane},
    sdwa::Sdwa,
};
use crate::{
    isa::{Inst, Mods, Operand, inst::Variant},
    wave::{Vector, Wave},
};

/// Room for a source that cannot be read where it lies.
pub(super) type Room = MaybeUninit<[Vector; 2]>;

/// Whether the instruction is free of modifiers, SDWA and DPP. Those take a second word.
#[inline(always)]
pub(super) fn plain(inst: &Inst) -> bool {
    inst.size == 4 || unmodified(inst)
}

#[inline(always)]
fn unmodified(inst: &Inst) -> bool {
    let Mods { neg, abs, op_sel, op_sel_hi, omod, clamp } = inst.mods;
    matches!(inst.variant, Variant::Plain | Variant::E64)
        && neg | abs | op_sel | op_sel_hi | omod | u8::from(clamp) == 0
}

/// Whether source `n` is read as it stands although the instruction is not [`plain`].
#[inline(always)]
fn untouched(inst: &Inst, n: usize) -> bool {
    let Mods { neg, abs, op_sel, .. } = inst.mods;
    match inst.variant {
        Variant::Plain | Variant::E64 => (neg | abs | op_sel) >> n & 1 == 0,
        Variant::Dpp => n > 0 && (neg | abs) >> n & 1 == 0,
        Variant::Sdwa => n > 1,
    }
}

/// The register file row of a vector operand of `rows` registers. An operand that reaches past the end of its file
/// reads from row 0 of the file (MI200 ISA, 6.2.2).
#[inline(always)]
pub(super) fn row_of(op: Operand, rows: usize) -> Option<usize> {
    let row = op.row()?;
    Some(if row % 256 + rows <= 256 { row } else { row & 256 })
}

/// Source `n` as rows of type `T`.
#[inline(always)]
pub(super) fn source<'a, T: Lane>(
    wave: &'a Wave,
    inst: &Inst,
    n: usize,
    plain: bool,
    room: &'a mut Room,
) -> &'a T::Rows {
    let op = inst.src[n];
    if plain && let Some(row) = row_of(op, T::KIND.rows()) {
        return T::rows(&wave.vgpr[row & 511..]);
    }
    if plain && T::KIND.rows() == 1 && !T::KIND.is_half() {
        // The commonest copy of all, a scalar in every lane, is worth being inlined.
        let word = wave.scalar(op, inst);
        let words = room.as_mut_ptr().cast::<u32>();
        for lane in 0..64 {
            // SAFETY: the room has 128 words; 64 of them are one row.
            unsafe { words.add(lane).write(word) }
        }
        // SAFETY: the first row was just written.
        return T::rows(unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), 1) });
    }
    T::rows(prepare(wave, inst, n, T::KIND, room))
}

/// The destination as a source, for instructions that accumulate.
#[inline(always)]
pub(super) fn accumulator<'a, T: Lane>(wave: &'a Wave, inst: &Inst) -> &'a T::Rows {
    T::rows(&wave.vgpr[row_of(inst.dst, T::KIND.rows()).unwrap_or(0)..])
}

/// A scalar source or constant of `kind`, as 64 bits.
fn scalar(wave: &Wave, inst: &Inst, op: Operand, kind: Kind) -> u64 {
    let float_constant = (240..=248).contains(&op.0);
    match kind {
        Kind::F16 if float_constant => {
            if op.0 == 248 {
                // 1/(2*pi), rounded to half precision.
                return 0x3118;
            }
            u64::from(F16::from_f32(f32::from_bits(wave.scalar(op, inst))).0)
        }
        Kind::F64 if op == Operand::LITERAL => u64::from(inst.literal) << 32,
        Kind::I64 if op == Operand::LITERAL => i64::from(inst.literal as i32) as u64,
        Kind::B64 | Kind::I64 | Kind::F64 => wave.scalar64(op, inst),
        _ => u64::from(wave.scalar(op, inst)),
    }
}

/// Source `n` with everything that the encoding says about it applied; a copy unless it is a register as it stands.
#[inline(never)]
pub(super) fn prepare<'a>(
    wave: &'a Wave,
    inst: &Inst,
    n: usize,
    kind: Kind,
    room: &'a mut Room,
) -> &'a [Vector] {
    let op = inst.src[n];
    if untouched(inst, n) {
        return match row_of(op, kind.rows()) {
            Some(row) => &wave.vgpr[row..row + kind.rows()],
            None => raw(wave, inst, op, kind, room),
        };
    }
    let rows = raw(wave, inst, op, kind, room);
    match inst.variant {
        Variant::Sdwa if n < 2 => {
            let sdwa = Sdwa::of(inst);
            for word in rows[0].0.iter_mut() {
                *word = sdwa.select(n, *word);
            }
            signs(rows, kind, sdwa.abs(n), sdwa.neg(n));
        }
        Variant::Dpp if n < 2 => {
            let dpp = Dpp::of(inst);
            if n == 0 {
                for row in rows.iter_mut() {
                    dpp.permute(wave.exec, &mut row.0);
                }
            }
            signs(rows, kind, dpp.abs() >> n & 1 != 0, dpp.neg() >> n & 1 != 0);
        }
        Variant::Sdwa | Variant::Dpp => {}
        Variant::Plain | Variant::E64 => {
            let mods = inst.mods;
            if kind.is_half() && mods.op_sel >> n & 1 != 0 {
                for word in rows[0].0.iter_mut() {
                    *word >>= 16;
                }
            }
            signs(rows, kind, mods.abs >> n & 1 != 0, mods.neg >> n & 1 != 0);
        }
    }
    rows
}

/// Copies an operand as it is, scalars spread over all lanes.
pub(super) fn raw<'a>(
    wave: &Wave,
    inst: &Inst,
    op: Operand,
    kind: Kind,
    room: &'a mut Room,
) -> &'a mut [Vector] {
    let rows = room.as_mut_ptr().cast::<Vector>();
    let row = row_of(op, kind.rows());
    let bits = if row.is_some() { 0 } else { scalar(wave, inst, op, kind) };
    for n in 0..kind.rows() {
        let value = match row {
            Some(row) => wave.vgpr[row + n],
            None => Vector([(bits >> (32 * n)) as u32; 64]),
        };
        // SAFETY: the room has two rows, and no kind takes more.
        unsafe { rows.add(n).write(value) };
    }
    // SAFETY: the loop wrote these rows, and the room is borrowed for as long as the slice.
    unsafe { std::slice::from_raw_parts_mut(rows, kind.rows()) }
}

/// Absolute value, then negation, of floating-point rows.
pub(super) fn signs(rows: &mut [Vector], kind: Kind, abs: bool, neg: bool) {
    if !kind.is_float() || !(abs || neg) {
        return;
    }
    let sign = if kind == Kind::F16 { 0x8000 } else { 0x8000_0000 };
    let (and, xor) = (if abs { !sign } else { u32::MAX }, if neg { sign } else { 0 });
    if let Some(top) = rows.last_mut() {
        for word in top.0.iter_mut() {
            *word = *word & and ^ xor;
        }
    }
}
