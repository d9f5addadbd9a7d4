//! The barrier of RDNA 4, of which each half is an instruction.

use emulator::{isa::Target, wave::FaultKind};

use crate::harness::{Level, kernel, output};

#[test]
fn one_wave_is_the_first_to_signal_in_every_round() {
    let source = "KERNEL first(u32 *firsts) {
        for (u32 round = 0; round < 8; round++) {
            bool is_first = __builtin_amdgcn_s_barrier_signal_isfirst(-1);
            if (is_first && tid % 32 == 0) __atomic_fetch_add(&firsts[round], 1, __ATOMIC_RELAXED);
            __builtin_amdgcn_s_barrier_wait(-1);
        }
    }";
    for level in [Level::O0, Level::O2] {
        let Some(kernel) = kernel(source, "first", Target::Gfx1200, level) else { return };
        for size in [32u16, 64, 1024] {
            let mut firsts = [0u32; 8];
            kernel.run([1, 1, 1], [size, 1, 1], &mut [output(&mut firsts)], 0).unwrap();
            assert_eq!(firsts, [1; 8], "{level:?} {size}");
        }
    }
}

#[test]
fn the_state_of_the_barrier_counts_waves_and_those_that_have_signalled() {
    let source = "KERNEL state(volatile u32 *states) {
        if (tid >= 32) {
            __builtin_amdgcn_s_barrier_signal(-1);
        } else {
            u32 state;
            do state = __builtin_amdgcn_s_get_barrier_state(-1); while (state >> 16 < 2);
            if (tid == 0) states[0] = state;
            __builtin_amdgcn_s_barrier_signal(-1);
        }
        __builtin_amdgcn_s_barrier_wait(-1);
        if (tid == 0) states[1] = __builtin_amdgcn_s_get_barrier_state(-1) & 0xffff;
    }";
    let Some(kernel) = kernel(source, "state", Target::Gfx1200, Level::O2) else { return };
    let mut states = [0u32; 2];
    kernel.run([1, 1, 1], [96, 1, 1], &mut [output(&mut states)], 0).unwrap();
    assert_eq!(states[0], 2 << 16 | 3 << 4 | 1);
    // Others may have ended by then.
    assert!(states[1] & 1 == 1 && (1..=3).contains(&(states[1] >> 4)));
}

#[test]
fn barriers_with_names_are_another_targets() {
    for instruction in [
        "s_barrier_init 1",
        "s_barrier_join 1",
        "s_barrier_leave",
        "s_barrier_signal 3",
        "s_barrier_signal_isfirst m0",
        "s_get_barrier_state s4, 2",
        "s_barrier_wait 1",
    ] {
        let source = format!(
            "KERNEL named(u32 *out) {{ asm volatile(\"s_mov_b32 m0, 5\\n{instruction}\" ::: \"s4\"); out[tid] = 1; }}"
        );
        let Some(kernel) = kernel(&source, "named", Target::Gfx1200, Level::O2) else { return };
        let mut out = [0u32; 32];
        let fault = kernel.run([1, 1, 1], [32, 1, 1], &mut [output(&mut out)], 0).unwrap_err();
        let FaultKind::Illegal { name, .. } = fault.kind else { panic!("{fault:?}") };
        assert!(instruction.starts_with(name), "{name}");
    }
}
