//! Control flow that diverges, against the same source on the host.

use fastrand::Rng;

use crate::harness::compare;

fn words(count: usize) -> Vec<u32> {
    let mut random = Rng::with_seed(1);
    (0..count).map(|i| if i % 3 == 0 { i as u32 } else { random.u32(..) }).collect()
}

#[test]
fn lanes_take_different_branches_and_meet_again() {
    let source = "FN void body_branch(u32 x, u32 &y) {
        u32 r = x;
        if (x & 1) { r += 3; if (x & 2) r *= 5; else r ^= 0x55; } else if (x & 4) { r -= 11; }
        y = r + 1;
    } MAP(branch, u32, u32)";
    compare(source, "branch", &words(700), 0u32);
}

#[test]
fn lanes_leave_a_loop_at_different_times() {
    let source = "FN void body_collatz(u32 x, u32 &y) {
        u32 n = (x & 0xffff) + 1, steps = 0;
        while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; if (++steps > 300) break; if (n == 1000) continue; }
        y = steps;
    } MAP(collatz, u32, u32)";
    compare(source, "collatz", &words(500), 0u32);
}

#[test]
fn a_switch_reaches_each_case() {
    let source = "FN void body_sw(u32 x, u32 &y) {
        switch (x % 11) {
        case 0: y = x + 1; break;
        case 1: y = x * 3; break;
        case 2: y = x ^ 0xff; // falls through
        case 3: y += 7; break;
        case 4: for (u32 i = 0; i < x % 7; i++) y += i * x; break;
        case 5: y = x >> 3; break;
        case 6: y = ~x; break;
        case 7: y = x << 5; break;
        case 8: y = __builtin_popcount(x); break;
        default: y = 42;
        }
    } MAP(sw, u32, u32)";
    compare(source, "sw", &words(600), 9u32);
}

#[test]
fn nested_loops_with_early_returns_agree_with_the_host() {
    let source = "FN void body_nest(u32 x, u32 &y) {
        y = 0;
        for (u32 i = 0; i < (x & 15); i++)
            for (u32 j = i; j < (x >> 4 & 15); j++) {
                if (((i * j + x) & 63) == 63) return;
                y += i ^ j;
            }
        y |= 0x10000;
    } MAP(nest, u32, u32)";
    compare(source, "nest", &words(600), 0u32);
}

#[test]
fn arrays_on_the_stack_are_private_to_each_lane() {
    let source = "FN void body_stack(u32 x, u32 &y) {
        u32 a[33];
        for (u32 i = 0; i < 33; i++) a[i] = x * i;
        for (u32 i = 0; i < 64; i++) a[(x + i * i) % 33] += a[(x >> 3 ^ i) % 33];
        u8 *bytes = (u8 *)a;
        u16 half;
        __builtin_memcpy(&half, bytes + x % 131, 2);
        y = bytes[x % 132] + 256 * half + a[x % 33];
    } MAP(stack, u32, u32)";
    compare(source, "stack", &words(600), 0u32);
}

#[test]
fn dynamic_indexing_of_a_vector_agrees_with_the_host() {
    // The compiler keeps small vectors in registers and indexes them through M0.
    let source = "typedef u32 v8 __attribute__((ext_vector_type(8)));
    FN void body_idx(u32 x, u32 &y) {
        v8 v = {x, x + 1, x * 2, x ^ 7, x >> 2, 5, 6, ~x};
        v[x & 7] += 100;
        for (u32 i = 0; i < (x >> 5 & 3); i++) v[(x >> i) & 7] ^= v[(x >> (i + 3)) & 7];
        y = v[(x >> 3) & 7] + v.s0 * 3;
    } MAP(idx, u32, u32)";
    compare(source, "idx", &words(600), 0u32);
}

fn pairs() -> Vec<[u64; 2]> {
    let mut random = Rng::with_seed(2);
    let edges = [0, 1, 2, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 32, u32::MAX.into(), 0xffff_ffff_0000_0000];
    let mut pairs: Vec<_> = edges.iter().flat_map(|a| edges.map(|b| [*a, b])).collect();
    pairs.extend((0..400).map(|_| {
        let shift = random.u64(..) & 63;
        [random.u64(..), random.u64(..) >> shift]
    }));
    pairs
}

#[test]
fn wide_integer_arithmetic_agrees_with_the_host() {
    let source = "struct In { u64 a, b; }; struct Out { u64 r[8]; };
    FN void body_wide(In in, Out &out) {
        u64 a = in.a, b = in.b;
        out.r[0] = a * b;
        out.r[1] = b ? a / b : 0;
        out.r[2] = b ? a % b : 0;
        out.r[3] = b && !(b == ~0ull) ? (u64)((i64)a / (i64)b) : 0;
        out.r[4] = b && !(b == ~0ull) ? (u64)((i64)a % (i64)b) : 0;
        out.r[5] = a << (b & 63) | a >> (b & 31);
        out.r[6] = (u64)((i64)a >> (b & 63));
        out.r[7] = (u64)(((unsigned __int128)a * b) >> 64) + (a < b) + 2 * ((i64)a < (i64)b);
    } MAP(wide, In, Out)";
    compare(source, "wide", &pairs(), [0u64; 8]);
}

#[test]
fn narrow_division_agrees_with_the_host() {
    let source = "struct In { u64 a, b; }; struct Out { u32 r[6]; };
    FN void body_narrow(In in, Out &out) {
        u32 a = in.a, b = in.b;
        out.r[0] = b ? a / b : 0;
        out.r[1] = b ? a % b : 0;
        out.r[2] = b && b != ~0u ? (i32)a / (i32)b : 0;
        out.r[3] = b && b != ~0u ? (i32)a % (i32)b : 0;
        out.r[4] = (u8)b ? (u8)a / (u8)b : 0;
        out.r[5] = (u16)b ? (u16)a % (u16)b : 0;
    } MAP(narrow, In, Out)";
    compare(source, "narrow", &pairs(), [0u32; 6]);
}
