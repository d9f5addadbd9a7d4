//! Every row of the scalar and memory tables, on each target that has it, against values computed here.

mod atomic;
mod bench;
mod buffer;
mod control;
mod flat;
mod format;
mod gws;
mod hardware;
mod lds;
mod names;
mod rdna;
mod smem;

use std::collections::BTreeSet;

use emulator::isa::{Family, Row, Target, table};

use super::{rmw, scalar};

/// Lanes 0, 1, 5 and 62 are dead.
const EXEC: u64 = !(0x23 | 1 << 62);

fn live(lane: usize) -> bool {
    EXEC >> lane & 1 == 1
}

/// Vector registers: addresses, what is stored, what is loaded.
const ADDR: usize = 4;
const DATA: usize = 8;
const DST: usize = 16;

/// How a load turns memory into registers.
#[derive(Clone, Copy)]
enum Load {
    Zero,
    Sign,
    /// Into the low half; the high half stays. Whether the byte is sign-extended.
    Low(bool),
    /// Into the high half.
    High(bool),
    Words,
}

/// Names of flat, global, scratch and buffer loads behind `load_`, and of LDS reads behind `ds_read_`; bytes.
const LOADS: &[(&str, &str, usize, Load)] = &[
    ("ubyte", "u8", 1, Load::Zero),
    ("sbyte", "i8", 1, Load::Sign),
    ("ushort", "u16", 2, Load::Zero),
    ("sshort", "i16", 2, Load::Sign),
    ("ubyte_d16", "u8_d16", 1, Load::Low(false)),
    ("ubyte_d16_hi", "u8_d16_hi", 1, Load::High(false)),
    ("sbyte_d16", "i8_d16", 1, Load::Low(true)),
    ("sbyte_d16_hi", "i8_d16_hi", 1, Load::High(true)),
    ("short_d16", "u16_d16", 2, Load::Low(false)),
    ("short_d16_hi", "u16_d16_hi", 2, Load::High(false)),
    ("dword", "b32", 4, Load::Words),
    ("dwordx2", "b64", 8, Load::Words),
    ("dwordx3", "b96", 12, Load::Words),
    ("dwordx4", "b128", 16, Load::Words),
];

/// Names of stores behind `store_` and `ds_write_`; bytes; whether they come from the high half.
const STORES: &[(&str, &str, usize, bool)] = &[
    ("byte", "b8", 1, false),
    ("byte_d16_hi", "b8_d16_hi", 1, true),
    ("short", "b16", 2, false),
    ("short_d16_hi", "b16_d16_hi", 2, true),
    ("dword", "b32", 4, false),
    ("dwordx2", "b64", 8, false),
    ("dwordx3", "b96", 12, false),
    ("dwordx4", "b128", 16, false),
];

/// What four registers that held `old` hold after a load of `raw`.
fn loaded(how: Load, raw: &[u8], old: [u32; 4]) -> [u32; 4] {
    let mut bytes = [0; 16];
    bytes[..raw.len()].copy_from_slice(raw);
    let word = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    let unused = 32 - 8 * raw.len().min(4) as u32;
    let signed = ((word << unused) as i32 >> unused) as u32;
    let mut new = old;
    match how {
        Load::Zero => new[0] = word,
        Load::Sign => new[0] = signed,
        Load::Low(sign) => new[0] = old[0] & 0xffff_0000 | (if sign { signed } else { word }) & 0xffff,
        Load::High(sign) => new[0] = old[0] & 0xffff | (if sign { signed } else { word }) << 16,
        Load::Words => {
            for (new, word) in new.iter_mut().zip(raw.chunks(4)) {
                *new = u32::from_le_bytes(word.try_into().unwrap());
            }
        }
    }
    new
}

/// What a store of four registers leaves in memory.
fn stored(registers: [u32; 4], bytes: usize, high: bool) -> Vec<u8> {
    let all: Vec<u8> = registers.iter().flat_map(|r| r.to_le_bytes()).collect();
    let skip = if high { 2 } else { 0 };
    all[skip..skip + bytes].to_vec()
}

/// The families whose rows are tested here.
const FAMILIES: [Family; 13] = [
    Family::Sop1,
    Family::Sop2,
    Family::Sopk,
    Family::Sopc,
    Family::Sopp,
    Family::Smem,
    Family::Ds,
    Family::Flat,
    Family::Global,
    Family::Scratch,
    Family::Mubuf,
    Family::Mtbuf,
    Family::LdsDirect,
];

/// Of [`Target::SETS`] those of RDNA.
fn rdna() -> impl Iterator<Item = Target> {
    Target::SETS.into_iter().filter(|target| target.is_rdna())
}

