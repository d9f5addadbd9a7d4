//! Floating point: what IEEE 754 defines is compared bit for bit.

use super::{doubles, singles, words};
use crate::harness::compare;

/// NaNs of any payload become one: neither processor's manual promises more.
const CANONICAL: &str = "
    #pragma clang fp contract(off)
    FN u32 f(float x) { return x != x ? 0x7fc00000u : __builtin_bit_cast(u32, x); }
    FN u64 d(double x) { return x != x ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, x); }
";

#[test]
fn single_precision_is_ieee() {
    let source = format!(
        "{CANONICAL}
        struct In {{ float a, b, c, d; }};
        struct Out {{ u32 v[20]; }};
        FN void body_single(const In &x, Out &y) {{
            float a = x.a, b = x.b, c = x.c;
            y.v[0] = f(a + b); y.v[1] = f(a - b); y.v[2] = f(a * b); y.v[3] = f(a / b);
            y.v[4] = f(__builtin_fmaf(a, b, c)); y.v[5] = f(__builtin_fmaf(-a, b, c)); y.v[6] = f(a * b + c);
            y.v[7] = f(__builtin_sqrtf(__builtin_fabsf(a))); y.v[8] = f(__builtin_floorf(a));
            y.v[9] = f(__builtin_ceilf(a)); y.v[10] = f(__builtin_truncf(a)); y.v[11] = f(__builtin_rintf(a));
            y.v[12] = f(-__builtin_fabsf(a)); y.v[13] = f(__builtin_copysignf(a, b));
            y.v[14] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | (a >= b) << 5
                | !(a < b) << 6 | !(a >= b) << 7 | __builtin_isunordered(a, b) << 8 | (a < b || a > b) << 9;
            y.v[15] = f(a > b ? a : b); y.v[16] = f((a + b) * (a - c)); y.v[17] = f(1.0f / b);
            y.v[18] = f(__builtin_ldexpf(c, (int)(__builtin_bit_cast(u32, a) % 300u) - 150));
            y.v[19] = __builtin_isfpclass(a, 0x3) | __builtin_isfpclass(a, 0x204) << 1 | __builtin_isfpclass(a, 0x90) << 2
                | __builtin_isfpclass(a, 0x60) << 3;
        }}
        MAP(single, In, Out)"
    );
    compare::<[f32; 4], [u32; 20]>(&source, "single", &singles(3000, 5), [7; 20]);
}

#[test]
fn double_precision_is_ieee() {
    let source = format!(
        "{CANONICAL}
        struct In {{ double a, b, c, e; }};
        struct Out {{ u64 v[18]; }};
        FN void body_double(const In &x, Out &y) {{
            double a = x.a, b = x.b, c = x.c;
            y.v[0] = d(a + b); y.v[1] = d(a - b); y.v[2] = d(a * b); y.v[3] = d(a / b);
            y.v[4] = d(__builtin_fma(a, b, c)); y.v[5] = d(__builtin_fma(-a, b, -c)); y.v[6] = d(a * b + c);
            y.v[7] = d(__builtin_sqrt(__builtin_fabs(a))); y.v[8] = d(__builtin_floor(a));
            y.v[9] = d(__builtin_ceil(a)); y.v[10] = d(__builtin_trunc(a)); y.v[11] = d(__builtin_rint(a));
            y.v[12] = d(-__builtin_fabs(a)); y.v[13] = d(__builtin_copysign(a, b));
            y.v[14] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | (a >= b) << 5
                | !(a < b) << 6 | !(a >= b) << 7 | __builtin_isunordered(a, b) << 8;
            y.v[15] = d(a > b ? a : b); y.v[16] = d(1.0 / b);
            y.v[17] = d(__builtin_ldexp(c, (int)(__builtin_bit_cast(u64, a) % 2100u) - 1050));
        }}
        MAP(double, In, Out)"
    )
    .replace("body_double", "body_doubles")
    .replace("MAP(double,", "MAP(doubles,");
    compare::<[f64; 4], [u64; 18]>(&source, "doubles", &doubles(3000, 6), [7; 18]);
}

#[test]
fn conversions_round_once() {
    let source = format!(
        "{CANONICAL}
        struct In {{ u32 a, b, c, e; }};
        struct Out {{ u64 v[14]; }};
        FN void body_conversions(const In &x, Out &y) {{
            u64 wide = (u64)x.a << 32 | x.b;
            float s = (float)(i32)x.a / 64.0f; double t = (double)(i64)wide / 8589934592.0;
            y.v[0] = f((float)x.a); y.v[1] = f((float)(i32)x.a); y.v[2] = f((float)wide); y.v[3] = f((float)(i64)wide);
            y.v[4] = d((double)x.a); y.v[5] = d((double)(i32)x.a); y.v[6] = d((double)wide); y.v[7] = d((double)(i64)wide);
            y.v[8] = (u32)(i32)s; y.v[9] = (u64)(i64)s; y.v[10] = (u32)(i32)t; y.v[11] = (u64)(i64)t;
            y.v[12] = f((float)t); y.v[13] = d((double)s) + (u64)(u8)(x.c >> 8);
            y.v[13] += f((float)(u8)(x.c >> 16));
        }}
        MAP(conversions, In, Out)"
    );
    compare::<[u32; 4], [u64; 14]>(&source, "conversions", &words(3000, 7), [7; 14]);
}

#[test]
fn half_precision_rounds_as_the_host_does() {
    let source = "
        #pragma clang fp contract(off)
        typedef _Float16 h;
        struct In { u32 a, b, c, d; };
        struct Out { u32 v[10]; };
        FN u32 bits(h x) { return x != x ? 0x7e00u : __builtin_bit_cast(u16, x); }
        FN u32 single(float x) { return x != x ? 0x7fc00000u : __builtin_bit_cast(u32, x); }
        FN void body_halves(const In &x, Out &y) {
            h a = __builtin_bit_cast(h, (u16)x.a), b = __builtin_bit_cast(h, (u16)x.b), c = __builtin_bit_cast(h, (u16)x.c);
            // The host keeps excess precision within an expression, but not in a variable.
            h product = a * b;
            y.v[0] = bits(a + b); y.v[1] = bits(a - b); y.v[2] = bits(product); y.v[3] = bits(product + c);
            y.v[4] = single((float)a); y.v[5] = bits((h)__builtin_bit_cast(float, x.d));
            y.v[6] = (a < b) | (a == b) << 1 | (a >= b) << 2 | (a != b) << 3;
            y.v[7] = bits((h)(i16)x.a); y.v[8] = bits(-a) | bits(a > b ? a : b) << 16; y.v[9] = bits(a + b) | bits(b * c) << 16;
        }
        MAP(halves, In, Out)";
    compare::<[u32; 4], [u32; 10]>(source, "halves", &words(3000, 8), [7; 10]);
}
