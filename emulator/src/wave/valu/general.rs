//! Instructions that a kernel cannot run on VGPRs as they stand: scalar sources, modifiers, SDWA, DPP, dead lanes.

use super::{
    kernel::Kernel,
    lane::Kind,
    result::{finish, write_mask},
    rows,
    source::{fetch, row_of},
};
use crate::{
    isa::{Flow, Inst, inst::Form},
    wave::{Vector, Wave, operand::constant_row},
};

/// What an instruction reads and writes.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub kinds: [Kind; 3],
    /// How many sources there are.
    pub count: u8,
    /// The destination is the last source.
    pub accumulates: bool,
    /// `None`: flags only.
    pub result: Option<Kind>,
}

/// The rows of an instruction's operands; those that it does not have are some row.
///
/// # Safety
/// The rows are valid until the wave changes otherwise than through them.
#[inline(always)]
unsafe fn sources(wave: &mut Wave, inst: &Inst, operands: Operands) -> [*const u32; 3] {
    let file = wave.vgpr.as_mut_ptr().cast_const();
    let rooms = (&raw mut wave.rooms).cast::<Vector>();
    let source = |n: usize| {
        // SAFETY: the file has 512 rows, each of four rooms two.
        unsafe { fetch(wave, inst, n, operands.kinds[n], file, rooms.add(2 * n)).cast::<u32>() }
    };
    let first = source(0);
    let second = if operands.count > 1 { source(1) } else { first };
    let third = if operands.accumulates {
        // Where the destination is none, nothing is written, so that it does not matter what is read.
        let row = row_of(inst.dst, operands.kinds[2].rows()).unwrap_or(0);
        // SAFETY: the destination's last row is less than 512, and the rooms are as above.
        unsafe {
            let (row, room) = (file.add(row), rooms.add(4));
            if operands.kinds[2].is_half() && inst.mods.op_sel & 8 != 0 {
                // The half that is written.
                rows::extract(room, row, 0, 16, false);
                room.cast_const().cast()
            } else {
                row.cast()
            }
        }
    } else if operands.count > 2 {
        source(2)
    } else {
        first
    };
    [first, second, third]
}

/// As [`sources`], where all lanes are live and nothing but scalars of a dword keeps the sources from being read as they
/// stand; `None` if it is otherwise.
///
/// # Safety
/// As for [`sources`].
#[inline(always)]
unsafe fn spread(wave: &mut Wave, inst: &Inst, operands: Operands) -> Option<[*const u32; 3]> {
    let others = if operands.result.is_some() { Form::ALTERED | Form::DESTINATION } else { Form::ALTERED };
    if inst.form.has(others) || !wave.all_live() {
        return None;
    }
    let count = usize::from(operands.count);
    let file = wave.vgpr.as_mut_ptr().cast_const();
    let mut rows = [file; 3];
    for (n, row) in rows.iter_mut().enumerate().take(count) {
        let op = inst.src[n];
        // CAST: the low byte is the VGPR's number.
        // SAFETY: less than 256 of 512 rows.
        *row = unsafe { file.add(usize::from(op.0 as u8)) };
        if inst.form.has(1 << n) {
            if !operands.kinds[n].is_dword() || op.row().is_some() {
                return None;
            }
            *row = match constant_row(op) {
                Some(row) => row,
                None => {
                    let (word, lanes) = (wave.scalar(op, inst), wave.lanes);
                    rows::splat(&mut wave.rooms[n][0], word, lanes)
                }
            };
        }
    }
    if operands.accumulates {
        // SAFETY: as above.
        rows[2] = unsafe { file.add(number(inst)) };
    }
    Some(rows.map(<*const Vector>::cast))
}

/// Runs a kernel that computes values.
///
/// # Safety
/// Kernel and environment belong together, and are made for these operands.
#[inline(never)]
pub(super) unsafe fn general(
    wave: &mut Wave,
    inst: &Inst,
    operands: Operands,
    kernel: Kernel<Flow>,
    bits: u64,
    environment: *const (),
) -> Flow {
    // SAFETY: they are used before the wave changes.
    if let Some([a, b, c]) = unsafe { spread(wave, inst, operands) } {
        let to = &raw mut wave.vgpr[number(inst)];
        // SAFETY: as in `changed`.
        return unsafe { kernel(to.cast(), a, b, c, bits, environment) };
    }
    // SAFETY: as the caller says.
    unsafe { changed(wave, inst, operands, kernel, bits, environment) }
}

