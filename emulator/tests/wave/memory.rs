//! Loads and stores: addresses, widths, conversions, buffers.

use emulator::isa::Target;
use fastrand::Rng;

use crate::harness::{Level, TARGETS, everywhere, input, kernel, output, value};

#[test]
fn a_linear_kernel_touches_its_elements_and_no_others() {
    let source = "KERNEL scale(const int *a, int *b, u32 n) {
        u32 i = block * block_size + tid;
        if (i < n) b[i] = a[i] * 3 + 7;
    }";
    let a: Vec<i32> = (0..1000).map(|i| i * 7919 - 500_000).collect();
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "scale", target, level) else { return };
        let mut b = vec![-1; 1024];
        kernel.run([4, 1, 1], [256, 1, 1], &mut [input(&a), output(&mut b), value(1000u32)], 0).unwrap();
        for i in 0..1000 {
            assert_eq!(b[i], a[i].wrapping_mul(3).wrapping_add(7), "{target:?} {level:?} {i}");
        }
        assert!(b[1000..].iter().all(|v| *v == -1));
    }
}

/// Element counts and masks that take each path: whole rows, runs, gathers, single lanes.
#[test]
fn every_width_moves_whatever_the_addresses_and_the_mask() {
    let source = "struct B3 { u32 a, b, c; };
    typedef u32 v4 __attribute__((ext_vector_type(4)));
    template <class T> FN void move(const T *in, T *out, u32 stride, u32 shift, u64 mask) {
        if (mask >> (tid & 63) & 1) out[(tid * stride + 5) & 127] = in[(tid * stride + shift) & 127];
    }
    KERNEL m1(const u8 *in, u8 *out, u32 a, u32 b, u64 m) { move(in, out, a, b, m); }
    KERNEL m2(const u16 *in, u16 *out, u32 a, u32 b, u64 m) { move(in, out, a, b, m); }
    KERNEL m4(const u32 *in, u32 *out, u32 a, u32 b, u64 m) { move(in, out, a, b, m); }
    KERNEL m8(const u64 *in, u64 *out, u32 a, u32 b, u64 m) { move(in, out, a, b, m); }
    KERNEL m12(const B3 *in, B3 *out, u32 a, u32 b, u64 m) { move(in, out, a, b, m); }
    KERNEL m16(const v4 *in, v4 *out, u32 a, u32 b, u64 m) { move(in, out, a, b, m); }";
    let mut random = Rng::with_seed(6);
    let data: Vec<u8> = (0..128 * 16).map(|_| random.u8(..)).collect();
    let masks = [u64::MAX, 0, 1, 1 << 63, 0xff00, !0xff00, 0x5555_5555_5555_5555, random.u64(..)];
    for target in TARGETS {
        for size in [1usize, 2, 4, 8, 12, 16] {
            let Some(kernel) = kernel(source, &format!("m{size}"), target, Level::O2) else { return };
            for (stride, shift) in [(1u32, 0u32), (1, 3), (1, 64), (3, 0), (0, 9), (127, 5)] {
                for mask in masks {
                    let mut out = vec![0xaau8; 128 * size];
                    let mut expected = out.clone();
                    for lane in (0..64u32).filter(|lane| mask >> lane & 1 == 1) {
                        let to = ((lane * stride + 5) & 127) as usize * size;
                        let from = ((lane * stride + shift) & 127) as usize * size;
                        expected[to..to + size].copy_from_slice(&data[from..from + size]);
                    }
                    let bytes = &data[..128 * size];
                    let mut args = [input(bytes), output(&mut out), value(stride), value(shift), value(mask)];
                    kernel.run([1, 1, 1], [64, 1, 1], &mut args, 0).unwrap();
                    assert_eq!(out, expected, "{target:?} {size} bytes, {stride} {shift} {mask:#x}");
                }
            }
        }
    }
}

