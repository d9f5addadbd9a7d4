//! Which bits of a result depend on bits that nothing has written: the instruction is executed with other values in their
//! place, and what differs depends on them. So each instruction's own semantics say it, those that move lanes, select, shift
//! or mask included.

use smallvec::SmallVec;

use super::Step;
use crate::{
    convergence::rows,
    isa::{Family, Inst, Operand, Ty},
    uninit::{SCALARS, SCC, ScalarShadow, Uninit, UninitKind, VectorShadow},
    wave::{Mode, Vector, Wave, valu::rdna},
};

/// What stands in the place of bits that nothing has written.
#[derive(Clone, Copy)]
enum Fill {
    /// What is not there.
    Inverse,
    /// The same in all.
    Same(u32),
    /// What the other source has, which may make them equal.
    Other,
    /// What is not there, in one source only: what is not there in two may come out as what is.
    InverseOf(usize),
}

/// The words are great as integers and finite as floats, of 16, 32 and 64 bits, and the other way round.
const FILLS: [Fill; 9] = [
    Fill::Inverse,
    Fill::Same(0),
    Fill::Same(u32::MAX),
    Fill::Same(0x7b7b_7b7b),
    Fill::Same(0xfbfb_fbfb),
    Fill::Other,
    Fill::InverseOf(0),
    Fill::InverseOf(1),
    Fill::InverseOf(2),
];

/// The part of a wave that an instruction may change.
struct State {
    rows: Vec<Vector>,
    scalars: [u32; 128],
    scc: bool,
    exec: u64,
    pc: u64,
    mode: Mode,
}

impl State {
    fn of(wave: &Wave, used: &[Used]) -> Self {
        // PANIC: there are more registers than that.
        let scalars = *wave.sgpr.first_chunk().unwrap_or_else(|| unreachable!());
        let rows = used.iter().map(|used| Vector(*wave.row(used.row))).collect();
        Self { rows, scalars, scc: wave.scc, exec: wave.exec, pc: wave.pc, mode: wave.mode }
    }

    fn restore(&self, wave: &mut Wave, used: &[Used]) {
        wave.sgpr[..128].copy_from_slice(&self.scalars);
        (wave.scc, wave.exec, wave.pc, wave.mode, wave.stop) =
            (self.scc, self.exec, self.pc, self.mode, None);
        used.iter().zip(&self.rows).for_each(|(used, row)| *wave.row_mut(used.row) = row.0);
    }

    fn scalar(&self, n: usize) -> u32 {
        self.scalars.get(n).copied().unwrap_or(u32::from(self.scc))
    }
}

/// A vector register that an instruction uses.
struct Used {
    row: usize,
    /// The source that it is part of, and which part.
    source: Option<(usize, usize)>,
    is_result: bool,
}

/// What an instruction uses that has such bits, and what became of it.
struct Difference {
    rows: Vec<[u32; 64]>,
    scalars: [u32; SCALARS],
    exec: u64,
    jumps: bool,
}

/// Follows a scalar instruction.
pub(super) fn scalar(uninit: &mut Uninit, wave: &mut Wave, step: &Step<'_>) {
    if uninit.registers.has_scalars() {
        follow(uninit, wave, step, &[]);
    }
}

/// Follows an instruction of the vector ALU, or one that moves lanes.
pub(super) fn vector(uninit: &mut Uninit, wave: &mut Wave, step: &Step<'_>) {
    let registers = &uninit.registers;
    if !registers.has_vectors() && !registers.has_scalars() {
        return;
    }
    let is_relative = step.inst.row.is_rdna() && step.inst.row.family == Family::Vop1;
    let resolved = if is_relative { rdna::resolved(wave, step.inst) } else { None };
    let inst = resolved.as_ref().unwrap_or(step.inst);
    let mut used: SmallVec<[Used; 16]> = SmallVec::new();
    for (source, (op, ty)) in sources(inst).enumerate() {
        used.extend(rows(op, ty).enumerate().map(|(part, row)| Used {
            row,
            source: Some((source, part)),
            is_result: inst.row.swaps(),
        }));
    }
    for row in rows(inst.dst, inst.row.shape.dst) {
        match used.iter_mut().find(|used| used.row == row) {
            Some(used) => used.is_result = true,
            None => used.push(Used { row, source: None, is_result: true }),
        }
    }
    let has_scalars = registers.has_scalars() && scalars(wave, step).any(|n| registers.scalar(n).bits != 0);
    if has_scalars || used.iter().any(|used| registers.row(used.row).is_some()) {
        follow(uninit, wave, step, &used);
    }
}

/// The sources of an instruction, and behind them the scales of matrices.
fn sources(inst: &Inst) -> impl Iterator<Item = (Operand, Ty)> {
    let all = (0..3).map(|n| (inst.src[n], inst.source_type(n)));
    all.chain(inst.scales().into_iter().flatten().map(|scales| (scales.source, Ty::B32)))
}

