// The operations that random programs are made of. None has undefined behaviour, and every result is the same on all
// processors: integers wrap, shift counts are masked, divisors are not 0, NaNs are made equal where their bits show.
#pragma clang fp contract(off)
#define OP FN __attribute__((always_inline)) inline
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef __int128 i128;
typedef unsigned __int128 u128;

template <class T> OP T at(const void *p) {
    struct __attribute__((packed, may_alias)) Unaligned { T value; };
    return ((const Unaligned *)p)->value;
}
template <class T> OP void put(void *p, T value) {
    struct __attribute__((packed, may_alias)) Unaligned { T value; };
    ((Unaligned *)p)->value = value;
}

// T, the unsigned type of its size, and one of at least twice its size.
#define INTEGER(T, U, W, BITS)                                                                                \
    OP T add(T a, T b) { return (T)(U)((U)a + (U)b); }                                                        \
    OP T sub(T a, T b) { return (T)(U)((U)a - (U)b); }                                                        \
    OP T mul(T a, T b) { return (T)(U)((u64)(U)a * (u64)(U)b); }                                              \
    OP T mul24(T a, T b) { return (T)(U)((u64)((U)a & 0xffffff) * (u64)((U)b & 0xffffff)); }                  \
    OP T mulhi(T a, T b) { return (T)(((W)a * (W)b) >> BITS); }                                               \
    OP T div(T a, T b) { return b == 0 || (b == (T)-1 && (T)-1 < (T)0) ? sub((T)0, a) : (T)(a / b); }            \
    OP T rem(T a, T b) { return b == 0 || (b == (T)-1 && (T)-1 < (T)0) ? a : (T)(a % b); }                    \
    OP T shl(T a, T b) { return (T)(U)((u64)(U)a << ((U)b & (BITS - 1))); }                                   \
    OP T shr(T a, T b) { return (T)(a >> ((U)b & (BITS - 1))); }                                              \
    OP T rotate(T a, T b) { return (T)(U)((U)a << ((U)b & (BITS - 1)) | (U)a >> (-(U)b & (BITS - 1))); }       \
    OP T funnel(T a, T b, T c) { return (T)(U)__builtin_elementwise_fshl((U)a, (U)b, (U)c); }                 \
    OP T funnelr(T a, T b, T c) { return (T)(U)__builtin_elementwise_fshr((U)a, (U)b, (U)c); }                \
    OP T addsat(T a, T b) { return __builtin_elementwise_add_sat(a, b); }                                     \
    OP T subsat(T a, T b) { return __builtin_elementwise_sub_sat(a, b); }                                     \
    OP T addover(T a, T b) { T r; bool o = __builtin_add_overflow(a, b, &r); return o ? (T)~r : r; }          \
    OP T subover(T a, T b) { T r; bool o = __builtin_sub_overflow(a, b, &r); return o ? (T)~r : r; }          \
    OP T mulover(T a, T b) { T r; bool o = __builtin_mul_overflow(a, b, &r); return o ? (T)~r : r; }          \
    OP T min(T a, T b) { return __builtin_elementwise_min(a, b); }                                            \
    OP T max(T a, T b) { return __builtin_elementwise_max(a, b); }                                            \
    OP T median(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }                                  \
    OP T distance(T a, T b) { return (T)(U)(a > b ? (U)a - (U)b : (U)b - (U)a); }                             \
    OP T average(T a, T b) { return (T)(((W)a + (W)b + 1) >> 1); }                                            \
    OP T abs(T a) { return a < (T)0 ? sub((T)0, a) : a; }                                                        \
    OP T neg(T a) { return sub((T)0, a); }                                                                       \
    OP T inv(T a) { return (T)~a; }                                                                           \
    OP T bitand_(T a, T b) { return (T)(a & b); }                                                             \
    OP T bitor_(T a, T b) { return (T)(a | b); }                                                              \
    OP T bitxor(T a, T b) { return (T)(a ^ b); }                                                              \
    OP T andnot(T a, T b) { return (T)(a & ~b); }                                                             \
    OP T choose(T a, T b, T c) { return (T)((a & b) | (~a & c)); }                                            \
    OP T majority(T a, T b, T c) { return (T)((a & b) | (a & c) | (b & c)); }                                 \
    OP T popcount(T a) { return (T)__builtin_popcountg((U)a); }                                               \
    OP T leading(T a) { return (T)__builtin_clzg((U)a, BITS + 1); }                                           \
    OP T trailing(T a) { return (T)__builtin_ctzg((U)a, BITS + 2); }                                          \
    OP T reverse(T a) { return (T)__builtin_elementwise_bitreverse((U)a); }                                   \
    OP T field(T a, T b, T c) { return (T)((U)shr(a, b) & (U)(((u64)1 << ((U)c & (BITS - 1))) - 1)); }        \
    OP T mask(T a, T b) { return (T)(U)((((u64)1 << ((U)a & (BITS - 1))) - 1) << ((U)b & (BITS / 2 - 1))); }  \
    OP u64 bits(T a) { return (u64)(U)a; }
