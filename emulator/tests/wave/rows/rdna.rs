//! RDNA's scalar instructions, scalar loads, barriers, hardware registers, caches and what else GFX9 has otherwise.

use std::time::Duration;

use emulator::{
    isa::{Family, Generation, Target},
    wave::{Exit, FaultKind, Mode, Restriction},
};
use fastrand::Rng;

use super::{
    super::scalar::{self, Case},
    EXEC,
    bench::{Bench, M0, MEMORY_BYTES, MODE, NULL, OFF, row},
    live, rdna,
};

/// Makes a test of a function that takes a target.
macro_rules! on_rdna {
    ($($test:ident: $function:ident;)*) => {
        pub fn run_all(target: Target) {
            $($function(target);)*
        }

        $(#[test]
        fn $test() {
            rdna().for_each($function);
        })*
    };
}

on_rdna! {
    scalar_instructions_agree_with_the_model: every_scalar;
    instructions_on_exec_have_as_many_bits_as_the_wave: every_mask;
    scalar_loads_move_what_their_names_say: every_scalar_load;
    prefetches_and_probes_read_nothing: prefetches;
    modes_are_set_by_instructions_and_by_register: modes;
    counters_are_waited_for: waits;
    barriers_have_two_halves: barriers;
    the_clock_is_a_message: clock;
    two_registers_are_named_by_halves_of_m0: moves_by_m0;
    lanes_have_addresses_by_their_numbers: by_lane;
    caches_are_maintained_by_instructions_of_global_memory: caches;
}

const S0: u32 = 8;
const S1: u32 = 10;
const DST: u32 = 12;

/// What came with RDNA.
const CASES: &[Case] = &[
    scalar::case("s_pack_hl_b32_b16", [1, 1, 1], |a, b, _, c| (a >> 16 | (b & 0xffff) << 16, c)),
    scalar::case("s_add_nc_u64", [2, 2, 2], |a, b, _, c| (a.wrapping_add(b), c)),
    scalar::case("s_sub_nc_u64", [2, 2, 2], |a, b, _, c| (a.wrapping_sub(b), c)),
    scalar::case("s_mul_u64", [2, 2, 2], |a, b, _, c| (a.wrapping_mul(b), c)),
];

/// The word of a case: an instruction of the short constant has it in its name.
fn word(b: &Bench, case: &Case) -> Option<u32> {
    let (name, constant) = match case.name.split_once(" {d}, ") {
        Some((name, constant)) => (name, Some(u32::from_str_radix(constant.strip_prefix("0x")?, 16).ok()?)),
        None => (case.name, None),
    };
    let has = |family| row(b.target, family, name).is_some();
    match constant {
        Some(constant) => has(Family::Sopk).then(|| b.sopk(name, DST, constant)),
        None if has(Family::Sop2) => Some(b.sop2(name, DST, S0, S1)),
        None if has(Family::Sop1) => Some(b.sop1(name, DST, S0)),
        None => has(Family::Sopc).then(|| b.sopc(name, S0, S1)),
    }
}

fn every_scalar(target: Target) {
    let mut found = 0;
    for case in scalar::CASES.iter().chain(CASES) {
        let mut b = Bench::new(target);
        let Some(word) = word(&b, case) else { continue };
        found += 1;
        let widths = case.widths.map(|dwords| dwords.max(1));
        for input in scalar::inputs() {
            let [a, c, old, scc] = input;
            let [a, c, old] =
                [scalar::mask(a, widths[1]), scalar::mask(c, widths[2]), scalar::mask(old, widths[0])];
            for (register, value) in [(S0, a), (S1, c), (DST, old)] {
                b.set_pair(register as usize, value);
            }
            b.wave.scc = scc != 0;
            b.end(&[word]);
            let got = (scalar::mask(b.pair(DST as usize), widths[0]), b.wave.scc);
            assert_eq!(got, (case.model)(a, c, old, scc != 0), "{} {target:?} {input:x?}", case.name);
        }
    }
    assert!(found > 90, "{found} of them on {target:?}");
}

fn every_mask(target: Target) {
    for (name, model, saves) in scalar::EXEC_CASES {
        for lanes in [32, 64] {
            let name = if lanes == 32 { name.replace("_b64", "_b32") } else { (*name).to_owned() };
            let all = u64::MAX >> (64 - lanes);
            let mut b = Bench::new(target);
            b.wave.set_lanes(lanes);
            let word = b.sop1(&name, DST, S0);
            for [source, exec, old, _] in scalar::inputs() {
                b.set_pair(S0 as usize, source);
                b.set_pair(DST as usize, old);
                b.wave.exec = exec & all;
                b.end(&[word]);
                let new = model(source, exec) & all;
                let result = if *saves { exec & all } else { new };
                let got = [b.wave.exec, b.pair(DST as usize), b.wave.scc.into()];
                assert_eq!(got, [new, old & !all | result, u64::from(new != 0)], "{name} {target:?}");
            }
        }
    }
}