/// From memory bytes and the register's old value.
type Load = fn([u8; 4], u32) -> u32;

/// Narrow loads.
const LOADS: &[(&str, Load)] = &[
    ("ubyte", |b, _| b[0].into()),
    ("sbyte", |b, _| b[0] as i8 as u32),
    ("ushort", |b, _| u16::from_le_bytes([b[0], b[1]]).into()),
    ("sshort", |b, _| u16::from_le_bytes([b[0], b[1]]) as i16 as u32),
    ("dword", |b, _| u32::from_le_bytes(b)),
    ("ubyte_d16", |b, r| r & 0xffff_0000 | u32::from(b[0])),
    ("ubyte_d16_hi", |b, r| r & 0xffff | u32::from(b[0]) << 16),
    ("sbyte_d16", |b, r| r & 0xffff_0000 | b[0] as i8 as u32 & 0xffff),
    ("sbyte_d16_hi", |b, r| r & 0xffff | (b[0] as i8 as u32) << 16),
    ("short_d16", |b, r| r & 0xffff_0000 | u32::from(u16::from_le_bytes([b[0], b[1]]))),
    ("short_d16_hi", |b, r| r & 0xffff | u32::from(u16::from_le_bytes([b[0], b[1]])) << 16),
];

/// DS spells them differently.
const DS_LOADS: &[&str] =
    &["u8", "i8", "u16", "i16", "b32", "u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi", "u16_d16", "u16_d16_hi"];

#[test]
fn narrow_loads_extend_or_keep_the_other_half() {
    let mut source = String::from("typedef u32 v4 __attribute__((ext_vector_type(4)));\n");
    for (i, (name, _)) in LOADS.iter().enumerate() {
        let ds = DS_LOADS[i];
        source += &format!(
            "KERNEL k{i}(const u8 *in, u32 *out, u32 bytes) {{
                u32 g = 0x12345678, f = g, s = g, b = g, l = g, x = g;
                u64 base = (u64)in;
                v4 rsrc = {{(u32)base, (u32)(base >> 32), bytes, 0x20000}};
                u32 word; __builtin_memcpy(&word, in + tid * 4, 4);
                asm volatile(\"ds_write_b32 %[t], %[w]\\ns_waitcnt lgkmcnt(0)\\n\"
                    \"global_load_{name} %[g], %[p], off offset:-16\\n\"
                    \"flat_load_{name} %[f], %[q]\\n\"
                    \"global_load_{name} %[s], %[t], %[base]\\n\"
                    \"buffer_load_{name} %[b], %[t], %[r], 0 offen\\n\"
                    \"buffer_load_{name} %[x], %[far], %[r], 0 offen\\n\"
                    \"ds_read_{ds} %[l], %[t]\\ns_waitcnt vmcnt(0) lgkmcnt(0)\"
                    : [g] \"+&v\"(g), [f] \"+&v\"(f), [s] \"+&v\"(s), [b] \"+&v\"(b), [l] \"+&v\"(l), [x] \"+&v\"(x)
                    : [p] \"v\"(in + tid * 4 + 16), [q] \"v\"(in + tid * 4), [t] \"v\"(tid * 4), [base] \"s\"(in),
                      [r] \"s\"(rsrc), [w] \"v\"(word), [far] \"v\"(tid * 4 + bytes) : \"memory\");
                u32 *o = out + tid * 6;
                o[0] = g; o[1] = f; o[2] = s; o[3] = b; o[4] = l; o[5] = x;
            }}\n"
        );
    }
    let mut random = Rng::with_seed(7);
    let data: Vec<[u8; 4]> = (0..64).map(|_| (random.u32(..)).to_le_bytes()).collect();
    for target in TARGETS {
        for (i, (name, model)) in LOADS.iter().enumerate() {
            let Some(kernel) = kernel(&source, &format!("k{i}"), target, Level::O1) else { return };
            let mut out = vec![[0u32; 6]; 64];
            let mut args = [input(&data), output(&mut out), value(256u32)];
            kernel.run([1, 1, 1], [64, 1, 1], &mut args, 256).unwrap();
            for (bytes, out) in data.iter().zip(&out) {
                let v = model(*bytes, 0x1234_5678);
                // The last one is beyond the buffer's end.
                let beyond = model([0; 4], 0x1234_5678);
                assert_eq!(*out, [v, v, v, v, v, beyond], "{target:?} {name} {bytes:?}");
            }
        }
    }
}

