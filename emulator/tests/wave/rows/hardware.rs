//! `s_getreg`, `s_setreg` and what else shows in hardware registers.

use emulator::{isa::Target, wave::Mode};

use super::{
    bench::{Bench, LDS_BYTES, MODE, SMEM_IMM},
    on_gfx9,
};

on_gfx9! {
    hardware_registers_read_as_the_manual_lays_them_out: every_access;
    the_registers_of_trap_handlers_are_closed_to_kernels: trap_registers;
}

/// SIMM16 of a field.
fn field(register: u32, offset: u32, size: u32) -> u32 {
    (size - 1) << 11 | offset << 6 | register
}

fn trap_registers(target: Target) {
    let mut b = Bench::new(target);
    b.wave.sgpr[8] = 5;
    b.set_pair(10, b.memory.address());
    let (ttmp0, ttmp4) = (108, 112);
    b.end(&[b.sop1("s_mov_b32", ttmp0, 8), b.sop1("s_mov_b64", ttmp0 + 2, 8), b.sop1("s_mov_b32", 9, ttmp0)]);
    assert_eq!(b.wave.sgpr[9], 0);
    b.end(&b.smem("s_load_dwordx4", ttmp4, 10, SMEM_IMM, 0));
    assert_eq!(b.wave.sgpr[108..124], [0; 16]);
    // M0 behind them is open.
    b.end(&[b.sop1("s_mov_b32", 124, 8)]);
    assert_eq!(b.wave.sgpr[124], 5);
}

pub fn every_access(target: Target) {
    let mut b = Bench::new(target);
    b.wave.hardware_id = 0x1234_5678;
    b.wave.allocation = 0x0102_3456;
    b.wave.die = 5;
    let get = |b: &mut Bench, register, offset, size| {
        b.end(&[b.sopk("s_getreg_b32", 7, field(register, offset, size))]);
        b.wave.sgpr[7]
    };
    const STATUS: u32 = 2;
    const TRAPSTS: u32 = 3;
    assert_eq!(get(&mut b, 1, 0, 32), MODE);
    assert_eq!(get(&mut b, 1, 4, 4), 0xf);
    assert_eq!(get(&mut b, 4, 0, 32), 0x1234_5678);
    assert_eq!(get(&mut b, 4, 8, 4), 6);
    assert_eq!(get(&mut b, 5, 0, 32), 0x0102_3456);
    // LDS_SIZE in units of 64 dwords.
    assert_eq!(get(&mut b, 6, 12, 9), LDS_BYTES as u32 / 256);
    // Only gfx942 has several dies.
    assert_eq!(get(&mut b, 20, 0, 4), if target.is_gfx940() { 5 } else { 0 });
    // Nothing is outstanding, and there is no trap handler of the user's.
    for register in [7, 16, 17, 18, 19] {
        assert_eq!(get(&mut b, register, 0, 32), 0, "{register}");
    }
    // PRIVATE_BASE in the low half, SHARED_BASE in the high one: bits 63..48 of 2 << 48 and 1 << 48.
    assert_eq!(get(&mut b, 15, 0, 32), 1 << 16 | 2);

    // STATUS: SCC, EXECZ, VCCZ, VALID.
    b.wave.scc = true;
    b.set_pair(106, 1);
    assert_eq!(get(&mut b, STATUS, 0, 32), 1 << 16 | 1);
    b.wave.scc = false;
    b.wave.exec = 0;
    b.set_pair(106, 0);
    assert_eq!(get(&mut b, STATUS, 0, 32), 1 << 16 | 1 << 10 | 1 << 9);
    b.wave.exec = u64::MAX;
    b.end(&[b.sopp("s_setprio", 2)]);
    assert_eq!(get(&mut b, STATUS, 3, 2), 2);

    b.wave.sgpr[8] = 0xffff_fff6;
    b.end(&[b.sopk("s_setreg_b32", 8, field(1, 0, 4))]);
    assert_eq!(b.wave.mode, Mode(MODE | 6), "four bits and no more");
    b.end(&[b.sopk("s_setreg_imm32_b32", 0, field(1, 2, 2)), 0xffff_fffc]);
    assert_eq!(b.wave.mode, Mode(MODE | 2));
    b.end(&[b.sopk("s_setreg_b32", 8, field(TRAPSTS, 0, 9))]);
    assert_eq!(get(&mut b, TRAPSTS, 0, 32), 0x1f6);
    // STATUS is read-only.
    b.end(&[b.sopk("s_setreg_b32", 8, field(STATUS, 0, 32))]);
    assert_eq!(get(&mut b, STATUS, 20, 2), 0);
    // VSKIP by way of MODE takes effect at once.
    b.wave.sgpr[8] = 1;
    b.v(3).fill(5);
    let v_mov_v3_1 = 0x7e06_0281;
    b.end(&[b.sopk("s_setreg_b32", 8, field(1, 28, 1)), v_mov_v3_1]);
    assert_eq!(b.v(3)[0], 5);
}
