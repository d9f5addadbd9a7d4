//! Scalar instructions and their pseudocode.

use std::collections::HashMap;

use fastrand::Rng;

use super::{
    super::{Lab, bit_pattern, random_lanes},
    agree,
    eval::Machine,
    raw,
    syntax::Statement,
};
use crate::isa::{Family, Row, Ty, flag};

/// Registers of the sources and of the destination.
const SOURCES: [usize; 2] = [8, 12];
const DST: usize = 16;

/// What is no computation on the operands: jumps, hardware registers, messages, registers by number.
const NO_COMPUTATION: [&str; 13] = [
    "pc_b64", "rfe", "getreg", "setreg", "mov", "sendmsg", "barrier", "wait", "sleep", "fork", "join",
    "gpr_idx", "vskip",
];

pub(super) fn applies(row: &'static Row) -> bool {
    let is_plain_move = ["s_mov_b32", "s_mov_b64", "s_movk_i32", "s_cmov_b32", "s_cmov_b64", "s_cmovk_i32"];
    !row.shape.has(flag::BRANCH | flag::VERSION | flag::GPR_IDX)
        && (is_plain_move.contains(&row.name) || !NO_COMPUTATION.iter().any(|part| row.name.contains(part)))
}

pub(super) fn compare(
    row: &'static Row,
    code: &[Statement],
    lab: &mut Lab,
    random: &mut Rng,
) -> Result<(), String> {
    for _ in 0..16 {
        once(row, code, lab, random)?;
    }
    Ok(())
}

fn pattern(random: &mut Rng, ty: Ty) -> u64 {
    match ty {
        Ty::B64 => bit_pattern(random, 64),
        Ty::F16 => bit_pattern(random, 16) | random.u64(..) << 16,
        _ => bit_pattern(random, 32),
    }
}

fn once(row: &'static Row, code: &[Statement], lab: &mut Lab, random: &mut Rng) -> Result<(), String> {
    let target = lab.wave.target;
    let mask_of_half = row.name.contains("exec_b32");
    let lanes = match target.is_rdna() {
        true if mask_of_half => 32,
        true if row.name.contains("exec_b64") => 64,
        true => random_lanes(random),
        false => 64,
    };
    lab.set_lanes(lanes);
    let [mut a, b] = [0, 1].map(|n| pattern(random, row.shape.src[n]));
    if random.usize(..4) == 0 {
        a = b;
    }
    // Of a pair that is not all destination the pseudocode looks at all.
    let old = if row.shape.dst.dwords() == 1 { random.u32(..).into() } else { random.u64(..) };
    let (literal, scc) = (bit_pattern(random, 32) as u32, random.bool());
    let immediate = bit_pattern(random, 16) as u32;
    let exec = random.u64(..) & u64::MAX >> (64 - lanes);
    lab.set_mask(SOURCES[0], a);
    lab.set_mask(SOURCES[1], b);
    lab.set_mask(DST, old);
    (lab.wave.exec, lab.wave.scc) = (exec, scc);
    let before = lab.wave.sgpr;

    let (opcode, dst, [s0, s1]) =
        (u32::from(row.opcode_on(target)), DST as u32, SOURCES.map(|source| source as u32));
    let word = match row.family {
        Family::Sop1 => 0xbe80_0000 | dst << 16 | opcode << 8 | s0,
        Family::Sop2 => 0x8000_0000 | opcode << 23 | dst << 16 | s1 << 8 | s0,
        Family::Sopc => 0xbf00_0000 | opcode << 16 | s1 << 8 | s0,
        _ => 0xb000_0000 | opcode << 23 | dst << 16 | immediate,
    };
    let has_literal = row.shape.has(flag::MADMK | flag::MADAK);
    lab.try_execute(&[word, literal][..1 + usize::from(has_literal)])?;

    let sources = if row.family == Family::Sopk { [immediate.into(), old] } else { [a, b] };
    let mut names = HashMap::new();
    for (name, value) in [
        ("S0", sources[0]),
        ("S1", sources[1]),
        ("D0", old),
        ("SCC", scc.into()),
        ("EXEC", exec),
        ("IEEE", lab.wave.mode.ieee().into()),
        ("SIMM16", immediate.into()),
        ("SIMM32", literal.into()),
    ] {
        names.insert(name.into(), raw(value));
    }
    // Comparisons of the short constant name the destination S0.
    if row.name.starts_with("s_cmpk") {
        names.insert("S0".into(), raw(old));
    }
    let mut machine = Machine::new(names);
    machine.run(code)?;
    let width = machine.written.min(64);
    let low = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
    let (got, want) = (lab.mask(DST) & low, machine.names["D0"].bits as u64 & low);
    let result =
        || format!("of {a:x} {b:x} {immediate:x} {literal:x} over {old:x} {scc}: {got:x}, not {want:x}");
    if width > 0 && !agree(row.name, got, want, width) {
        return Err(result());
    }
    let want_scc = machine.names["SCC"].bits != 0;
    if lab.wave.scc != want_scc {
        return Err(format!("{}; SCC is {}", result(), lab.wave.scc));
    }
    let want_exec = machine.names["EXEC"].bits as u64;
    if lab.wave.exec != want_exec {
        return Err(format!("{}; EXEC is {:x}, not {want_exec:x}", result(), lab.wave.exec));
    }
    let written = if width == 0 { 0 } else { width.div_ceil(32) as usize };
    if let Some(n) = (0..128).find(|n| !(DST..DST + written).contains(n) && lab.wave.sgpr[*n] != before[*n]) {
        return Err(format!("writes s{n}"));
    }
    Ok(())
}
