// In place of hip/hip_bf16.h: numbers with the exponent of a float and 8 bits of significand.
#pragma once
#pragma GCC system_header

struct __hip_bfloat16 {
  unsigned short data;
  __host__ __device__ __hip_bfloat16() = default;
  __device__ __hip_bfloat16(float x) : data(round(x)) {}
  __device__ __hip_bfloat16(double x) : data(round((float)x)) {}
  __device__ __hip_bfloat16(int x) : data(round((float)x)) {}
  __device__ __hip_bfloat16(unsigned x) : data(round((float)x)) {}
  __device__ operator float() const { return __uint_as_float((unsigned)data << 16); }
  // To the nearest, ties to even; a NaN stays one.
  static __device__ unsigned short round(float x) {
    unsigned bits = __float_as_uint(x);
    if (x != x) return (unsigned short)(bits >> 16 | 0x40);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
#define __hip_rtc_bf16_operator(op)                                                                                \
  friend __device__ __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) {                               \
    return __hip_bfloat16((float)a op (float)b);                                                                   \
  }                                                                                                                \
  __device__ __hip_bfloat16& operator op##=(__hip_bfloat16 b) { return *this = *this op b; }
  __hip_rtc_bf16_operator(+) __hip_rtc_bf16_operator(-) __hip_rtc_bf16_operator(*) __hip_rtc_bf16_operator(/)
#define __hip_rtc_bf16_compare(op)                                                                                 \
  friend __device__ bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op (float)b; }
  __hip_rtc_bf16_compare(==) __hip_rtc_bf16_compare(!=) __hip_rtc_bf16_compare(<) __hip_rtc_bf16_compare(>)
  __hip_rtc_bf16_compare(<=) __hip_rtc_bf16_compare(>=)
  __device__ __hip_bfloat16 operator-() const { return __hip_bfloat16(-(float)*this); }
};
static_assert(sizeof(__hip_bfloat16) == 2, "16 bits");

struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
};

__hip_rtc_inline float __bfloat162float(__hip_bfloat16 x) { return x; }
__hip_rtc_inline __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
__hip_rtc_inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) { return x.data; }
__hip_rtc_inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __hip_rtc_as<__hip_bfloat16>(x); }
__hip_rtc_inline __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) { return a + b; }
__hip_rtc_inline __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) { return a - b; }
__hip_rtc_inline __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) { return a * b; }
__hip_rtc_inline __hip_bfloat16 __hdiv(__hip_bfloat16 a, __hip_bfloat16 b) { return a / b; }
__hip_rtc_inline bool __hisnan(__hip_bfloat16 x) { return (x.data & 0x7fff) > 0x7f80; }
__hip_rtc_inline bool __hisinf(__hip_bfloat16 x) { return (x.data & 0x7fff) == 0x7f80; }
__hip_rtc_inline __hip_bfloat16 __habs(__hip_bfloat16 x) { return __ushort_as_bfloat16(x.data & 0x7fff); }
__hip_rtc_inline __hip_bfloat16 __hneg(__hip_bfloat16 x) { return -x; }