const BASE: u32 = 4;
const DATA: u32 = 16;

fn every_scalar_load(target: Target) {
    let sizes = [("dword", 1), ("dwordx2", 2), ("b96", 3), ("dwordx4", 4), ("dwordx8", 8), ("dwordx16", 16)];
    let parts = [("i8", 1, true), ("u8", 1, false), ("i16", 2, true), ("u16", 2, false)];
    for family in ["s_load", "s_buffer_load"] {
        // An immediate, M0, another register, and both.
        for (immediate, soffset, offset) in
            [(0x104, NULL, 0x104), (0, M0, 0x40), (0, 1, 0x40), (0x101, 1, 0x141)]
        {
            let bench = || {
                let mut b = Bench::new(target);
                let base = b.memory.address() + 64;
                b.set_pair(BASE as usize, base);
                (b.wave.sgpr[BASE as usize + 2], b.wave.sgpr[1]) = (MEMORY_BYTES as u32 - 64, 0x40);
                b.m0(0x40);
                b
            };
            for (size, dwords) in sizes {
                let name = format!("{family}_{size}");
                if row(target, Family::Smem, &name).is_none() {
                    assert!(size == "b96" && target != Target::Gfx1200, "{name}");
                    continue;
                }
                let mut b = bench();
                let want: Vec<u32> =
                    (0..dwords).map(|i| b.memory.dword(((64 + offset) & !3) + 4 * i)).collect();
                let before = b.wave.sgpr;
                let words = b.rdna_smem(&name, DATA, BASE, immediate, soffset);
                b.end(&words);
                let data = DATA as usize..DATA as usize + dwords;
                assert_eq!(b.wave.sgpr[data.clone()], want, "{name} {target:?} {immediate:#x} {soffset}");
                assert_eq!(b.wave.sgpr[data.end..], before[data.end..], "{name}");
            }
            for (part, bytes, is_signed) in parts.into_iter().filter(|_| target == Target::Gfx1200) {
                // What an odd address of two bytes means is not documented.
                if offset % bytes != 0 {
                    continue;
                }
                let mut b = bench();
                let at = 64 + offset;
                let mut raw = [0; 4];
                raw[..bytes].copy_from_slice(&b.memory.bytes()[at..at + bytes]);
                let unused = 32 - 8 * bytes as u32;
                let word = u32::from_le_bytes(raw);
                let want = if is_signed { (((word << unused) as i32) >> unused) as u32 } else { word };
                let name = format!("{family}_{part}");
                let words = b.rdna_smem(&name, DATA, BASE, immediate, soffset);
                b.end(&words);
                assert_eq!(b.wave.sgpr[DATA as usize], want, "{name} {immediate:#x} {soffset}");
            }
        }
    }
    // Addresses may lie in front of the base.
    let mut b = Bench::new(target);
    b.set_pair(BASE as usize, b.memory.address() + 64);
    let words = b.rdna_smem("s_load_dword", DATA, BASE, -8, NULL);
    b.end(&words);
    assert_eq!(b.wave.sgpr[DATA as usize], b.memory.dword(56));
}

fn prefetches(target: Target) {
    let names = [
        "s_gl1_inv",
        "s_dcache_inv",
        "s_atc_probe",
        "s_atc_probe_buffer",
        "s_prefetch_inst",
        "s_prefetch_inst_pc_rel",
        "s_prefetch_data",
        "s_buffer_prefetch_data",
        "s_prefetch_data_pc_rel",
    ];
    for name in names.into_iter().filter(|name| row(target, Family::Smem, name).is_some()) {
        let mut b = Bench::new(target);
        // Outside of all memory.
        b.set_pair(BASE as usize, 16);
        let (memory, sgpr) = (b.memory.bytes().to_vec(), b.wave.sgpr);
        let base = if name.contains("inv") || name.contains("pc_rel") { 0 } else { BASE };
        let words = b.rdna_smem(name, 0, base, 0, if name.contains("inv") { 0 } else { NULL });
        b.end(&words);
        assert!(b.memory.bytes() == memory && b.wave.sgpr == sgpr, "{name}");
    }
    let mut b = Bench::new(target);
    let version = b.sopk("s_version", 0, 5);
    b.end(&[version]);
}

/// SIMM16 of a field.
fn field(register: u32, offset: u32, size: u32) -> u32 {
    (size - 1) << 11 | offset << 6 | register
}

