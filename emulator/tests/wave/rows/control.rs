//! SOPP and the other instructions that decide what runs next.

use emulator::{
    isa::{Family, Generation, Target},
    wave::{Exit, FaultKind, Mode},
};

use super::{
    bench::{Bench, MODE, ZERO, row},
    on_each_target, on_gfx9,
};

on_each_target! {
    branches_are_taken_when_their_condition_holds: every_branch;
    jumps_go_to_their_addresses_and_leave_the_next_one: every_jump;
    ends_stop_the_wave: every_end;
    messages_reach_the_host: every_message;
    instructions_that_only_cost_time_change_nothing: what_only_costs_time;
    relative_moves_reach_pairs: moves_by_m0;
}

on_gfx9! {
    forks_run_the_smaller_part_first_and_join_once: forks;
    vector_instructions_are_indexed_or_skipped: vector_modes;
}

/// The scalar source code of 1.
const ONE: u32 = 129;
const VCC: usize = 106;
/// v_mov_b32 v`dst`, v`src`.
fn v_mov(dst: u32, src: u32) -> u32 {
    0x7e00_0200 | dst << 17 | 0x100 | src
}

/// A condition's instruction, a state in which it branches, and one in which it does not.
type Branch = (&'static str, fn(&mut Bench), Option<fn(&mut Bench)>);

const BRANCHES: &[Branch] = &[
    ("s_branch", |_| {}, None),
    ("s_cbranch_scc0", |b| b.wave.scc = false, Some(|b| b.wave.scc = true)),
    ("s_cbranch_scc1", |b| b.wave.scc = true, Some(|b| b.wave.scc = false)),
    ("s_cbranch_vccz", |b| b.set_pair(VCC, 0), Some(|b| b.set_pair(VCC, 1 << 63))),
    ("s_cbranch_vccnz", |b| b.set_pair(VCC, 1 << 63), Some(|b| b.set_pair(VCC, 0))),
    ("s_cbranch_execz", |b| b.wave.exec = 0, Some(|b| b.wave.exec = 1 << 40)),
    ("s_cbranch_execnz", |b| b.wave.exec = 1 << 40, Some(|b| b.wave.exec = 0)),
];

pub fn every_branch(target: Target) {
    let taken = |name: &str, state: fn(&mut Bench)| {
        let mut b = Bench::new(target);
        state(&mut b);
        let program = [b.sopp(name, 1), b.sop1("s_mov_b32", 5, ONE)];
        b.end(&program);
        b.wave.sgpr[5] == 0
    };
    for (name, yes, no) in BRANCHES {
        assert!(taken(name, *yes), "{name} {target:?}");
        assert!(no.is_none_or(|no| !taken(name, no)), "{name} {target:?}");
    }
    // There is no debugger to set what these ask for.
    let of_debuggers = ["cdbgsys", "cdbguser", "cdbgsys_or_user", "cdbgsys_and_user"];
    for name in of_debuggers.into_iter().filter(|_| target.generation() < Generation::Gfx12) {
        assert!(!taken(&format!("s_cbranch_{name}"), |_| {}), "{name} {target:?}");
    }
    // Backwards: over the mov, to the end that the first branch jumps over.
    let mut b = Bench::new(target);
    let program = [b.sopp("s_branch", 1), b.sopp("s_endpgm", 0), b.sopp("s_branch", -2i32 as u32)];
    b.end(&program);
}

pub fn every_jump(target: Target) {
    let mut b = Bench::new(target);
    let (base, mark) = (b.base(), b.sop1("s_mov_b32", 5, ONE));
    b.end(&[b.sopk("s_call_b64", 10, 1), mark]);
    assert_eq!((b.pair(10), b.wave.sgpr[5]), (base + 4, 0));

    b.end(&[b.sop1("s_getpc_b64", 10, 0)]);
    assert_eq!(b.pair(10), base + 4);

    // The two lowest bits of an address do not count.
    b.set_pair(12, base + 11);
    b.end(&[b.sop1("s_setpc_b64", 0, 12), mark]);
    assert_eq!(b.wave.sgpr[5], 0);

    b.set_pair(10, 0);
    b.end(&[b.sop1("s_swappc_b64", 10, 12), mark]);
    assert_eq!((b.pair(10), b.wave.sgpr[5]), (base + 4, 0));

    let mut returns = vec![("s_rfe_b64", b.sop1("s_rfe_b64", 0, 12))];
    if !target.is_rdna() {
        returns.push(("s_rfe_restore_b64", b.sop2("s_rfe_restore_b64", 0, 12, 14)));
    }
    for (name, word) in returns {
        let fault = b.fault(&[word]);
        assert!(matches!(fault, FaultKind::Illegal { name: n, .. } if n == name), "{fault}");
    }
}

/// s[40:41] pass, s[42:43] where to; marks the failing path's EXEC in s[50:51], the passing one's in
/// s[52:53].
pub fn forks(target: Target) {
    const LIVE: u64 = 0xffff_ffff_0000;
    let cases = [
        (0xff0000, true),
        (0xffff_0000, true), // as many as fail
        (0xffff_ffff_0fff_0000, false),
        (!0xff0000, false),
    ];
    for (pass, first_passes) in cases {
        for immediate in [false, true] {
            let mut b = Bench::new(target);
            let base = b.base();
            b.wave.exec = LIVE;
            b.set_pair(40, pass);
            b.set_pair(42, base + 12);
            let fork = if immediate {
                b.sopk("s_cbranch_i_fork", 40, 2)
            } else {
                b.sop2("s_cbranch_g_fork", 0, 40, 42)
            };
            let exec = 126;
            let program = [
                fork,
                b.sop1("s_mov_b64", 50, exec),
                b.sopp("s_branch", 1),
                b.sop1("s_mov_b64", 52, exec),
                b.sop1("s_cbranch_join", 0, 44),
            ];
            b.end(&program);
            assert_eq!([b.pair(50), b.pair(52)], [LIVE & !pass, LIVE & pass], "{target:?} {pass:#x}");
            // What waited: its mask and its address.
            let later = if first_passes { (LIVE & !pass, base + 4) } else { (LIVE & pass, base + 12) };
            assert_eq!((b.pair(0), b.pair(2)), later, "{target:?} {pass:#x}");
            assert_eq!((b.wave.mode.forks(), b.wave.exec), (0, later.0));
        }
    }
    // No lane or every lane passes: no fork.
    for (pass, marked) in [(0, [LIVE, 0]), (u64::MAX, [0, LIVE])] {
        let mut b = Bench::new(target);
        b.wave.exec = LIVE;
        b.set_pair(40, pass);
        b.set_pair(42, b.base() + 12);
        let program = [
            b.sop2("s_cbranch_g_fork", 0, 40, 42),
            b.sop1("s_mov_b64", 50, 126),
            b.sopp("s_endpgm", 0),
            b.sop1("s_mov_b64", 52, 126),
        ];
        b.end(&program);
        assert_eq!([b.pair(50), b.pair(52)], marked);
        assert_eq!((b.wave.mode.forks(), b.pair(0)), (0, 0));
    }
    // Forks nest: the second entry stands behind the first.
    let mut b = Bench::new(target);
    b.wave.mode = Mode(MODE | 3 << 29);
    b.wave.exec = 0xf;
    b.set_pair(12, 0x6);
    b.set_pair(14, b.base() + 4);
    b.wave.sgpr[44] = 3;
    b.end(&[b.sop1("s_cbranch_join", 0, 44)]);
    assert_eq!(b.wave.exec, 0xf, "the second time goes on");
    b.wave.sgpr[44] = 2;
    b.wave.mode = Mode(MODE | 4 << 29);
    b.end(&[b.sop1("s_cbranch_join", 0, 44)]);
    assert_eq!((b.wave.exec, b.wave.mode.forks()), (0x6, 3), "the first time takes entry 3");
}

pub fn every_end(target: Target) {
    let mut b = Bench::new(target);
    let mark = b.sop1("s_mov_b32", 5, ONE);
    let ends = ["s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"];
    let ends = ends.into_iter().filter(|name| row(target, Family::Sopp, name).is_some());
    let ends: Vec<_> = ends.map(|name| b.sopp(name, 0)).collect();
    for end in ends.into_iter().chain([b.sopp("s_setkill", 1)]) {
        b.end(&[end, mark]);
        assert_eq!(b.wave.sgpr[5], 0, "{end:#x}");
    }
    b.end(&[b.sopp("s_setkill", 0), b.sop1("s_mov_b32", 6, ONE)]);
    assert_eq!(b.wave.sgpr[6], 1);

    if target.generation() < Generation::Gfx12 {
        assert_eq!(b.run(&[b.sopp("s_barrier", 0), mark]), Exit::Barrier);
        assert_eq!(b.wave.sgpr[5], 0);
        assert_eq!((b.resume(), b.wave.sgpr[5]), (Exit::End, 1));
    }
    assert_eq!(b.run(&[b.sopp("s_sleep", 4), b.sop1("s_mov_b32", 7, ONE)]), Exit::Yield);
    assert_eq!((b.resume(), b.wave.sgpr[7]), (Exit::End, 1));

    assert_eq!(b.fault(&[b.sopp("s_sethalt", 1)]), FaultKind::Halt);
    b.end(&[b.sopp("s_sethalt", 0)]);
    assert_eq!(b.fault(&[b.sopp("s_trap", 2)]), FaultKind::Trap { id: 2 });
    assert_eq!(b.fault(&[b.sopp("s_trap", 0x105)]), FaultKind::Trap { id: 5 });
    // A break point without a debugger.
    b.end(&[b.sopp("s_trap", 3)]);
}

pub fn every_message(target: Target) {
    let mut b = Bench::new(target);
    b.m0(77);
    b.end(&[b.sopp("s_sendmsg", 1)]);
    assert_eq!(b.fault(&[b.sopp("s_sendmsghalt", 0x12)]), FaultKind::Halt);
    assert_eq!(*b.host.messages.lock().unwrap(), [(1, 77), (0x12, 77)]);
    for name in ["s_sendmsg", "s_sendmsghalt"] {
        let fault = b.fault(&[b.sopp(name, 10)]);
        assert!(
            matches!(fault, FaultKind::Illegal { .. }),
            "the doorbell is none of a kernel's business: {fault}"
        );
    }
}

pub fn what_only_costs_time(target: Target) {
    for name in [
        "s_nop",
        "s_wakeup",
        "s_waitcnt",
        "s_icache_inv",
        "s_incperflevel",
        "s_decperflevel",
        "s_ttracedata",
        "s_ttracedata_imm",
        "s_set_inst_prefetch_distance",
        "s_inst_prefetch",
        "s_clause",
        "s_delay_alu",
        "s_wait_alu",
        "s_waitcnt_depctr",
        "s_wait_idle",
        "s_wait_event",
        "s_wait_loadcnt",
        "s_wait_storecnt",
        "s_wait_samplecnt",
        "s_wait_bvhcnt",
        "s_wait_expcnt",
        "s_wait_dscnt",
        "s_wait_kmcnt",
        "s_wait_loadcnt_dscnt",
        "s_wait_storecnt_dscnt",
    ] {
        if row(target, Family::Sopp, name).is_none() {
            continue;
        }
        let mut b = Bench::new(target);
        b.fill(0..8);
        b.wave.scc = true;
        b.wave.exec = 0x1234_5678_9abc_def0;
        b.set_pair(20, 0x1122_3344_5566_7788);
        let (sgpr, vgpr) = (b.wave.sgpr, b.wave.vgpr.clone());
        let memory = b.memory.bytes().to_vec();
        b.end(&[b.sopp(name, 0)]);
        assert_eq!((b.wave.sgpr, b.wave.exec, b.wave.scc), (sgpr, 0x1234_5678_9abc_def0, true), "{name}");
        assert!(b.wave.vgpr.iter().zip(vgpr.iter()).all(|(a, b)| a.0 == b.0), "{name}");
        assert!(b.memory.bytes() == memory && b.wave.mode == Mode::of(target, MODE), "{name}");
    }
}

pub fn moves_by_m0(target: Target) {
    let mut b = Bench::new(target);
    for register in 0..100 {
        b.wave.sgpr[register] = 1000 + register as u32;
    }
    b.m0(6);
    b.end(&[b.sop1("s_movrels_b32", 60, 20)]);
    assert_eq!(b.wave.sgpr[60], 1026);
    b.end(&[b.sop1("s_movrels_b64", 60, 20)]);
    assert_eq!([b.wave.sgpr[60], b.wave.sgpr[61]], [1026, 1027]);
    b.end(&[b.sop1("s_movreld_b32", 70, 30)]);
    assert_eq!([b.wave.sgpr[76], b.wave.sgpr[77]], [1030, 1077]);
    b.end(&[b.sop1("s_movreld_b64", 80, 30)]);
    assert_eq!([b.wave.sgpr[86], b.wave.sgpr[87], b.wave.sgpr[80]], [1030, 1031, 1080]);
    // Behind the last register a source reads s0 and a destination is dropped.
    b.m0(90);
    b.end(&[b.sop1("s_movrels_b32", 60, 20)]);
    assert_eq!(b.wave.sgpr[60], 1000);
    let before = b.wave.sgpr;
    b.end(&[b.sop1("s_movreld_b32", 20, 30)]);
    assert_eq!(b.wave.sgpr, before);
}

pub fn vector_modes(target: Target) {
    let mut b = Bench::new(target);
    for register in 0..12 {
        b.v(register).fill(100 + register as u32);
    }
    b.m0(0xabcd_0000);
    b.wave.sgpr[20] = 0x702;
    // SRC0 by 2.
    b.end(&[b.sopc("s_set_gpr_idx_on", 20, 1), v_mov(5, 0)]);
    assert_eq!((b.v(5)[3], b.wave.sgpr[124], b.wave.mode.gpr_index()), (102, 0xabcd_1002, true));
    // The destination instead.
    b.end(&[b.sopp("s_set_gpr_idx_mode", 8), v_mov(6, 0)]);
    assert_eq!((b.v(8)[3], b.v(6)[3], b.wave.sgpr[124]), (100, 106, 0xabcd_8002));
    b.wave.sgpr[20] = 3;
    b.end(&[b.sop1("s_set_gpr_idx_idx", 0, 20), v_mov(6, 1)]);
    assert_eq!((b.v(9)[3], b.wave.sgpr[124]), (101, 0xabcd_8003));
    b.end(&[b.sopp("s_set_gpr_idx_off", 0), v_mov(6, 4)]);
    assert_eq!((b.v(6)[3], b.wave.mode), (104, Mode(MODE)));

    // Bit 5 of s20 says whether vector instructions are skipped; those of the scalar unit never are.
    b.wave.sgpr[20] = 1 << 5;
    let read = b.ds("ds_read_b32", [7, 0, 0, 11], 0);
    let five = 133;
    b.end(&[b.sopc("s_setvskip", 20, five), v_mov(6, 5), read[0], read[1], b.sop1("s_mov_b32", 21, ONE)]);
    assert_eq!((b.v(6)[0], b.v(7)[0], b.wave.sgpr[21]), (104, 107, 1));
    assert_eq!(b.wave.mode, Mode(MODE | Mode::VSKIP));
    b.end(&[b.sopc("s_setvskip", ZERO, five), v_mov(6, 4), v_mov(6, 1)]);
    assert_eq!((b.v(6)[0], b.wave.mode), (101, Mode(MODE)));
}
