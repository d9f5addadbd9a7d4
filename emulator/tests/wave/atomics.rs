//! Atomics and the progress of workgroups that wait for each other.

use crate::harness::{Level, TARGETS, everywhere, input, kernel, output, value};

#[test]
fn integer_atomics_count_every_lane_once() {
    let source = "KERNEL count(u32 *out, u64 *wide) {
        u32 i = block * block_size + tid;
        __atomic_fetch_add(&out[0], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&out[1 + (i & 7)], i, __ATOMIC_RELAXED);
        __atomic_fetch_or(&out[9 + (i >> 5 & 3)], 1u << (i & 31), __ATOMIC_RELAXED);
        __hip_atomic_fetch_max(&out[13], i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __hip_atomic_fetch_min((int *)&out[14], -(int)i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __atomic_fetch_sub(&out[15], 2, __ATOMIC_RELAXED);
        __atomic_fetch_xor(&out[16], i, __ATOMIC_RELAXED);
        __atomic_fetch_and(&out[17], ~(1u << (i & 15)), __ATOMIC_RELAXED);
        __atomic_fetch_add(&wide[0], 0x100000001ull, __ATOMIC_RELAXED);
        u64 old = __atomic_fetch_add(&wide[1], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&wide[2], old, __ATOMIC_RELAXED);
        u32 seen = out[18], next;
        do next = seen * 1 + 3; while (!__atomic_compare_exchange_n(&out[18], &seen, next, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        u64 s = __atomic_exchange_n(&wide[3], i, __ATOMIC_ACQ_REL);
        __atomic_fetch_add(&wide[4], s - i, __ATOMIC_RELAXED);
    }";
    let n = 2048u32;
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "count", target, level) else { return };
        let (mut out, mut wide) = (vec![0u32; 19], vec![0u64; 5]);
        out[17] = u32::MAX;
        let mut args = [output(&mut out), output(&mut wide)];
        kernel.run_grid([n, 1, 1], [256, 1, 1], &mut args, 0, 2).unwrap();
        assert_eq!(out[0], n, "{target:?} {level:?}");
        for r in 0..8 {
            assert_eq!(out[1 + r as usize], (0..n).filter(|i| i & 7 == r).sum::<u32>());
        }
        assert!(out[9..13].iter().all(|v| *v == u32::MAX));
        assert_eq!((out[13], out[14] as i32), (n - 1, -(n as i32 - 1)));
        assert_eq!(out[15], (2 * n).wrapping_neg());
        assert_eq!(out[16], (0..n).fold(0, |a, b| a ^ b));
        assert_eq!(out[17], 0xffff_0000);
        let n = u64::from(n);
        assert_eq!(wide[..3], [n * 0x1_0000_0001, n, n * (n - 1) / 2]);
        assert_eq!(out[18], 3 * n as u32);
        // Every value but the last comes back once.
        assert_eq!(wide[4].wrapping_add(wide[3]), 0);
    }
}

#[test]
fn floating_point_atomics_add_exact_sums() {
    let source = "#define ADD(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
    #pragma clang fp contract(off)
    KERNEL add(float *f, double *d) {
        SHARED float lf; SHARED double ld;
        if (tid == 0) { lf = 0; ld = 0; }
        barrier();
        [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
            ADD(f, 0.5f * tid);
            ADD(d, 0.25 * tid);
            __hip_atomic_fetch_max(d + 1, (double)tid, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            __hip_atomic_fetch_min(d + 2, -(double)tid, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        }
        __hip_atomic_fetch_add(&lf, 2.0f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        __hip_atomic_fetch_add(&ld, 3.0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        barrier();
        if (tid == 0) { ADD(f + 1, lf); ADD(d + 3, ld); }
    }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "add", target, level) else { return };
        let (mut f, mut d) = (vec![0f32; 2], vec![0f64; 4]);
        kernel.run_grid([1024, 1, 1], [256, 1, 1], &mut [output(&mut f), output(&mut d)], 0, 2).unwrap();
        let sum = 4.0 * (255.0 * 256.0 / 2.0);
        assert_eq!(f, [sum as f32 * 0.5, 2048.0], "{target:?} {level:?}");
        assert_eq!(d, [sum * 0.25, 255.0, -255.0, 3072.0], "{target:?} {level:?}");
    }
}

#[test]
fn lds_atomics_return_each_old_value_once() {
    let source = "KERNEL ticket(u32 *out) {
        SHARED u32 next; SHARED u64 wide;
        if (tid == 0) { next = 0; wide = 5; }
        barrier();
        u32 mine = __hip_atomic_fetch_add(&next, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        __hip_atomic_fetch_max(&wide, (u64)tid << 30, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        out[mine] += 1;
        barrier();
        if (tid == 0) out[512] = wide >> 30;
    }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "ticket", target, level) else { return };
        let mut out = vec![0u32; 513];
        kernel.run([1, 1, 1], [512, 1, 1], &mut [output(&mut out)], 0).unwrap();
        assert!(out[..512].iter().all(|v| *v == 1), "{target:?} {level:?}");
        assert_eq!(out[512], 511);
    }
}

/// Every workgroup waits until all have arrived, without `s_sleep` if `pause` is empty.
fn grid_barrier(pause: &str, threads: usize) {
    let source = format!(
        "KERNEL meet(u32 *arrived, u32 *out, u32 groups) {{
            if (tid == 0) {{
                for (u32 round = 1; round <= 3; round++) {{
                    __hip_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
                    while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < groups * round)
                        {{ {pause} }}
                    out[block] += *(volatile u32 *)arrived >= groups * round;
                }}
            }}
            barrier();
        }}"
    );
    for target in TARGETS {
        let Some(kernel) = kernel(&source, "meet", target, Level::O2) else { return };
        let (mut arrived, mut out) = (vec![0u32], vec![0u32; 16]);
        let mut args = [output(&mut arrived), output(&mut out), value(16u32)];
        kernel.run_grid([16 * 128, 1, 1], [128, 1, 1], &mut args, 0, threads).unwrap();
        assert_eq!(arrived[0], 48);
        assert!(out.iter().all(|v| *v == 3));
    }
}

