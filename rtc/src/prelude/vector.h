// Short vectors: their parts by name, element-wise operators, makers.
#pragma once
#pragma GCC system_header

#define __hip_rtc_v1(T) struct T##1 { using type = __hip_rtc_##T; type x; };
#define __hip_rtc_v2(T) struct alignas(2 * sizeof(__hip_rtc_##T)) T##2 { using type = __hip_rtc_##T; type x, y; };
#define __hip_rtc_v3(T) struct T##3 { using type = __hip_rtc_##T; type x, y, z; };
#define __hip_rtc_v4(T)                                                                                            \
  struct alignas(4 * sizeof(__hip_rtc_##T) > 16 ? 16 : 4 * sizeof(__hip_rtc_##T)) T##4 {                           \
    using type = __hip_rtc_##T;                                                                                    \
    type x, y, z, w;                                                                                               \
  };

#define __hip_rtc_operator(V, op, ...)                                                                             \
  __hip_rtc_member V operator op(V a, V b) { return V{__VA_ARGS__}; }                                              \
  __hip_rtc_member V operator op(V a, V::type s) { return a op V##_all(s); }                                       \
  __hip_rtc_member V operator op(V::type s, V b) { return V##_all(s) op b; }                                       \
  __hip_rtc_member V& operator op##=(V& a, V b) { return a = a op b; }                                             \
  __hip_rtc_member V& operator op##=(V& a, V::type s) { return a = a op s; }

#define __hip_rtc_operators1(V, op) __hip_rtc_operator(V, op, (V::type)(a.x op b.x))
#define __hip_rtc_operators2(V, op) __hip_rtc_operator(V, op, (V::type)(a.x op b.x), (V::type)(a.y op b.y))
#define __hip_rtc_operators3(V, op)                                                                                \
  __hip_rtc_operator(V, op, (V::type)(a.x op b.x), (V::type)(a.y op b.y), (V::type)(a.z op b.z))
#define __hip_rtc_operators4(V, op)                                                                                \
  __hip_rtc_operator(V, op, (V::type)(a.x op b.x), (V::type)(a.y op b.y), (V::type)(a.z op b.z),                   \
                     (V::type)(a.w op b.w))
#define __hip_rtc_arithmetic(n, V)                                                                                 \
  __hip_rtc_operators##n(V, +) __hip_rtc_operators##n(V, -) __hip_rtc_operators##n(V, *)                           \
  __hip_rtc_operators##n(V, /)

#define __hip_rtc_make1(T)                                                                                         \
  __hip_rtc_member T##1 make_##T##1(__hip_rtc_##T x) { return {x}; }                                               \
  __hip_rtc_member T##1 T##1_all(__hip_rtc_##T s) { return {s}; }                                                  \
  __hip_rtc_member bool operator==(T##1 a, T##1 b) { return a.x == b.x; }                                          \
  __hip_rtc_member bool operator!=(T##1 a, T##1 b) { return !(a == b); }                                           \
  __hip_rtc_arithmetic(1, T##1)
#define __hip_rtc_make2(T)                                                                                         \
  __hip_rtc_member T##2 make_##T##2(__hip_rtc_##T x, __hip_rtc_##T y) { return {x, y}; }                           \
  __hip_rtc_member T##2 T##2_all(__hip_rtc_##T s) { return {s, s}; }                                               \
  __hip_rtc_member bool operator==(T##2 a, T##2 b) { return a.x == b.x && a.y == b.y; }                            \
  __hip_rtc_member bool operator!=(T##2 a, T##2 b) { return !(a == b); }                                           \
  __hip_rtc_arithmetic(2, T##2)
#define __hip_rtc_make3(T)                                                                                         \
  __hip_rtc_member T##3 make_##T##3(__hip_rtc_##T x, __hip_rtc_##T y, __hip_rtc_##T z) { return {x, y, z}; }       \
  __hip_rtc_member T##3 T##3_all(__hip_rtc_##T s) { return {s, s, s}; }                                            \
  __hip_rtc_member bool operator==(T##3 a, T##3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }              \
  __hip_rtc_member bool operator!=(T##3 a, T##3 b) { return !(a == b); }                                           \
  __hip_rtc_arithmetic(3, T##3)
#define __hip_rtc_make4(T)                                                                                         \
  __hip_rtc_member T##4 make_##T##4(__hip_rtc_##T x, __hip_rtc_##T y, __hip_rtc_##T z, __hip_rtc_##T w) {          \
    return {x, y, z, w};                                                                                           \
  }                                                                                                                \
  __hip_rtc_member T##4 T##4_all(__hip_rtc_##T s) { return {s, s, s, s}; }                                         \
  __hip_rtc_member bool operator==(T##4 a, T##4 b) {                                                               \
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;                                                   \
  }                                                                                                                \
  __hip_rtc_member bool operator!=(T##4 a, T##4 b) { return !(a == b); }                                           \
  __hip_rtc_arithmetic(4, T##4)

#define __hip_rtc_vectors(T)                                                                                       \
  __hip_rtc_v1(T) __hip_rtc_v2(T) __hip_rtc_v4(T) __hip_rtc_make1(T) __hip_rtc_make2(T) __hip_rtc_make4(T)

typedef signed char __hip_rtc_char;
typedef unsigned char __hip_rtc_uchar;
typedef short __hip_rtc_short;
typedef unsigned short __hip_rtc_ushort;
typedef int __hip_rtc_int;
typedef unsigned __hip_rtc_uint;
typedef long __hip_rtc_long;
typedef unsigned long __hip_rtc_ulong;
typedef long long __hip_rtc_longlong;
typedef unsigned long long __hip_rtc_ulonglong;
typedef float __hip_rtc_float;
typedef double __hip_rtc_double;

__hip_rtc_vectors(char) __hip_rtc_vectors(uchar) __hip_rtc_vectors(short) __hip_rtc_vectors(ushort)
__hip_rtc_vectors(int) __hip_rtc_vectors(uint) __hip_rtc_vectors(long) __hip_rtc_vectors(ulong)
__hip_rtc_vectors(longlong) __hip_rtc_vectors(ulonglong) __hip_rtc_vectors(float) __hip_rtc_vectors(double)

__hip_rtc_v3(char) __hip_rtc_v3(uchar) __hip_rtc_v3(short) __hip_rtc_v3(ushort) __hip_rtc_v3(int)
__hip_rtc_v3(long) __hip_rtc_v3(ulong) __hip_rtc_v3(longlong) __hip_rtc_v3(ulonglong) __hip_rtc_v3(float)
__hip_rtc_v3(double)
__hip_rtc_make3(char) __hip_rtc_make3(uchar) __hip_rtc_make3(short) __hip_rtc_make3(ushort) __hip_rtc_make3(int)
__hip_rtc_make3(long) __hip_rtc_make3(ulong) __hip_rtc_make3(longlong) __hip_rtc_make3(ulonglong)
__hip_rtc_make3(float) __hip_rtc_make3(double)
// uint3 is declared with the coordinates.
__hip_rtc_member uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
