//! Instructions that move values between lanes; what they should give is written down here lane by lane.

use crate::harness::{everywhere, input, kernel, output};

/// Runs a one-wave kernel that maps 64 words to 64 words.
fn wave(source: &str, name: &str, words: &[u32; 64], check: impl Fn(usize) -> u32) {
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, name, target, level) else { return };
        let mut out = [7u32; 64];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [input(words), output(&mut out)], 0).unwrap();
        for (lane, got) in out.into_iter().enumerate() {
            assert_eq!(got, check(lane), "{name} {target:?} {level:?} lane {lane}");
        }
    }
}

fn some_words() -> [u32; 64] {
    std::array::from_fn(|lane| (lane as u32 + 3).wrapping_mul(0x9e37_79b9))
}

#[test]
fn dpp_moves_rows_and_broadcasts() {
    let source = "
        KERNEL dpp(const u32 *in, u32 *out) {
            u32 x = in[tid];
            u32 a = __builtin_amdgcn_update_dpp(1, x, 0x111, 0xf, 0xf, false);  // row_shr:1, lane 0 of a row keeps 1
            u32 b = __builtin_amdgcn_update_dpp(0, x, 0x4e, 0xf, 0xf, true);    // quad_perm:[2,3,0,1]
            u32 c = __builtin_amdgcn_update_dpp(2, x, 0x142, 0xa, 0xf, false);  // row_bcast:15 into rows 1 and 3
            u32 d = __builtin_amdgcn_update_dpp(0, x, 0x140, 0xf, 0xf, true);   // row_mirror
            out[tid] = a ^ (b << 1) ^ (c << 2) ^ (d << 3);
        }";
    let x = some_words();
    wave(source, "dpp", &x, |lane| {
        let a = if lane % 16 == 0 { 1 } else { x[lane - 1] };
        let b = x[lane ^ 2];
        let c = if lane / 16 % 2 == 1 { x[lane / 16 * 16 - 1] } else { 2 };
        let d = x[lane ^ 15];
        a ^ (b << 1) ^ (c << 2) ^ (d << 3)
    });
}

#[test]
fn a_dpp_reduction_adds_up_a_wave() {
    let source = "
        KERNEL reduce(const u32 *in, u32 *out) {
            u32 x = in[tid];
            x += __builtin_amdgcn_update_dpp(0, x, 0x111, 0xf, 0xf, true);
            x += __builtin_amdgcn_update_dpp(0, x, 0x112, 0xf, 0xf, true);
            x += __builtin_amdgcn_update_dpp(0, x, 0x114, 0xf, 0xf, true);
            x += __builtin_amdgcn_update_dpp(0, x, 0x118, 0xf, 0xf, true);
            x += __builtin_amdgcn_update_dpp(0, x, 0x142, 0xa, 0xf, false);
            x += __builtin_amdgcn_update_dpp(0, x, 0x143, 0xc, 0xf, false);
            out[tid] = __builtin_amdgcn_readlane(x, 63);
        }";
    let x = some_words();
    let sum = x.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
    wave(source, "reduce", &x, |_| sum);
}

#[test]
fn ballots_and_lane_reads_see_the_live_lanes() {
    let source = "
        KERNEL ballot(const u32 *in, u32 *out) {
            u32 x = in[tid];
            u64 odd = __builtin_amdgcn_ballot_w64(x & 1);
            u32 rank = __builtin_amdgcn_mbcnt_hi((u32)(odd >> 32), __builtin_amdgcn_mbcnt_lo((u32)odd, 0));
            u32 first = 0;
            if (tid % 3 == 2) first = __builtin_amdgcn_readfirstlane(x);
            u32 swapped = __builtin_amdgcn_ds_bpermute((int)((tid ^ 5) * 4), (int)x);
            out[tid] = (rank * 7) ^ first ^ (swapped << 1) ^ (u32)__builtin_popcountll(odd);
        }";
    let x = some_words();
    let odd = |lanes: std::ops::Range<usize>| x[lanes].iter().filter(|x| *x & 1 != 0).count() as u32;
    wave(source, "ballot", &x, |lane| {
        let first = if lane % 3 == 2 { x[2] } else { 0 };
        (odd(0..lane) * 7) ^ first ^ (x[lane ^ 5] << 1) ^ odd(0..64)
    });
}

#[test]
fn packed_and_special_instructions_match_their_definitions() {
    let source = "
        KERNEL special(const u32 *in, u32 *out) {
            u32 x = in[tid], y = in[(tid + 1) & 63];
            u32 a = __builtin_amdgcn_perm(x, y, 0x0c050207u);
            u32 b = __builtin_amdgcn_alignbit(x, y, 13);
            u32 c = __builtin_amdgcn_ubfe(x, 7, 9) + (u32)__builtin_amdgcn_sbfe(y, 3, 5);
            u32 d = __builtin_amdgcn_sad_u8(x, y, 100);
            u32 e = __builtin_amdgcn_lerp(x, y, 0x01000100u);
            out[tid] = a ^ b ^ (c << 3) ^ (d << 7) ^ (e << 1);
        }";
    let x = some_words();
    wave(source, "special", &x, |lane| {
        let (x, y) = (x[lane], x[(lane + 1) & 63]);
        let (xb, yb) = (x.to_le_bytes(), y.to_le_bytes());
        let a = u32::from_le_bytes([xb[3], yb[2], xb[1], 0]);
        let b = ((u64::from(x) << 32 | u64::from(y)) >> 13) as u32;
        let c = (x >> 7 & 0x1ff).wrapping_add(((y << 24) as i32 >> 27) as u32);
        let d = 100 + (0..4).map(|n| u32::from(xb[n].abs_diff(yb[n]))).sum::<u32>();
        let round = [0u16, 1, 0, 1];
        let e: [u8; 4] =
            std::array::from_fn(|n| ((u16::from(xb[n]) + u16::from(yb[n]) + round[n]) >> 1) as u8);
        a ^ b ^ (c << 3) ^ (d << 7) ^ (u32::from_le_bytes(e) << 1)
    });
}