INTEGER(u8, u8, u32, 8)
INTEGER(i8, u8, i32, 8)
INTEGER(u16, u16, u32, 16)
INTEGER(i16, u16, i32, 16)
INTEGER(u32, u32, u64, 32)
INTEGER(i32, u32, i64, 32)
INTEGER(u64, u64, u128, 64)
INTEGER(i64, u64, i128, 64)
#undef INTEGER

OP u16 swap(u16 a) { return __builtin_bswap16(a); }
OP i16 swap(i16 a) { return (i16)__builtin_bswap16((u16)a); }
OP u32 swap(u32 a) { return __builtin_bswap32(a); }
OP i32 swap(i32 a) { return (i32)__builtin_bswap32((u32)a); }
OP u64 swap(u64 a) { return __builtin_bswap64(a); }
OP i64 swap(i64 a) { return (i64)__builtin_bswap64((u64)a); }
OP u8 swap(u8 a) { return (u8)(a << 4 | a >> 4); }
OP i8 swap(i8 a) { return (i8)swap((u8)a); }
// Bytes of two words in an order that the program's text fixes.
template <u32 order> OP u32 permute(u32 a, u32 b) {
    u64 both = (u64)a << 32 | b;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++) r |= (u32)(u8)(both >> (8 * (order >> (4 * i) & 7))) << (8 * i);
    return r;
}
// LLVM 22 adds a high half that differs from lane to lane with v_addc even where the low half is the same for all and
// its carry is in SCC, not in VCC. So both halves are made to differ.
#ifdef __HIP__
#define PER_LANE(x) asm("" : "+v"(x))
#else
#define PER_LANE(x) (void)0
#endif
OP u64 wide(u64 a, u64 b, u64 c, u32 s) {
    PER_LANE(a);
    PER_LANE(b);
    PER_LANE(c);
    u128 x = (u128)a << 64 | b, y = (u128)c * b + x;
    y ^= x << (s & 127);
    y -= (i128)x >> (s >> 7 & 127);
    return (u64)(y >> 64) + (u64)y + (x < y) + 2 * ((i128)y < (i128)x);
}
OP u64 wide_division(u64 a, u64 b, u64 c) {
    PER_LANE(a);
    PER_LANE(b);
    PER_LANE(c);
    u128 x = (u128)a << 64 | b, y = (u128)(c & 0xffff) << 64 | (c | 1);
    return (u64)(x / y) ^ (u64)(x % y >> 32);
}