fn modes(target: Target) {
    let of = |bits: u32| Mode::of(target, bits);
    let mut b = Bench::new(target);
    b.end(&[b.sopp("s_round_mode", 6)]);
    assert_eq!(b.wave.mode, of(MODE | 6));
    b.end(&[b.sopp("s_denorm_mode", 9)]);
    assert_eq!(b.wave.mode, of(MODE & !0xf0 | 6 | 9 << 4));
    b.wave.mode = of(MODE);
    b.wave.sgpr[8] = 0xffff_fff6;
    b.end(&[b.sopk("s_setreg_b32", 8, field(1, 0, 4))]);
    assert_eq!(b.wave.mode, of(MODE | 6), "four bits and no more");
    b.end(&[b.sopk("s_setreg_imm32_b32", 0, field(1, 2, 2)), 0xffff_fffc]);
    assert_eq!(b.wave.mode, of(MODE | 2));
    b.end(&[b.sopk("s_getreg_b32", 7, field(1, 0, 8))]);
    assert_eq!(b.wave.sgpr[7], (MODE | 2) & 0xff);
    let sgpr = b.wave.sgpr;
    b.end(&[b.sopp("s_setprio", 2)]);
    assert_eq!(b.wave.sgpr, sgpr);
    if target.generation() < Generation::Gfx12 {
        // USER_PRIO of STATUS.
        b.end(&[b.sopk("s_getreg_b32", 7, field(2, 3, 2))]);
        assert_eq!(b.wave.sgpr[7], 2);
    }
    // What vectors compute depends on it: -1/4 and -3/4 are rounded.
    b.wave.mode = of(MODE);
    for (round, want) in [(0, 1.0f32), (1, 1.0 + f32::EPSILON), (2, 1.0), (3, 1.0)] {
        b.end(&[b.sopp("s_round_mode", round), 0x0600_0000 | 6 << 17 | 1 << 9 | 256]);
        assert_eq!(b.wave.vgpr[6].0[0], 0, "of zeros");
        b.v(0).fill(1.0f32.to_bits());
        b.v(1).fill((f32::EPSILON / 4.0).to_bits());
        b.end(&[b.sopp("s_round_mode", round), 0x0600_0000 | 6 << 17 | 1 << 9 | 256]);
        assert_eq!(f32::from_bits(b.v(6)[0]), want, "{target:?} {round}");
        b.v(0).fill(0);
        b.v(1).fill(0);
    }
}

fn waits(target: Target) {
    for name in ["s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt"] {
        if row(target, Family::Sopk, name).is_none() {
            continue;
        }
        let mut b = Bench::new(target);
        let sgpr = b.wave.sgpr;
        // Of what NULL counts.
        let null = if target.generation() > Generation::Gfx10 { M0 } else { NULL };
        b.end(&[b.sopk(name, null, 0)]);
        assert_eq!(b.wave.sgpr, sgpr, "{name}");
    }
}

fn barriers(target: Target) {
    if target.generation() < Generation::Gfx12 {
        return;
    }
    const WORKGROUP: u32 = 193;
    const NONE: u32 = 128;
    let mut b = Bench::new(target);
    let mark = b.sop1("s_mov_b32", 5, 129);
    b.end(&[b.sop1("s_barrier_signal", 0, WORKGROUP), mark]);
    assert_eq!(b.wave.sgpr[5], 1, "to signal is not to wait");
    b.wave.sgpr[5] = 0;
    assert_eq!(b.run(&[b.sopp("s_barrier_wait", 0xffff), mark]), Exit::Barrier);
    assert_eq!((b.wave.sgpr[5], b.resume(), b.wave.sgpr[5]), (0, Exit::End, 1));
    // Barrier 0 is none.
    b.end(&[b.sop1("s_barrier_signal", 0, NONE), b.sopp("s_barrier_wait", 0)]);
    let other = b.fault(&[b.sopp("s_barrier_wait", 0xfffe)]);
    assert!(matches!(other, FaultKind::Illegal { why: Restriction::NoNamedBarriers, .. }));
    assert_eq!(b.run(&[b.sop1("s_sleep_var", 0, 5), b.sop1("s_mov_b32", 6, 129)]), Exit::Yield);
    assert_eq!((b.resume(), b.wave.sgpr[6]), (Exit::End, 1));
}