#[test]
fn workgroups_that_wait_for_later_ones_make_progress_on_one_thread() {
    grid_barrier("__builtin_amdgcn_s_sleep(1);", 1);
}

#[test]
fn workgroups_that_spin_for_later_ones_make_progress_on_one_thread() {
    grid_barrier("", 1);
}

#[test]
fn workgroups_on_two_threads_see_each_other() {
    grid_barrier("__builtin_amdgcn_s_sleep(1);", 2);
}

#[test]
fn a_spin_lock_excludes() {
    let source = "KERNEL lock(u32 *word, u32 *counter) {
        if ((tid & 63) == 0) {
            u32 free = 0;
            while (!__hip_atomic_compare_exchange_strong(word, &free, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                                         __HIP_MEMORY_SCOPE_AGENT)) free = 0;
            u32 v = *(volatile u32 *)counter;
            __builtin_amdgcn_s_sleep(2);
            *(volatile u32 *)counter = v + 1;
            __hip_atomic_store(word, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
        }
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "lock", target, Level::O2) else { return };
        let (mut word, mut counter) = (vec![0u32], vec![0u32]);
        let mut args = [output(&mut word), output(&mut counter)];
        kernel.run_grid([8 * 256, 1, 1], [256, 1, 1], &mut args, 0, 2).unwrap();
        assert_eq!(counter[0], 32);
    }
}

#[test]
fn packed_halves_add_both_lanes() {
    let source = "typedef _Float16 h2 __attribute__((ext_vector_type(2)));
    KERNEL halves(h2 __attribute__((address_space(1))) *out, const u32 *in) {
        h2 v = __builtin_bit_cast(h2, in[tid]);
        __builtin_amdgcn_global_atomic_fadd_v2f16(out, v);
    }";
    // 1.0 and 2.0
    let data = vec![0x4000_3c00u32; 64];
    for target in TARGETS {
        let Some(kernel) = kernel(source, "halves", target, Level::O2) else { return };
        let mut out = vec![0u32];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out), input(&data)], 0).unwrap();
        // 64.0 and 128.0
        assert_eq!(out[0], 0x5800_5400);
    }
}