#define FLOAT(T, U, NAN_BITS, S)                                                                              \
    OP u64 bits(T a) { return a != a ? (u64)NAN_BITS : (u64)__builtin_bit_cast(U, a); }                       \
    OP T add(T a, T b) { return a + b; }                                                                      \
    OP T sub(T a, T b) { return a - b; }                                                                      \
    OP T mul(T a, T b) { return a * b; }                                                                      \
    OP T div(T a, T b) { return a / b; }                                                                      \
    OP T neg(T a) { return -a; }                                                                              \
    OP T abs(T a) { return __builtin_fabs##S(a); }                                                            \
    OP T root(T a) { return __builtin_sqrt##S(a); }                                                           \
    OP T floor(T a) { return __builtin_floor##S(a); }                                                         \
    OP T ceil(T a) { return __builtin_ceil##S(a); }                                                           \
    OP T trunc(T a) { return __builtin_trunc##S(a); }                                                         \
    OP T rint(T a) { return __builtin_rint##S(a); }                                                           \
    OP T round(T a) { return __builtin_round##S(a); }                                                         \
    OP T sign(T a, T b) { return a != a || b != b ? a : __builtin_copysign##S(a, b); }                        \
    OP T lesser(T a, T b) { return a < b ? a : b; }                                                           \
    OP T greater(T a, T b) { return a >= b ? a : b; }                                                         \
    /* Which of two zeros is the lesser is open, and what LLVM makes of a sum with 0 then, too. */             \
    OP T unsigned_zero(T a) { return a == (T)0 ? (T)0 : a; }                                                  \
    OP T min(T a, T b) { return unsigned_zero(__builtin_fmin##S(a, b)); }                                     \
    OP T max(T a, T b) { return unsigned_zero(__builtin_fmax##S(a, b)); }                                     \
    OP T clamp(T a) { return unsigned_zero(__builtin_fmin##S(__builtin_fmax##S(a, (T)0), (T)1)); }            \
    OP T number(T a) { return a != a ? (T)1 : a; }                                                            \
    /* LLVM 22 makes this a v_med3, which gives something else for a NaN. */                                  \
    OP T median(T x, T y, T z) {                                                                              \
        T a = number(x), b = number(y), c = number(z);                                                        \
        return max(min(a, b), min(max(a, b), c));                                                             \
    }                                                                                                         \
    OP T scale(T a, i32 b) { return __builtin_ldexp##S(a, b % 40); }                                          \
    OP i32 exponent(T a) { int e = 0; if (a - a == (T)0) (void)__builtin_frexp##S(a, &e); return e; }         \
    OP T mantissa(T a) { int e = 0; return a - a == (T)0 ? (T)__builtin_frexp##S(a, &e) : a; }                \
    OP i32 class_(T a) {                                                                                      \
        return __builtin_isfpclass(a, 0x3) | __builtin_isfpclass(a, 0x4) << 1 |                               \
            __builtin_isfpclass(a, 0x90) << 2 | __builtin_isfpclass(a, 0x60) << 3 |                           \
            __builtin_isfpclass(a, 0x108) << 4 | __builtin_isfpclass(a, 0x200) << 5;                          \
    }                                                                                                         \
    OP i32 order(T a, T b) {                                                                                  \
        return (a < b) | (a <= b) << 1 | (a == b) << 2 | !(a >= b) << 3 | !(a > b) << 4 |                     \
            __builtin_isunordered(a, b) << 5 | __builtin_islessgreater(a, b) << 6;                            \
    }                                                                                                         \
    OP T canonical(T a) { return a != a ? (T)__builtin_nanf("") : a; }
FLOAT(f64, u64, 0x7ff8000000000000, )
FLOAT(f32, u32, 0x7fc00000, f)
#ifndef __HIP__
// The host's library has no functions for halves. Those for singles round the same.
#define __builtin_sqrtf16(x) (f16) __builtin_sqrtf(x)
#define __builtin_ldexpf16(x, e) (f16) __builtin_ldexpf(x, e)
#define __builtin_frexpf16(x, e) (f16) __builtin_frexpf(x, e)
#endif
FLOAT(f16, u16, 0x7e00, f16)
#undef FLOAT
OP f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
OP f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
#ifdef __HIP__
OP f16 fused(f16 a, f16 b, f16 c) { return __builtin_fmaf16(a, b, c); }
#else
// Exact in a double: 53 bits hold every product of halves plus a half of its size.
OP f16 fused(f16 a, f16 b, f16 c) { return (f16)__builtin_fma((f64)a, (f64)b, (f64)c); }
#endif
// What is out of an integer's range becomes 77.
template <class I, class F> OP I truncated(F a) {
    constexpr bool has_sign = (I)-1 < (I)0;
    constexpr f64 limit = (f64)((u64)1 << (sizeof(I) * 8 - 1)) * (has_sign ? 1 : 2);
    return (f64)a > (has_sign ? -limit : -1.0) && (f64)a < limit ? (I)a : (I)77;
}
// LLVM 22 makes a rounded product a v_fma_mixlo that adds +0, which loses the sign of a zero.
OP f16 half(f32 a) { return unsigned_zero((f16)a); }
OP f32 to_f32(u16 a) { return canonical(__builtin_bit_cast(f32, (u32)a << 16)); }

#ifdef __HIP__
typedef __bf16 bf16;
OP bf16 to_bf16(f32 a) { return (bf16)a; }
OP f32 to_f32(bf16 a) { return (f32)a; }
OP bf16 add(bf16 a, bf16 b) { return a + b; }
OP bf16 sub(bf16 a, bf16 b) { return a - b; }
OP bf16 mul(bf16 a, bf16 b) { return a * b; }
OP bf16 div(bf16 a, bf16 b) { return a / b; }
OP bf16 neg(bf16 a) { return -a; }
OP i32 order(bf16 a, bf16 b) { return (a < b) | (a <= b) << 1 | (a == b) << 2 | !(a >= b) << 3; }
OP u64 bits(bf16 a) { return a != a ? 0x7fc0 : (u64)__builtin_bit_cast(u16, a); }
#else
struct bf16 { u16 pattern; };
OP f32 to_f32(bf16 a) { return __builtin_bit_cast(f32, (u32)a.pattern << 16); }
OP bf16 to_bf16(f32 a) {
    u32 x = __builtin_bit_cast(u32, a);
    if (a != a) return bf16{0x7fc0};
    return bf16{(u16)((x + 0x7fff + (x >> 16 & 1)) >> 16)};
}
OP bf16 add(bf16 a, bf16 b) { return to_bf16(to_f32(a) + to_f32(b)); }
OP bf16 sub(bf16 a, bf16 b) { return to_bf16(to_f32(a) - to_f32(b)); }
OP bf16 mul(bf16 a, bf16 b) { return to_bf16(to_f32(a) * to_f32(b)); }
OP bf16 div(bf16 a, bf16 b) { return to_bf16(to_f32(a) / to_f32(b)); }
OP bf16 neg(bf16 a) { return bf16{(u16)(a.pattern ^ 0x8000)}; }
OP i32 order(bf16 a, bf16 b) {
    f32 x = to_f32(a), y = to_f32(b);
    return (x < y) | (x <= y) << 1 | (x == y) << 2 | !(x >= y) << 3;
}
OP u64 bits(bf16 a) { return to_f32(a) != to_f32(a) ? 0x7fc0 : (u64)a.pattern; }
#endif

// Bits of any kind as a value of each type; NaNs become quiet.
template <class T> OP T from(u64 a) { return (T)a; }
template <> OP f64 from<f64>(u64 a) { return canonical(__builtin_bit_cast(f64, a)); }
template <> OP f32 from<f32>(u64 a) { return canonical(__builtin_bit_cast(f32, (u32)a)); }
template <> OP f16 from<f16>(u64 a) { return canonical(__builtin_bit_cast(f16, (u16)a)); }
template <> OP bf16 from<bf16>(u64 a) { return to_bf16(to_f32((u16)a)); }

// Vectors: T of N elements, U of as many unsigned integers of their size.
#define VECTOR_TYPE(T, N) typedef T T##x##N __attribute__((ext_vector_type(N)));
VECTOR_TYPE(u8, 2) VECTOR_TYPE(u8, 4) VECTOR_TYPE(i8, 2) VECTOR_TYPE(i8, 4) VECTOR_TYPE(u16, 2) VECTOR_TYPE(u16, 4)
VECTOR_TYPE(i16, 2) VECTOR_TYPE(i16, 4) VECTOR_TYPE(u32, 2) VECTOR_TYPE(u32, 4) VECTOR_TYPE(i32, 2) VECTOR_TYPE(i32, 4)
VECTOR_TYPE(u64, 2) VECTOR_TYPE(u64, 4) VECTOR_TYPE(i64, 2) VECTOR_TYPE(i64, 4)
VECTOR_TYPE(f16, 2) VECTOR_TYPE(f16, 4) VECTOR_TYPE(f32, 2) VECTOR_TYPE(f32, 4) VECTOR_TYPE(f64, 2) VECTOR_TYPE(f64, 4)
#undef VECTOR_TYPE

#define INTEGERS(T, U, E, BITS)                                                                               \
    OP T add(T a, T b) { return (T)((U)a + (U)b); }                                                           \
    OP T sub(T a, T b) { return (T)((U)a - (U)b); }                                                           \
    OP T mul(T a, T b) { U r; for (u32 i = 0; i < sizeof(T) / sizeof(E); i++) r[i] = mul(((U)a)[i], ((U)b)[i]); return (T)r; } \
    OP T mad(T a, T b, T c) { return add(mul(a, b), c); }                                                     \
    OP T shl(T a, T b) { return (T)((U)a << ((U)b & (U)(BITS - 1))); }                                        \
    OP T shr(T a, T b) { return a >> (b & (T)(BITS - 1)); }                                                   \
    OP T min(T a, T b) { return __builtin_elementwise_min(a, b); }                                            \
    OP T max(T a, T b) { return __builtin_elementwise_max(a, b); }                                            \
    OP T addsat(T a, T b) { return __builtin_elementwise_add_sat(a, b); }                                     \
    OP T subsat(T a, T b) { return __builtin_elementwise_sub_sat(a, b); }                                     \
    OP T bitxor(T a, T b) { return a ^ b; }                                                                   \
    OP T bitand_(T a, T b) { return a & b; }                                                                  \
    OP T neg(T a) { return (T)(-(U)a); }                                                                      \
    OP T inv(T a) { return ~a; }                                                                              \
    OP T pick(T a, T b, T c, T d) { return a < b ? c : d; }
#define FLOATS(T, E)                                                                                          \
    OP T add(T a, T b) { return a + b; }                                                                      \
    OP T sub(T a, T b) { return a - b; }                                                                      \
    OP T mul(T a, T b) { return a * b; }                                                                      \
    OP T neg(T a) { return -a; }                                                                              \
    OP T abs(T a) { return __builtin_elementwise_abs(a); }                                                    \
    OP T fused(T a, T b, T c) { T r; for (u32 i = 0; i < sizeof(T) / sizeof(E); i++) r[i] = fused((E)a[i], (E)b[i], (E)c[i]); return r; } \
    OP T unsigned_zero(T a) { return a == (T)(E)0 ? (T)(E)0 : a; }                                            \
    OP T min(T a, T b) { return unsigned_zero(__builtin_elementwise_min(a, b)); }                             \
    OP T max(T a, T b) { return unsigned_zero(__builtin_elementwise_max(a, b)); }                             \
    OP T pick(T a, T b, T c, T d) { return a < b ? c : d; }
#define BOTH(M, T, U, E, BITS) M(T##x2, U##x2, E, BITS) M(T##x4, U##x4, E, BITS)
BOTH(INTEGERS, u8, u8, u8, 8) BOTH(INTEGERS, i8, u8, i8, 8) BOTH(INTEGERS, u16, u16, u16, 16)
BOTH(INTEGERS, i16, u16, i16, 16) BOTH(INTEGERS, u32, u32, u32, 32) BOTH(INTEGERS, i32, u32, i32, 32)
BOTH(INTEGERS, u64, u64, u64, 64) BOTH(INTEGERS, i64, u64, i64, 64)
FLOATS(f16x2, f16) FLOATS(f16x4, f16) FLOATS(f32x2, f32) FLOATS(f32x4, f32) FLOATS(f64x2, f64) FLOATS(f64x4, f64)
#undef BOTH
#undef INTEGERS
#undef FLOATS

#ifdef __HIP__
#define ATOMIC(op, scope, p, ...) __hip_atomic_##op(p, __VA_ARGS__, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope)
#define CAS(scope, p, expected, value) \
    __hip_atomic_compare_exchange_strong(p, expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope)
#define NATIVE_ATOMICS [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]]
#else
#define ATOMIC(op, scope, p, ...) __atomic_##op(p, __VA_ARGS__, __ATOMIC_RELAXED)
#define __atomic_exchange __atomic_exchange_n
#define CAS(scope, p, expected, value) \
    __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define NATIVE_ATOMICS
#endif
