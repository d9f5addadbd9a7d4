//! Fetching a vector source: a row of the register file, or a prepared copy of it.

use std::mem::MaybeUninit;

use super::{
    dpp::{Dpp, permute8},
    half::F16,
    lane::{Kind, Lane},
    rows,
    sdwa::Sdwa,
};
use crate::{
    isa::{
        Inst, Mods, Operand,
        inst::{Form, Variant},
    },
    wave::{Vector, Wave, operand::constant_row},
};

/// Room for a source that cannot be read where it lies.
pub(super) type Room = MaybeUninit<[Vector; 2]>;

/// Whether the instruction is free of modifiers, SDWA and DPP.
#[inline(always)]
pub(super) fn plain(inst: &Inst) -> bool {
    !inst.form.has(Form::ALTERED)
}

/// Whether source `n` is read as it stands although the instruction is not [`plain`].
#[inline(always)]
fn untouched(inst: &Inst, n: usize) -> bool {
    let Mods { neg, abs, op_sel, .. } = inst.mods;
    match inst.variant {
        Variant::Plain | Variant::E64 => (neg | abs | op_sel) >> n & 1 == 0,
        Variant::Dpp | Variant::Dpp8 => n > 0 && (neg | abs | op_sel) >> n & 1 == 0,
        Variant::Sdwa => n > 1 || Sdwa::of(inst).is_whole(n),
    }
}

/// The register file row of a vector operand of `rows` registers. An operand that reaches past the end of its file
/// reads from row 0 of the file (MI200 ISA, 6.2.2).
#[inline(always)]
pub(super) fn row_of(op: Operand, rows: usize) -> Option<usize> {
    let row = op.row()?;
    Some(if row % 256 + rows <= 256 { row } else { row & 256 })
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
        Kind::Bf16 if float_constant => u64::from(wave.scalar(op, inst) >> 16),
        Kind::F64 if op == Operand::LITERAL => u64::from(inst.literal) << 32,
        Kind::I64 if op == Operand::LITERAL => i64::from(inst.literal as i32) as u64,
        Kind::B64 | Kind::I64 | Kind::F64 => wave.scalar64(op, inst),
        _ => u64::from(wave.scalar(op, inst)),
    }
}

/// The row of source `n`, with everything that the encoding says about it applied: in the register file, of which
/// `file` is the first row, if it can be read as it stands, else in `room`.
///
/// # Safety
/// `file` points to 512 rows, `room` to two.
#[inline(always)]
pub(super) unsafe fn fetch(
    wave: &Wave,
    inst: &Inst,
    n: usize,
    kind: Kind,
    file: *const Vector,
    room: *mut Vector,
) -> *const Vector {
    let op = inst.src[n];
    if !inst.form.has(1 << n) && (plain(inst) || untouched(inst, n)) {
        // CAST: the low byte is the VGPR's number.
        // SAFETY: less than 256 of 512 rows.
        return unsafe { file.add(usize::from(op.0 as u8)) };
    }
    if plain(inst) && kind.is_dword() && op.row().is_none() {
        // SAFETY: as the caller says.
        return unsafe { spread(wave, inst, op, kind, room) };
    }
    // SAFETY: as the caller says.
    unsafe { fetch_other(wave, inst, n, kind, file, room) }
}

/// A copy of source `n`, a row wide, with everything that the encoding says about it applied.
pub(super) fn prepared(wave: &Wave, inst: &Inst, n: usize, kind: Kind) -> Vector {
    debug_assert_eq!(kind.rows(), 1);
    let mut room = Room::uninit();
    // SAFETY: the register file has 512 rows, the room two; the row that comes back is one of them, and written.
    unsafe { *fetch(wave, inst, n, kind, wave.vgpr.as_ptr(), room.as_mut_ptr().cast()) }
}

/// # Safety
/// As for [`fetch`].
#[inline(never)]
unsafe fn fetch_other(
    wave: &Wave,
    inst: &Inst,
    n: usize,
    kind: Kind,
    file: *const Vector,
    room: *mut Vector,
) -> *const Vector {
    let op = inst.src[n];
    let as_is = plain(inst) || untouched(inst, n);
    let row = if let Some(row) = row_of(op, kind.rows()) {
        // SAFETY: the operand's last row is less than 512.
        unsafe { file.add(row) }
    } else {
        // SAFETY: the room has two rows.
        unsafe { spread(wave, inst, op, kind, room) }
    };
    if as_is {
        return row;
    }
    // SAFETY: the row is a register's, a constant's or the room itself, of which there are as many as the kind has.
    unsafe { alter(wave, inst, n, kind, room, row) };
    room
}