#[test]
fn narrow_stores_take_the_named_half() {
    let names = ["byte", "byte_d16_hi", "short", "short_d16_hi"];
    let ds = ["b8", "b8_d16_hi", "b16", "b16_d16_hi"];
    let mut source = String::from("typedef u32 v4 __attribute__((ext_vector_type(4)));\n");
    for (i, name) in names.iter().enumerate() {
        let ds = ds[i];
        source += &format!(
            "KERNEL k{i}(const u32 *in, u32 *out) {{
                u64 base = (u64)out;
                v4 rsrc = {{(u32)base, (u32)(base >> 32), 4096, 0x20000}};
                u32 l = 0;
                asm volatile(\"global_store_{name} %[p], %[v], off\\nflat_store_{name} %[p], %[v] offset:4\\n\"
                    \"buffer_store_{name} %[v], %[t], %[r], 0 offen offset:8\\n\"
                    \"ds_write_b32 %[t], %[l]\\nds_write_{ds} %[t], %[v]\\nds_read_b32 %[l], %[t]\\n\"
                    \"s_waitcnt vmcnt(0) lgkmcnt(0)\" : [l] \"+&v\"(l)
                    : [p] \"v\"(out + tid * 4), [v] \"v\"(in[tid]), [t] \"v\"(tid * 16), [r] \"s\"(rsrc) : \"memory\");
                out[tid * 4 + 3] = l;
            }}\n"
        );
    }
    let data: Vec<u32> = (0..64).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    for target in TARGETS {
        for (i, name) in names.iter().enumerate() {
            let Some(kernel) = kernel(&source, &format!("k{i}"), target, Level::O1) else { return };
            let mut out = vec![[0u32; 4]; 64];
            kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out)], 1024).unwrap();
            for (v, out) in data.iter().zip(&out) {
                let half = if i % 2 == 1 { v >> 16 } else { *v };
                let part = if i < 2 { half & 0xff } else { half & 0xffff };
                assert_eq!(*out, [part; 4], "{target:?} {name} {v:#x}");
            }
        }
    }
}

