//! What lanes of a wave tell each other.

use crate::harness::{Level, TARGETS, everywhere, input, kernel, output};

#[test]
fn permutes_fetch_from_the_lane_that_the_address_names() {
    let source = "KERNEL shuffle(const u32 *in, u32 *out) {
        u32 v = in[tid];
        out[tid] = __builtin_amdgcn_ds_bpermute((tid ^ 21) * 4, v);
        out[64 + tid] = __builtin_amdgcn_ds_permute(((tid * 5) & 63) * 4, v);
        out[128 + tid] = __builtin_amdgcn_ds_swizzle(v, 0x041f);
        u32 odd = 1;
        if (tid & 1) odd = __builtin_amdgcn_ds_bpermute((tid + 1) * 4, v) + 1000;
        out[192 + tid] = odd;
    }";
    let data: Vec<u32> = (0..64).map(|i| 100 + i).collect();
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "shuffle", target, level) else { return };
        let mut out = vec![0u32; 256];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out)], 0).unwrap();
        for lane in 0..64 {
            assert_eq!(out[lane], data[lane ^ 21], "{target:?} {level:?}");
            assert_eq!(out[64 + lane * 5 % 64], data[lane], "{target:?} {level:?}");
            assert_eq!(out[128 + lane], data[lane ^ 1], "{target:?} {level:?}");
            // Even lanes are dead in the branch and read as 0.
            assert_eq!(out[192 + lane], if lane % 2 == 1 { 1000 } else { 1 }, "{target:?} {level:?}");
        }
    }
}

#[test]
fn ballots_have_a_bit_per_live_lane() {
    let source = "KERNEL ballot(const u32 *in, u64 *out) {
        u64 all = __builtin_amdgcn_ballot_w64(in[tid] > 10);
        u64 some = 0;
        if (tid < 40) some = __builtin_amdgcn_ballot_w64(in[tid] & 1);
        out[2 * tid] = all;
        out[2 * tid + 1] = some;
    }";
    let data: Vec<u32> = (0..64).map(|i| i * 37 % 64).collect();
    let mask = |f: &dyn Fn(usize) -> bool| (0..64).filter(|i| f(*i)).fold(0u64, |m, i| m | 1 << i);
    let all = mask(&|i| data[i] > 10);
    let some = mask(&|i| i < 40 && data[i] & 1 == 1);
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "ballot", target, level) else { return };
        let mut out = vec![0u64; 128];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out)], 0).unwrap();
        for lane in 0..64 {
            assert_eq!(out[2 * lane], all, "{target:?} {level:?}");
            assert_eq!(out[2 * lane + 1], if lane < 40 { some } else { 0 }, "{target:?} {level:?}");
        }
    }
}

#[test]
fn a_partial_wave_has_only_its_lanes_alive() {
    let source = "KERNEL live(u64 *out) { out[block * 2 + tid / 64] = __builtin_amdgcn_ballot_w64(true); }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "live", target, Level::O2) else { return };
        let mut out = vec![0u64; 4];
        kernel.run([2, 1, 1], [100, 1, 1], &mut [output(&mut out)], 0).unwrap();
        assert_eq!(out, [u64::MAX, (1 << 36) - 1, u64::MAX, (1 << 36) - 1]);
    }
}

#[test]
fn the_grid_need_not_be_a_multiple_of_the_workgroup() {
    let source = "KERNEL edge(u32 *out) {
        u32 x = block * 8 + tid, y = block_y * 4 + tid_y, z = block_z * 2 + tid_z;
        out[(z * 7 + y) * 19 + x] += 1 + x + 100 * y + 10000 * z;
    }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "edge", target, level) else { return };
        let mut out = vec![0u32; 19 * 7 * 3];
        kernel.run_grid([19, 7, 3], [8, 4, 2], &mut [output(&mut out)], 0, 1).unwrap();
        for (i, v) in (0u32..).zip(&out) {
            let (x, y, z) = (i % 19, i / 19 % 7, i / 133);
            assert_eq!(*v, 1 + x + 100 * y + 10000 * z, "{target:?} {level:?}");
        }
    }
}