/// The scalar registers that a vector instruction names.
fn scalars(wave: &Wave, step: &Step<'_>) -> impl Iterator<Item = usize> {
    let has_single_masks = wave.lanes() == 32;
    let shape = &step.inst.row.shape;
    // Both take VCC without naming it in all encodings.
    let vcc = matches!(step.inst.row.family, Family::Vopc) || step.inst.row.name.starts_with("v_div_fmas");
    let all = sources(step.inst).chain([
        (step.inst.dst, shape.dst),
        (step.inst.sdst, shape.sdst),
        (if vcc { Operand::VCC_LO } else { Operand::NONE }, Ty::Mask),
    ]);
    all.filter(|(op, _)| op.0 < 128).flat_map(move |(op, ty)| {
        let first = usize::from(op.0);
        let count = if ty == Ty::Mask && has_single_masks { 1 } else { ty.dwords().max(1) };
        first..first + usize::from(count)
    })
}

fn follow(uninit: &mut Uninit, wave: &mut Wave, step: &Step<'_>, used: &[Used]) {
    let difference = differ(uninit, wave, step, used);
    let from = source(uninit, wave, step, used);
    let exec = wave.exec;
    if difference.exec != 0 {
        uninit.find(UninitKind::Branch, step.pc, from.origin, Some(difference.exec));
    }
    if difference.jumps {
        uninit.find(UninitKind::Branch, step.pc, from.origin, None);
    }
    for (used, bits) in used.iter().zip(difference.rows) {
        if !used.is_result {
            continue;
        }
        let lanes = if from.derived { exec } else { 0 };
        uninit.registers.set_row(used.row, exec, &VectorShadow { bits, derived: lanes, origin: from.origin });
    }
    for (n, bits) in difference.scalars.into_iter().enumerate() {
        let old = uninit.registers.scalar(n);
        if bits != old.bits {
            uninit.registers.set_scalar(n, ScalarShadow { bits, ..from });
        }
    }
}

/// Where the result of an instruction comes from, and whether it is more than a copy.
fn source(uninit: &Uninit, wave: &Wave, step: &Step<'_>, used: &[Used]) -> ScalarShadow {
    let registers = &uninit.registers;
    let vectors = used.iter().filter_map(|used| registers.row(used.row));
    let vectors = vectors.map(|row| (row.origin, row.derived != 0));
    let named: SmallVec<[usize; 8]> = match step.inst.row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp => {
            scalars(wave, step).chain([SCC, 106, 107]).collect()
        }
        _ => scalars(wave, step).collect(),
    };
    let scalars = named.into_iter().map(|n| registers.scalar(n)).filter(|scalar| scalar.bits != 0);
    let all = vectors.chain(scalars.map(|scalar| (scalar.origin, scalar.derived)));
    let start = ScalarShadow { derived: !copies(wave, step.inst), ..ScalarShadow::default() };
    all.fold(start, |sum, (origin, derived)| ScalarShadow {
        origin: if sum.origin == 0 { origin } else { sum.origin },
        derived: sum.derived || derived,
        ..sum
    })
}

/// Whether an instruction does nothing but move, select and mask bits, and shift them by whole bytes.
fn copies(wave: &Wave, inst: &Inst) -> bool {
    const COPIES: [&str; 24] = [
        "v_mov_",
        "v_movrel",
        "v_swap",
        "v_permlane",
        "v_accvgpr_",
        "v_readfirstlane_",
        "v_readlane_",
        "v_writelane_",
        "v_cndmask_",
        "v_and_",
        "v_or_",
        "v_or3_",
        "v_bfi_",
        "v_perm_",
        "v_pack_",
        "v_pk_mov_",
        "ds_permute_",
        "ds_bpermute_",
        "ds_swizzle_",
        "s_mov",
        "s_cselect_",
        "s_and_b",
        "s_or_b",
        "s_pack_",
    ];
    /// With the source that says how far.
    const SHIFTS: [(&str, usize); 10] = [
        ("v_lshlrev_", 0),
        ("v_lshrrev_", 0),
        ("v_pk_lsh", 0),
        ("v_lshl_or_", 1),
        ("v_bfe_", 1),
        ("v_alignbit_", 2),
        ("v_alignbyte_", 2),
        ("s_lshl_b", 1),
        ("s_lshr_", 1),
        ("s_bfe_", 1),
    ];
    let name = inst.row.name;
    let starts = |start: &str| match name.strip_prefix("v_dual_") {
        Some(half) => start.strip_prefix("v_").is_some_and(|start| half.starts_with(start)),
        None => name.starts_with(start),
    };
    let by_bytes = |source: usize| {
        let op = inst.src[source];
        op.row().is_none() && wave.scalar(op, inst) & 7 == 0
    };
    COPIES.iter().any(|start| starts(start))
        || SHIFTS.iter().any(|(start, source)| starts(start) && by_bytes(*source))
}