#[test]
fn two_address_lds_instructions_scale_their_offsets() {
    let source = "typedef u64 w2 __attribute__((ext_vector_type(2)));
    KERNEL two(u64 *out) {
        u32 at = tid * 4, wat = tid * 8;
        u64 pair, st, old; w2 wide, wst, wold;
        u32 a = tid + 1000, b = tid + 2000;
        u64 wa = a * 0x100000001ull, wb = b * 0x100000001ull;
        asm volatile(\"ds_write2_b32 %[at], %[a], %[b] offset0:1 offset1:66\\n\"
            \"ds_read2_b32 %[pair], %[at] offset0:66 offset1:1\\n\"
            \"ds_write2st64_b32 %[at], %[a], %[b] offset0:1 offset1:3\\n\"
            \"ds_read2st64_b32 %[st], %[at] offset0:3 offset1:1\\n\"
            \"ds_wrxchg2_rtn_b32 %[old], %[at], %[b], %[a] offset0:64 offset1:192\\ns_waitcnt lgkmcnt(0)\\n\"
            : [pair] \"=&v\"(pair), [st] \"=&v\"(st), [old] \"=&v\"(old)
            : [at] \"v\"(at), [a] \"v\"(a), [b] \"v\"(b) : \"memory\");
        asm volatile(\"ds_write2_b64 %[at], %[a], %[b] offset0:1 offset1:66\\n\"
            \"ds_read2_b64 %[wide], %[at] offset0:66 offset1:1\\n\"
            \"ds_write2st64_b64 %[at], %[a], %[b] offset0:1 offset1:3\\n\"
            \"ds_read2st64_b64 %[wst], %[at] offset0:3 offset1:1\\n\"
            \"ds_wrxchg2_rtn_b64 %[wold], %[at], %[b], %[a] offset0:64 offset1:192\\ns_waitcnt lgkmcnt(0)\\n\"
            : [wide] \"=&v\"(wide), [wst] \"=&v\"(wst), [wold] \"=&v\"(wold)
            : [at] \"v\"(wat), [a] \"v\"(wa), [b] \"v\"(wb) : \"memory\");
        u64 *o = out + tid * 9;
        o[0] = pair; o[1] = st; o[2] = old;
        o[3] = wide.x; o[4] = wide.y; o[5] = wst.x; o[6] = wst.y; o[7] = wold.x; o[8] = wold.y;
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "two", target, Level::O1) else { return };
        let mut out = vec![[0u64; 9]; 64];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out)], 8192).unwrap();
        for (lane, out) in (0u64..).zip(&out) {
            let (a, b) = (lane + 1000, lane + 2000);
            let (wa, wb) = (a * 0x1_0000_0001, b * 0x1_0000_0001);
            // Offsets 64 and 192 are 64-element steps 1 and 3.
            let expected = [b | a << 32, b | a << 32, a | b << 32, wb, wa, wb, wa, wa, wb];
            assert_eq!(*out, expected, "{target:?} {lane}");
        }
    }
}

#[test]
fn lds_reads_beyond_the_end_are_zero_and_writes_are_dropped() {
    let source = "KERNEL beyond(u32 *out) {
        u32 v = tid + 1, r = 7, at = tid * 16;
        asm volatile(\"ds_write_b32 %[at], %[v]\\nds_read_b32 %[r], %[at]\\ns_waitcnt lgkmcnt(0)\"
            : [r] \"+&v\"(r) : [at] \"v\"(at), [v] \"v\"(v) : \"memory\");
        out[tid] = r;
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "beyond", target, Level::O1) else { return };
        let mut out = vec![0u32; 64];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out)], 512).unwrap();
        let expected: Vec<u32> = (0..64).map(|lane| if lane < 32 { lane + 1 } else { 0 }).collect();
        assert_eq!(out, expected);
    }
}

#[test]
fn append_and_consume_count_live_lanes() {
    let source = "KERNEL count(u32 *out) {
        u32 zero = 0, a = 9, b = 9, c = 9;
        asm volatile(\"ds_write_b32 %[z], %[z] offset:8\\ns_mov_b32 m0, 4\\nds_append %[a] offset:4\\n\"
            \"s_waitcnt lgkmcnt(0)\" : [a] \"+&v\"(a) : [z] \"v\"(zero) : \"memory\");
        if (tid < 10) asm volatile(\"ds_consume %[b] offset:4\\ns_waitcnt lgkmcnt(0)\" : [b] \"+&v\"(b) :: \"memory\");
        asm volatile(\"ds_read_b32 %[c], %[z] offset:8\\ns_waitcnt lgkmcnt(0)\"
            : [c] \"=&v\"(c) : [z] \"v\"(zero) : \"memory\");
        out[tid * 3] = a; out[tid * 3 + 1] = b; out[tid * 3 + 2] = c;
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "count", target, Level::O1) else { return };
        let mut out = vec![[0u32; 3]; 64];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out)], 512).unwrap();
        for (lane, out) in out.iter().enumerate() {
            assert_eq!(*out, [0, if lane < 10 { 64 } else { 9 }, 54]);
        }
    }
}