/// As [`general`], whatever keeps operands from being used as they stand.
///
/// # Safety
/// As for [`general`].
#[inline(never)]
unsafe fn changed(
    wave: &mut Wave,
    inst: &Inst,
    operands: Operands,
    kernel: Kernel<Flow>,
    bits: u64,
    environment: *const (),
) -> Flow {
    let exec = wave.exec;
    if exec == 0 {
        return Flow::Next;
    }
    // SAFETY: they are used before the wave changes.
    let [a, b, c] = unsafe { sources(wave, inst, operands) };
    let to = target(wave, inst);
    // SAFETY: the rows are as wide as their kinds, the destination because its form says so; and as the caller says.
    let flow = unsafe { kernel(to.cast(), a, b, c, bits, environment) };
    write(wave, inst, operands.result);
    flow
}

/// Whether live lanes are written as they are.
#[inline(always)]
fn simple(inst: &Inst) -> bool {
    !inst.form.has(Form::RESULT | Form::DESTINATION)
}

/// The destination's number, if the result is [`simple`].
#[inline(always)]
fn number(inst: &Inst) -> usize {
    // CAST: the low byte is the VGPR's number.
    usize::from(inst.dst.0 as u8)
}

/// Where the kernel writes to: the destination, or the last room, from where [`write`] fetches it.
#[inline(always)]
fn target(wave: &mut Wave, inst: &Inst) -> *mut Vector {
    if simple(inst) && wave.all_live() {
        &raw mut wave.vgpr[number(inst)]
    } else {
        (&raw mut wave.rooms[3]).cast()
    }
}

/// Writes the result, if it has not gone to the destination yet.
#[inline(always)]
fn write(wave: &mut Wave, inst: &Inst, result: Option<Kind>) {
    let Some(kind) = result else { return };
    if !simple(inst) {
        write_changed(wave, inst, kind);
    } else if !wave.all_live() {
        let Wave { vgpr, rooms, exec, .. } = wave;
        let row = number(inst);
        for (target, value) in vgpr[row..row + kind.rows()].iter_mut().zip(&rooms[3]) {
            rows::merge(target, value, *exec);
        }
    }
}

/// Writes a result that modifiers change, or which the destination may have no room for.
#[inline(never)]
fn write_changed(wave: &mut Wave, inst: &Inst, kind: Kind) {
    // Copies, because the wave changes, of no more than there is.
    if kind.rows() == 1 {
        let mut value = wave.rooms[3][0];
        finish(wave, inst, kind, std::slice::from_mut(&mut value));
    } else {
        let mut value = wave.rooms[3];
        finish(wave, inst, kind, &mut value);
    }
}

/// Runs a kernel that computes flags, and values if there is a result, and returns the flags of live lanes.
///
/// # Safety
/// As for [`general`].
#[inline(never)]
pub(super) unsafe fn general_flags(
    wave: &mut Wave,
    inst: &Inst,
    operands: Operands,
    kernel: Kernel<u64>,
    bits: u64,
    environment: *const (),
) -> u64 {
    // SAFETY: they are used before the wave changes.
    if let Some([a, b, c]) = unsafe { spread(wave, inst, operands) } {
        // Without a result the kernel writes nothing.
        let to = &raw mut wave.vgpr[number(inst)];
        // SAFETY: as in `changed_flags`; a kernel returns flags of the wave's lanes only.
        return unsafe { kernel(to.cast(), a, b, c, bits, environment) };
    }
    // SAFETY: as the caller says.
    unsafe { changed_flags(wave, inst, operands, kernel, bits, environment) }
}

/// As [`general_flags`], whatever keeps operands from being used as they stand.
///
/// # Safety
/// As for [`general`].
#[inline(never)]
unsafe fn changed_flags(
    wave: &mut Wave,
    inst: &Inst,
    operands: Operands,
    kernel: Kernel<u64>,
    bits: u64,
    environment: *const (),
) -> u64 {
    let live = if inst.form.has(Form::RESULT) { write_mask(wave, inst) } else { wave.exec };
    if live == 0 {
        return 0;
    }
    // SAFETY: they are used before the wave changes.
    let [a, b, c] = unsafe { sources(wave, inst, operands) };
    // Without a result the kernel writes nothing.
    let to = target(wave, inst);
    // SAFETY: as in `changed`.
    let flags = unsafe { kernel(to.cast(), a, b, c, bits, environment) };
    write(wave, inst, operands.result);
    flags & live
}