/// Executes an instruction with other values in the place of such bits.
fn differ(uninit: &Uninit, wave: &mut Wave, step: &Step<'_>, used: &[Used]) -> Difference {
    let before = State::of(wave, used);
    (step.exec)(wave, step.inst);
    let plain = State::of(wave, used);
    before.restore(wave, used);
    let mut difference =
        Difference { rows: vec![[0; 64]; used.len()], scalars: [0; SCALARS], exec: 0, jumps: false };
    let holds_any = used.iter().filter(|used| uninit.registers.row(used.row).is_some()).count();
    let in_several = holds_any > 1 || uninit.registers.has_scalars();
    for fill in FILLS.into_iter().filter(|fill| in_several || !matches!(fill, Fill::InverseOf(_))) {
        put(uninit, wave, &before, step, used, fill);
        (step.exec)(wave, step.inst);
        let filled = State::of(wave, used);
        before.restore(wave, used);
        for ((sum, plain), filled) in difference.rows.iter_mut().zip(&plain.rows).zip(&filled.rows) {
            for ((sum, plain), filled) in sum.iter_mut().zip(&plain.0).zip(&filled.0) {
                *sum |= plain ^ filled;
            }
        }
        for (n, sum) in difference.scalars.iter_mut().enumerate() {
            *sum |= plain.scalar(n) ^ filled.scalar(n);
        }
        difference.exec |= plain.exec ^ filled.exec;
        difference.jumps |= plain.pc != filled.pc;
    }
    difference
}

/// Puts other values in the place of such bits.
fn put(uninit: &Uninit, wave: &mut Wave, before: &State, step: &Step<'_>, used: &[Used], fill: Fill) {
    let registers = &uninit.registers;
    let value = |old: u32, other: Option<u32>| match (fill, other) {
        (Fill::Same(word), _) => word,
        (Fill::Other, Some(other)) => other,
        _ => !old,
    };
    let first_has_any = used
        .iter()
        .any(|used| used.source.is_some_and(|(source, _)| source == 0) && registers.row(used.row).is_some());
    for (used_row, old) in used.iter().zip(&before.rows) {
        let Some(shadow) = registers.row(used_row.row) else { continue };
        let others = match (fill, used_row.source) {
            (Fill::InverseOf(one), Some((source, _))) if one != source => continue,
            // The second stays, so that the first becomes what that is.
            (Fill::Other, Some((1, _))) if first_has_any => continue,
            (Fill::Other, Some((source @ (0 | 1), part))) => {
                other(wave, before, step, used, 1 - source, part)
            }
            _ => None,
        };
        for (lane, bits) in shadow.bits.into_iter().enumerate().filter(|(_, bits)| *bits != 0) {
            let old = old.0[lane];
            let filled = value(old, others.as_ref().map(|other| other.0[lane]));
            wave.row_mut(used_row.row)[lane] = old & !bits | filled & bits;
        }
    }
    if !registers.has_scalars() {
        return;
    }
    let [first, second, _] = step.inst.src;
    for n in 0..SCALARS {
        let ScalarShadow { bits, .. } = registers.scalar(n);
        if bits == 0 {
            continue;
        }
        let old = before.scalar(n);
        // CAST: less than 129.
        let within = |op: Operand| (n as u16).checked_sub(op.0).filter(|part| *part < 2);
        if let Fill::InverseOf(one) = fill
            && within(step.inst.src[one]).is_none()
        {
            continue;
        }
        let other = match (within(first), within(second)) {
            (Some(part), _) => Some((second, part)),
            (None, Some(part)) => Some((first, part)),
            (None, None) => None,
        };
        let other = other.map(|(op, part)| {
            // A constant has one part.
            let op = if op.0 < 128 { Operand(op.0 + part) } else { op };
            wave.scalar(op, step.inst)
        });
        let new = old & !bits | value(old, other) & bits;
        match wave.sgpr.get_mut(n).filter(|_| n < SCC) {
            Some(scalar) => *scalar = new,
            None => wave.scc = new & 1 != 0,
        }
    }
}

/// Part of a source, before anything else stood in any.
fn other(
    wave: &Wave,
    before: &State,
    step: &Step<'_>,
    used: &[Used],
    source: usize,
    part: usize,
) -> Option<Vector> {
    let found = used.iter().zip(&before.rows).find(|(used, _)| used.source == Some((source, part)));
    let op = step.inst.src[source];
    match found {
        Some((_, row)) => Some(*row),
        None if op == Operand::NONE || op.row().is_some() => None,
        None => {
            // CAST: at most 32.
            let op = if op.0 < 128 { Operand(op.0 + part as u16) } else { op };
            Some(Vector([wave.scalar(op, step.inst); 64]))
        }
    }
}