#[test]
fn the_append_builtin_counts_where_its_pointer_points() {
    let source = "typedef __attribute__((address_space(3))) int *shared;
    KERNEL count(int *out) {
        SHARED int counters[8];
        if (tid < 8) counters[tid] = 100 * tid;
        barrier();
        out[tid] = __builtin_amdgcn_ds_append((shared)&counters[5]);
        out[64 + tid] = __builtin_amdgcn_ds_consume((shared)&counters[2]);
        if (tid < 8) out[128 + tid] = counters[tid];
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "count", target, Level::O2) else { return };
        let mut out = vec![0i32; 136];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out)], 0).unwrap();
        assert_eq!(out[..64], [500; 64], "{target:?}");
        assert_eq!(out[64..128], [200; 64]);
        assert_eq!(out[128..], [0, 100, 136, 300, 400, 564, 600, 700]);
    }
}

#[test]
fn the_format_builtin_takes_the_format_of_its_resource() {
    let source = "typedef float f4 __attribute__((ext_vector_type(4)));
    typedef int i4 __attribute__((ext_vector_type(4)));
    FN f4 load_format(i4 resource, int index, int offset, int scalar, int auxiliary)
        __asm(\"llvm.amdgcn.struct.buffer.load.format.v4f32\");
    KERNEL formats(const u8 *in, float *out) {
        u64 base = (u64)in;
        // 64 records of 4 bytes: 8_8_8_8 unorm, in the order z y x w.
        i4 resource = {(int)base, (int)(base >> 32) | 4 << 16, 64, 6 | 5 << 3 | 4 << 6 | 7 << 9 | 10 << 15};
        f4 pixel = load_format(resource, tid + 1, 0, 0, 0);
        for (int i = 0; i < 4; i++) out[4 * tid + i] = pixel[i];
    }";
    let pixels: Vec<u8> = (0..256u32).map(|i| (i * 37 + 5) as u8).collect();
    for target in TARGETS {
        let Some(kernel) = kernel(source, "formats", target, Level::O2) else { return };
        let mut out = vec![9f32; 256];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&pixels), output(&mut out)], 0).unwrap();
        for (lane, out) in out.chunks(4).enumerate() {
            let component = |i: usize| f32::from(*pixels.get(4 * lane + 4 + i).unwrap_or(&0)) / 255.0;
            assert_eq!(out, [2, 1, 0, 3].map(component), "{target:?} {lane}");
        }
    }
}

#[test]
fn structured_and_swizzled_buffers_find_their_records() {
    let source = "typedef u32 v4 __attribute__((ext_vector_type(4)));
    typedef u32 v2 __attribute__((ext_vector_type(2)));
    KERNEL records(const u32 *in, u32 *out) {
        u64 base = (u64)in;
        // 12-byte records; 16-byte records in swizzled blocks of 8.
        v4 plain = {(u32)base, (u32)(base >> 32) | 12 << 16, 20, 0x20000};
        v4 swizzled = {(u32)base, (u32)(base >> 32) | 16 << 16 | 1u << 31, 20, 0x20000};
        u32 a, b, c; v2 both = {tid, 4};
        asm volatile(\"buffer_load_dword %[a], %[i], %[p], 0 idxen offset:8\\n\"
            \"buffer_load_dword %[b], %[io], %[s], 0 idxen offen offset:4\\n\"
            \"buffer_load_dword %[c], %[io], %[p], 4 idxen offen\\ns_waitcnt vmcnt(0)\"
            : [a] \"=&v\"(a), [b] \"=&v\"(b), [c] \"=&v\"(c)
            : [i] \"v\"(tid), [io] \"v\"(both), [p] \"s\"(plain), [s] \"s\"(swizzled) : \"memory\");
        out[tid * 3] = a; out[tid * 3 + 1] = b; out[tid * 3 + 2] = c;
    }";
    let data: Vec<u32> = (0..256).map(|i| i + 1).collect();
    for target in TARGETS {
        let Some(kernel) = kernel(source, "records", target, Level::O1) else { return };
        let mut out = vec![[0u32; 3]; 64];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out)], 0).unwrap();
        for (lane, out) in out.iter().enumerate() {
            let plain = if lane < 20 { data[lane * 3 + 2] } else { 0 };
            // Byte 8 is the third dword of a record: dwords of 8 records stand side by side.
            let swizzled = if lane < 20 { data[lane / 8 * 32 + 2 * 8 + lane % 8] } else { 0 };
            // The third reads the same dword by way of SOFFSET.
            assert_eq!(*out, [plain, swizzled, plain], "{target:?} {lane}");
        }
    }
}