/// A scalar in every lane.
///
/// # Safety
/// `room` points to two rows.
#[inline(always)]
unsafe fn spread(wave: &Wave, inst: &Inst, op: Operand, kind: Kind, room: *mut Vector) -> *const Vector {
    // SAFETY: the room has two rows.
    unsafe {
        if kind.is_dword() {
            if let Some(row) = constant_row(op) {
                return row;
            }
            rows::splat(&mut *room, wave.scalar(op, inst), wave.lanes);
        } else {
            let bits = scalar(wave, inst, op, kind);
            rows::splat(&mut *room, bits as u32, wave.lanes);
            if kind.rows() == 2 {
                rows::splat(&mut *room.add(1), (bits >> 32) as u32, wave.lanes);
            }
        }
    }
    room
}

/// Copies source `n` from a row, and the next one if the kind has two, and applies what the encoding says.
///
/// # Safety
/// `to` points to two rows, `from` to as many as the kind has; they may be the same.
unsafe fn alter(wave: &Wave, inst: &Inst, n: usize, kind: Kind, to: *mut Vector, from: *const Vector) {
    let mods = inst.mods;
    let signs = (mods.abs >> n & 1 != 0, mods.neg >> n & 1 != 0);
    // SAFETY: as the caller says, in all of these.
    unsafe {
        match inst.variant {
            Variant::Sdwa => {
                let sdwa = Sdwa::of(inst);
                sdwa.select(n, to, from);
                copy(wave, kind, to, to, (sdwa.abs(n), sdwa.neg(n)));
            }
            Variant::Dpp | Variant::Dpp8 => {
                let mut from = from;
                if n == 0 {
                    for row in 0..kind.rows() {
                        match inst.variant {
                            Variant::Dpp => {
                                Dpp::of(inst).permute(wave.exec, wave.full, to.add(row), from.add(row));
                            }
                            _ => permute8(inst, wave.exec, to.add(row), from.add(row)),
                        }
                    }
                    from = to;
                }
                if kind.is_half() && mods.op_sel >> n & 1 != 0 {
                    rows::extract(to, from, 0, 16, false);
                    from = to;
                }
                copy(wave, kind, to, from, signs);
            }
            Variant::Plain | Variant::E64 if kind.is_half() && mods.op_sel >> n & 1 != 0 => {
                rows::extract(to, from, 0, 16, false);
                copy(wave, kind, to, to, signs);
            }
            Variant::Plain | Variant::E64 => copy(wave, kind, to, from, signs),
        }
    }
}

/// Copies rows, with absolute value and then negation if they are floating-point.
///
/// # Safety
/// As for [`alter`].
unsafe fn copy(wave: &Wave, kind: Kind, to: *mut Vector, from: *const Vector, (abs, neg): (bool, bool)) {
    let (abs, neg) = (abs && kind.is_float(), neg && kind.is_float());
    if !(abs || neg) && std::ptr::eq(to, from) {
        return;
    }
    let sign = if kind.is_half() { 0x8000 } else { 0x8000_0000 };
    let (and, xor) = (if abs { !sign } else { u32::MAX }, if neg { sign } else { 0 });
    let last = kind.rows() - 1;
    // SAFETY: as the caller says.
    unsafe {
        if last > 0 && !std::ptr::eq(to, from) {
            rows::copy(to, from, wave.lanes, u32::MAX, 0);
        }
        rows::copy(to.add(last), from.add(last), wave.lanes, and, xor);
    }
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
    match row_of(op, kind.rows()) {
        Some(row) => {
            for n in 0..kind.rows() {
                // SAFETY: the room has two rows, and no kind takes more.
                unsafe { rows.add(n).write(wave.vgpr[row + n]) };
            }
        }
        None => {
            let bits = scalar(wave, inst, op, kind);
            for n in 0..kind.rows() {
                let word = (bits >> (32 * n)) as u32;
                // SAFETY: as above, 64 words a row.
                unsafe { std::slice::from_raw_parts_mut(rows.add(n).cast::<MaybeUninit<u32>>(), 64) }
                    .fill(MaybeUninit::new(word));
            }
        }
    }
    // SAFETY: these rows have been written, and the room is borrowed for as long as the slice.
    unsafe { std::slice::from_raw_parts_mut(rows, kind.rows()) }
}
