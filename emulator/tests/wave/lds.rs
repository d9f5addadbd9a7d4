//! LDS, barriers, dynamic LDS.

use crate::harness::{everywhere, input, kernel, output, value};

#[test]
fn a_tree_reduction_waits_at_its_barriers() {
    let source = "KERNEL reduce(const u32 *in, u32 *out) {
        SHARED u32 sums[1024];
        sums[tid] = in[block * block_size + tid];
        for (u32 n = block_size / 2; n; n /= 2) {
            barrier();
            if (tid < n) sums[tid] += sums[tid + n];
        }
        barrier();
        if (tid == 0) out[block] = sums[0];
    }";
    let numbers: Vec<u32> = (0..4096).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "reduce", target, level) else { return };
        for size in [1024u16, 256, 64] {
            let groups = 4096 / u32::from(size);
            let mut sums = vec![0u32; groups as usize];
            kernel.run([groups, 1, 1], [size, 1, 1], &mut [input(&numbers), output(&mut sums)], 0).unwrap();
            let expected: Vec<u32> =
                numbers.chunks(size.into()).map(|c| c.iter().fold(0u32, |a, b| a.wrapping_add(*b))).collect();
            assert_eq!(sums, expected, "{target:?} {level:?} {size}");
        }
    }
}

#[test]
fn barriers_do_not_wait_for_waves_that_ended() {
    let source = "KERNEL leave(u32 *out) {
        SHARED u32 box;
        if (tid < 128) return;
        if (tid == 128) box = 77;
        barrier();
        out[tid] = box;
    }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "leave", target, level) else { return };
        let mut out = vec![0u32; 256];
        kernel.run([1, 1, 1], [256, 1, 1], &mut [output(&mut out)], 0).unwrap();
        assert!(out[..128].iter().all(|v| *v == 0) && out[128..].iter().all(|v| *v == 77));
    }
}

#[test]
fn dynamic_lds_comes_from_the_launch() {
    let source = "extern SHARED u8 dynamic[];
    KERNEL reverse(u16 *data) {
        SHARED u16 fixed[64];
        u16 *copy = (u16 *)dynamic;
        fixed[tid & 63] = tid;
        copy[tid] = data[tid];
        barrier();
        data[tid] = copy[block_size - 1 - tid] + fixed[tid & 63] / 1000;
    }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "reverse", target, level) else { return };
        let mut data: Vec<u16> = (0..512).collect();
        kernel.run([1, 1, 1], [512, 1, 1], &mut [output(&mut data)], 1024).unwrap();
        assert_eq!(data, (0..512).rev().collect::<Vec<u16>>(), "{target:?} {level:?}");
    }
}

#[test]
fn every_width_passes_through_lds_unchanged() {
    let source = "typedef u32 v3 __attribute__((ext_vector_type(3)));
    typedef u32 v4 __attribute__((ext_vector_type(4)));
    KERNEL widths(const u8 *in, u8 *out, u32 n) {
        SHARED v4 quads[64]; SHARED v3 triples[64]; SHARED u64 pairs[128]; SHARED u8 bytes[256];
        SHARED i16 shorts[64];
        const v4 *q = (const v4 *)in;
        quads[63 - tid] = q[tid];
        v3 t = {q[tid].x, q[tid].y, q[tid].w};
        triples[tid] = t;
        pairs[tid] = ((const u64 *)in)[tid];
        pairs[tid + 64] = ((const u64 *)in)[tid + 64];
        for (u32 i = 0; i < 4; i++) bytes[tid * 4 + i] = in[tid * 4 + i];
        shorts[tid] = ((const i16 *)in)[tid];
        barrier();
        v4 r = quads[tid];
        r.xyz += triples[(tid + 1) & 63];
        u64 p = pairs[(tid * 7) & 63] + pairs[(tid * 3 & 63) + 64];
        r.x ^= (u32)p; r.y ^= p >> 32;
        r.z += bytes[tid] + bytes[tid + 97] * 256;
        r.w += shorts[(tid + 5) & 63];
        ((v4 *)out)[tid] = r;
    }";
    let data: Vec<u32> = (0..256).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    let quad = |i: usize| &data[i * 4..i * 4 + 4];
    let bytes: &[u8] = bytemuck::cast_slice(&data);
    let shorts: &[i16] = bytemuck::cast_slice(&data);
    let pairs: &[u64] = bytemuck::cast_slice(&data);
    let mut expected = vec![];
    for lane in 0..64usize {
        let next = quad((lane + 1) & 63);
        let p = pairs[(lane * 7) & 63].wrapping_add(pairs[((lane * 3) & 63) + 64]);
        let q = quad(63 - lane);
        expected.push(q[0].wrapping_add(next[0]) ^ p as u32);
        expected.push(q[1].wrapping_add(next[1]) ^ (p >> 32) as u32);
        let small = u32::from(bytes[lane]) + u32::from(bytes[lane + 97]) * 256;
        expected.push(q[2].wrapping_add(next[3]).wrapping_add(small));
        expected.push(q[3].wrapping_add_signed(shorts[(lane + 5) & 63].into()));
    }
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "widths", target, level) else { return };
        let mut out = vec![0u32; 256];
        kernel
            .run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out), value(0u32)], 0)
            .unwrap_or_else(|e| panic!("{target:?} {level:?} {e}"));
        assert_eq!(out, expected, "{target:?} {level:?}");
    }
}

#[test]
fn the_builtins_that_load_to_lds_put_lanes_side_by_side() {
    let source = "#define IN(type, p) ((__attribute__((address_space(1))) type *)(p))
    #define LDS(p) ((__attribute__((address_space(3))) void *)(p))
    KERNEL stage(const u32 *in, u32 *out) {
        SHARED u32 room[512];
        u32 wave = __builtin_amdgcn_readfirstlane(tid / 64);
        u32 *to = room + 64 * wave;
        __builtin_amdgcn_global_load_lds(IN(void, in + tid), LDS(to), 4, 0, 0);
        // The offset belongs to both addresses.
        __builtin_amdgcn_global_load_lds(IN(void, in + tid), LDS(to), 4, 512, 0);
        __builtin_amdgcn_global_load_lds(IN(void, (const u8 *)in + 3 * tid), LDS(to + 256), 1, 0, 0);
        __amdgpu_buffer_rsrc_t buffer = __builtin_amdgcn_make_buffer_rsrc((void *)in, 0, 400, 0x27000);
        __builtin_amdgcn_raw_ptr_buffer_load_lds(buffer, LDS(to + 384), 4, 4 * tid, 0, 0, 0);
        __builtin_amdgcn_s_waitcnt(0);
        barrier();
        for (u32 i = 0; i < 4; i++) out[128 * i + tid] = room[128 * i + 127 - tid];
    }";
    let data: Vec<u32> = (0..256).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&data);
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "stage", target, level) else { return };
        let mut out = vec![0u32; 512];
        kernel.run([1, 1, 1], [128, 1, 1], &mut [input(&data), output(&mut out)], 0).unwrap();
        for tid in 0..128 {
            let other = 127 - tid;
            // The buffer ends after 100 dwords.
            let bounded = if other < 100 { data[other] } else { 0 };
            let expected = [data[other], data[other + 128], bytes[3 * other].into(), bounded];
            let got = [0, 1, 2, 3].map(|i| out[128 * i + tid]);
            assert_eq!(got, expected, "{target:?} {level:?} {tid}");
        }
    }
}