/// The tests of one instruction at a time that these modules have; those of the modules `scalar` and `rmw`
/// run compiled kernels and name their rows.
fn run_all() {
    for target in Target::GFX9 {
        buffer::every_load_to_lds(target);
        control::forks(target);
        control::vector_modes(target);
        flat::every_load_to_lds(target);
        hardware::every_access(target);
        lds::every_transposed_read(target);
        smem::every_load_and_store(target);
        smem::cache_maintenance(target);
    }
    for target in Target::SETS {
        atomic::every_memory_atomic(target);
        atomic::every_vector_atomic(target);
        atomic::every_float_atomic(target);
        buffer::every_load_and_store(target);
        buffer::cache_maintenance(target);
        control::every_branch(target);
        control::every_jump(target);
        control::every_end(target);
        control::every_message(target);
        control::what_only_costs_time(target);
        control::moves_by_m0(target);
        flat::every_load_and_store(target);
        format::every_instruction(target);
        gws::every_instruction(target);
        lds::every_read_and_write(target);
        lds::every_pair(target);
        lds::every_exchange(target);
        lds::every_lane_permutation(target);
        lds::direct_loads(target);
        smem::clocks(target);
    }
    for target in rdna() {
        rdna::run_all(target);
    }
}

/// Whether tests beside these run a row of RDNA: floats of the scalar ALU, those of the vector ALU; the rest, those of a wave or of
/// its workgroup. The report of coverage counts all.
fn is_elsewhere(row: &Row) -> bool {
    const RUN_BESIDE: [&str; 7] = [
        "s_subvector_loop_",
        "s_barrier_",
        "s_get_barrier_state",
        "s_alloc_vgpr",
        "load_block",
        "store_block",
        "global_load_tr_",
    ];
    row.name.starts_with("s_") && row.name.contains("_f")
        || RUN_BESIDE.iter().any(|part| row.name.contains(part))
}

/// Rows of [`FAMILIES`] on a target.
fn rows(target: Target) -> impl Iterator<Item = &'static Row> {
    let tables = table::of(target).iter().filter(|(family, _)| FAMILIES.contains(family));
    tables.flat_map(|(_, rows)| rows.iter()).filter(move |row| row.targets.has(target))
}

#[test]
fn every_scalar_and_memory_row_has_a_test_on_each_target() {
    run_all();
    let executed = bench::executed();
    let named: BTreeSet<String> = scalar::rows().chain(rmw::rows()).collect();
    let mut missing = vec![];
    for target in Target::SETS {
        for row in rows(target).filter(|row| emulator::wave::semantics(row).is_some()) {
            let by_name = if target.is_rdna() { is_elsewhere(row) } else { named.contains(row.name) };
            if !executed.contains(&(target as u8, row.family, row.name)) && !by_name {
                missing.push((target, row.name));
            }
        }
    }
    assert!(missing.is_empty(), "{} rows without a test: {missing:?}", missing.len());
}

#[test]
fn every_scalar_and_memory_row_of_gfx9_has_semantics() {
    for row in rows(Target::Gfx90a).chain(rows(Target::Gfx942)).chain(rows(Target::Gfx950)) {
        assert!(emulator::wave::semantics(row).is_some(), "{}", row.name);
    }
}

/// Makes a test of a function that takes a target.
macro_rules! on_each_target {
    ($($test:ident: $function:ident;)*) => {$(
        #[test]
        fn $test() {
            Target::SETS.into_iter().for_each($function);
        }
    )*};
}
use on_each_target;

/// As [`on_each_target`], of what RDNA does not have or has otherwise.
macro_rules! on_gfx9 {
    ($($test:ident: $function:ident;)*) => {$(
        #[test]
        fn $test() {
            Target::GFX9.into_iter().for_each($function);
        }
    )*};
}
use on_gfx9;

/// The loads that may go to LDS.
fn loads_to_lds(target: Target) -> impl Iterator<Item = &'static (&'static str, &'static str, usize, Load)> {
    let wide: &[&str] = if target == Target::Gfx950 { &["dwordx3", "dwordx4"] } else { &[] };
    LOADS.iter().filter(move |(name, _, _, how)| {
        matches!(how, Load::Zero | Load::Sign) || *name == "dword" || wide.contains(name)
    })
}

/// What a lane's datum is in LDS: a dword or more.
fn in_lds(how: Load, raw: &[u8]) -> Vec<u8> {
    let words = loaded(how, raw, [0; 4]);
    words[..raw.len().div_ceil(4)].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Whether the target is the older one.
fn is_gfx90a(target: Target) -> bool {
    target == Target::Gfx90a
}