#[test]
fn scalar_loads_of_every_width_and_bounded_buffers() {
    let source = "typedef u32 v4 __attribute__((ext_vector_type(4)));
    typedef u32 v16 __attribute__((ext_vector_type(16)));
    KERNEL scalar(const u32 *in, u32 *out) {
        u64 base = (u64)in;
        v4 rsrc = {(u32)base, (u32)(base >> 32), 24, 0x20000};
        v16 wide; v4 four, some; u32 offset = 8, one; u64 t0, t1;
        asm volatile(\"s_memtime %[t0]\\ns_load_dwordx16 %[wide], %[p], 0x4\\n\"
            \"s_load_dwordx4 %[four], %[p], %[o]\\n\"
            \"s_load_dword %[one], %[q], -0x4\\n\"
            \"s_buffer_load_dwordx4 %[some], %[r], 0x10\\ns_memtime %[t1]\\ns_waitcnt lgkmcnt(0)\"
            : [wide] \"=&s\"(wide), [four] \"=&s\"(four), [one] \"=&s\"(one), [some] \"=&s\"(some),
              [t0] \"=&s\"(t0), [t1] \"=&s\"(t1)
            : [p] \"s\"(in), [q] \"s\"(in + 10), [o] \"s\"(offset), [r] \"s\"(rsrc) : \"memory\");
        for (u32 i = 0; i < 16; i++) out[i] = wide[i];
        for (u32 i = 0; i < 4; i++) { out[16 + i] = four[i]; out[21 + i] = some[i]; }
        out[20] = one; out[25] = t1 >= t0;
    }";
    let data: Vec<u32> = (100..200).collect();
    for target in TARGETS {
        let Some(kernel) = kernel(source, "scalar", target, Level::O1) else { return };
        let mut out = vec![0u32; 26];
        kernel.run([1, 1, 1], [1, 1, 1], &mut [input(&data), output(&mut out)], 0).unwrap();
        assert_eq!(out[..16], data[1..17]);
        assert_eq!(out[16..20], data[2..6]);
        assert_eq!(out[20], data[9]);
        // The buffer has six dwords.
        assert_eq!(out[21..25], [data[4], data[5], 0, 0]);
        assert_eq!(out[25], 1);
    }
}

#[test]
fn global_memory_can_be_loaded_straight_to_lds() {
    let source = "KERNEL direct(const u32 *in, u32 *out) {
        u32 r, at = tid * 4;
        asm volatile(\"s_mov_b32 m0, 256\\nglobal_load_lds_dword %[p], off offset:16\\ns_waitcnt vmcnt(0)\\n\"
            \"ds_read_b32 %[r], %[at] offset:272\\ns_waitcnt lgkmcnt(0)\"
            : [r] \"=&v\"(r) : [p] \"v\"(in + (63 - tid)), [at] \"v\"(at) : \"memory\");
        out[tid] = r;
    }";
    let data: Vec<u32> = (0..68).collect();
    let Some(kernel) = kernel(source, "direct", Target::Gfx942, Level::O1) else { return };
    let mut out = vec![0u32; 64];
    kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out)], 1024).unwrap();
    assert_eq!(out, (4..68).rev().collect::<Vec<u32>>());
}