fn clock(target: Target) {
    const REALTIME: u32 = 131;
    if target.generation() < Generation::Gfx11 {
        return;
    }
    let mut b = Bench::new(target);
    let mut read = |name: &str| {
        b.end(&[b.sop1(name, 8, REALTIME)]);
        b.pair(8)
    };
    let first = read("s_sendmsg_rtn_b64");
    std::thread::sleep(Duration::from_millis(2));
    // A hundred million ticks a second; the narrow form gives the lower half.
    let (narrow, second) = (read("s_sendmsg_rtn_b32"), read("s_sendmsg_rtn_b64"));
    assert!((200_000..6_000_000_000).contains(&(second - first)), "{first} {second}");
    assert!((second as u32).wrapping_sub(narrow as u32) < u32::MAX / 2, "{narrow} {second}");
    assert!(matches!(b.fault(&[b.sop1("s_sendmsg_rtn_b64", 8, 128)]), FaultKind::Unimplemented { .. }));
}

fn moves_by_m0(target: Target) {
    let mut b = Bench::new(target);
    for register in 0..100 {
        b.wave.sgpr[register] = 1000 + register as u32;
    }
    b.m0(7 << 16 | 3);
    b.end(&[b.sop1("s_movrelsd_2_b32", 60, 20)]);
    assert_eq!((b.wave.sgpr[67], b.wave.sgpr[60]), (1023, 1060), "{target:?}");
}

fn by_lane(target: Target) {
    let names = match target.generation() {
        Generation::Gfx10 => ["global_load_dword_addtid", "global_store_dword_addtid"],
        _ => ["global_load_addtid_b32", "global_store_addtid_b32"],
    };
    let mut b = Bench::new(target);
    b.wave.exec = EXEC;
    b.fill(8..10);
    let base = b.memory.address();
    b.set_pair(4, base);
    let old = *b.v(8);
    let words = b.flat(names[0], 0, [8, 4, 0, 0], 0x40);
    b.end(&words);
    for (lane, old) in old.into_iter().enumerate() {
        let want = if live(lane) { b.memory.dword(0x40 + 4 * lane) } else { old };
        assert_eq!(b.v(8)[lane], want, "{target:?} lane {lane}");
    }
    let mut want = b.memory.bytes().to_vec();
    for lane in (0..64).filter(|lane| live(*lane)) {
        let word = b.v(9)[lane];
        want[0x400 + 4 * lane..0x404 + 4 * lane].copy_from_slice(&word.to_le_bytes());
    }
    let words = b.flat(names[1], 0, [0, 4, 9, 0], 0x400);
    b.end(&words);
    assert!(b.memory.bytes() == want, "{target:?}");
}

fn caches(target: Target) {
    for name in ["global_inv", "global_wb", "global_wbinv"] {
        if row(target, Family::Global, name).is_none() {
            continue;
        }
        let mut b = Bench::new(target);
        let (memory, sgpr) = (b.memory.bytes().to_vec(), b.wave.sgpr);
        let words = b.flat(name, 0, [0, OFF, 0, 0], 0);
        b.end(&words);
        assert!(b.memory.bytes() == memory && b.wave.sgpr == sgpr, "{name}");
    }
}

#[test]
fn loads_and_stores_of_32_lanes_leave_the_others_alone() {
    for target in rdna() {
        let mut random = Rng::with_seed(32);
        for _ in 0..16 {
            let mut b = Bench::new(target);
            b.wave.set_lanes(32);
            b.wave.exec = random.u32(..).into();
            b.fill(8..16);
            let start = b.memory.address();
            b.set_wide(4, |lane| if lane < 32 { start + 16 * lane as u64 } else { 3 });
            let exec = b.wave.exec;
            let (old, words) = (*b.v(8), b.flat("global_load_dword", 0, [8, OFF, 0, 4], 4));
            b.end(&words);
            for (lane, old) in old.into_iter().enumerate().take(32) {
                let want = if exec >> lane & 1 != 0 { b.memory.dword(16 * lane + 4) } else { old };
                assert_eq!(b.v(8)[lane], want, "{target:?} lane {lane}");
            }
            let mut want = b.memory.bytes().to_vec();
            for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
                want[16 * lane..16 * lane + 4].copy_from_slice(&b.wave.vgpr[9].0[lane].to_le_bytes());
            }
            let words = b.flat("global_store_dword", 0, [0, OFF, 9, 4], 0);
            b.end(&words);
            assert!(b.memory.bytes() == want, "{target:?}");
            // Both halves of a pair are exchanged within the wave.
            b.v(4).iter_mut().for_each(|v| *v = random.u32(..));
            let (from, data, old) = (*b.v(4), *b.v(9), *b.v(10));
            let words = b.ds("ds_bpermute_b32", [10, 0, 9, 4], 0);
            b.end(&words);
            for lane in 0..32 {
                let source = from[lane] as usize / 4 % 32;
                let moved = if exec >> source & 1 != 0 { data[source] } else { 0 };
                assert_eq!(b.v(10)[lane], if exec >> lane & 1 != 0 { moved } else { old[lane] });
            }
        }
    }
}
