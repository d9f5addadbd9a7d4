//! Integers of 8 to 64 bits.

use super::words;
use crate::harness::compare;

#[test]
fn integer_arithmetic_is_what_the_host_computes() {
    let source = "
        struct In { u32 a, b, c, d; };
        struct Out { u32 v[24]; };
        FN void body_integers(const In &x, Out &y) {
            u32 a = x.a, b = x.b, c = x.c, s = x.d & 31;
            i32 i = (i32)a, j = (i32)b;
            y.v[0] = a + b * c; y.v[1] = a - (b ^ c); y.v[2] = (a & b) | (c & ~a);
            y.v[3] = a << s; y.v[4] = a >> s; y.v[5] = (u32)(i >> s);
            y.v[6] = (a << s) + b; y.v[7] = (a + b) << s; y.v[8] = (a << s) | b;
            y.v[9] = i < j ? i : j; y.v[10] = a > b ? a : b;
            y.v[11] = (u32)(((u64)a * b) >> 32); y.v[12] = (u32)(((i64)i * j) >> 32);
            y.v[13] = (a >> 5) & 0x3ff; y.v[14] = (u32)((i32)(a << 7) >> 20);
            y.v[15] = (a << (32 - 11)) | (b >> 11); y.v[16] = a == b ? c : a <= b ? c + 1 : c - 1;
            y.v[17] = __builtin_popcount(a) + b; y.v[18] = a ? __builtin_clz(a) : 99;
            y.v[19] = b ? __builtin_ctz(b) : 99; y.v[20] = __builtin_bitreverse32(a);
            y.v[21] = (a & 0xffffff) * (b & 0xffffff) + c; y.v[22] = __builtin_bswap32(c) ^ (u8)(a >> 16);
            y.v[23] = (u32)(u16)((u16)a * (u16)b + (u16)c) + (u32)(i16)((i16)a >> (s & 15));
        }
        MAP(integers, In, Out)";
    compare::<[u32; 4], [u32; 24]>(source, "integers", &words(2000, 1), [7; 24]);
}

#[test]
fn division_and_remainder_have_the_signs_of_c() {
    let source = "
        struct In { u32 a, b, c, d; };
        struct Out { u32 v[4]; u64 w[4]; };
        FN void body_division(const In &x, Out &y) {
            u32 a = x.a, b = x.b | 1;
            i32 i = (i32)a, j = (i32)(x.b == 0xffffffff ? 3 : b);
            u64 p = (u64)x.c << 32 | x.a, q = (u64)(x.d >> (x.c & 31)) << 32 | b;
            i64 r = (i64)p, s = (i64)(q == ~0ull ? 5 : q);
            y.v[0] = a / b; y.v[1] = a % b; y.v[2] = i / j; y.v[3] = i % j;
            y.w[0] = p / q; y.w[1] = p % q; y.w[2] = r / s; y.w[3] = r % s;
        }
        MAP(division, In, Out)";
    let inputs: Vec<_> = words(1500, 2).into_iter().filter(|v| v[0] != 0 && v[2] != 0x8000_0000).collect();
    compare::<[u32; 4], [u32; 12]>(source, "division", &inputs, [7; 12]);
}

#[test]
fn sixty_four_bit_integers_carry_and_shift() {
    let source = "
        struct In { u64 a, b; };
        struct Out { u64 v[14]; };
        FN void body_wide(const In &x, Out &y) {
            u64 a = x.a, b = x.b; i64 i = (i64)a, j = (i64)b; u32 s = (u32)b & 63;
            y.v[0] = a + b; y.v[1] = a - b; y.v[2] = a * b; y.v[3] = a << s; y.v[4] = a >> s;
            y.v[5] = (u64)(i >> s); y.v[6] = i < j ? a : b; y.v[7] = a >= b ? a ^ b : a & b;
            y.v[8] = (u64)(u32)a * (u32)b + (a >> 32); y.v[9] = (u64)((i64)(i32)a * (i32)b + j);
            y.v[10] = (u64)(((unsigned __int128)a * b) >> 64);
            y.v[11] = __builtin_popcountll(a) + (a ? __builtin_clzll(a) : 64) * 100 + (b ? __builtin_ctzll(b) : 64) * 10000;
            y.v[12] = (a << (s & 7)) + b; y.v[13] = (u64)(a == b) | (u64)(i > j) << 1 | (u64)(a != b) << 2 | (u64)(i <= j) << 3;
        }
        MAP(wide, In, Out)";
    compare::<[u32; 4], [u64; 14]>(source, "wide", &words(2000, 3), [7; 14]);
}

#[test]
fn saturating_and_median_operations_are_exact() {
    let source = "
        struct In { u32 a, b, c, d; };
        struct Out { u32 v[10]; };
        FN u32 umin(u32 a, u32 b) { return a < b ? a : b; }
        FN u32 umax(u32 a, u32 b) { return a > b ? a : b; }
        FN i32 smin(i32 a, i32 b) { return a < b ? a : b; }
        FN i32 smax(i32 a, i32 b) { return a > b ? a : b; }
        FN void body_saturating(const In &x, Out &y) {
            u32 a = x.a, b = x.b, c = x.c; i32 i = (i32)a, j = (i32)b, k = (i32)c;
            y.v[0] = __builtin_elementwise_add_sat(a, b); y.v[1] = __builtin_elementwise_sub_sat(a, b);
            y.v[2] = __builtin_elementwise_add_sat(i, j); y.v[3] = __builtin_elementwise_sub_sat(i, j);
            y.v[4] = umin(umin(a, b), c); y.v[5] = smax(smax(i, j), k);
            y.v[6] = umax(umin(umax(a, b), c), umin(a, b)); y.v[7] = smax(smin(smax(i, j), k), smin(i, j));
            y.v[8] = __builtin_elementwise_add_sat((u16)a, (u16)b);
            y.v[9] = (u32)__builtin_elementwise_sub_sat((i16)a, (i16)b);
        }
        MAP(saturating, In, Out)";
    compare::<[u32; 4], [u32; 10]>(source, "saturating", &words(2000, 4), [7; 10]);
}
