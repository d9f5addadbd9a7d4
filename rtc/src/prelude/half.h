// Half precision: one number and pairs.
#pragma once
#pragma GCC system_header

struct __half_raw {
  union {
    unsigned short x;
    _Float16 data;
  };
};
struct __half2_raw {
  unsigned short x, y;
};

struct __half {
  union {
    _Float16 data;
    unsigned short __x;
  };
  __host__ __device__ __half() = default;
  __hip_rtc_member __half(_Float16 x) : data(x) {}
  __hip_rtc_member __half(float x) : data((_Float16)x) {}
  __hip_rtc_member __half(double x) : data((_Float16)x) {}
  __hip_rtc_member __half(int x) : data((_Float16)x) {}
  __hip_rtc_member __half(unsigned x) : data((_Float16)x) {}
  __hip_rtc_member __half(short x) : data((_Float16)x) {}
  __hip_rtc_member __half(unsigned short x) : data((_Float16)x) {}
  __hip_rtc_member __half(long x) : data((_Float16)x) {}
  __hip_rtc_member __half(unsigned long x) : data((_Float16)x) {}
  __hip_rtc_member __half(long long x) : data((_Float16)x) {}
  __hip_rtc_member __half(unsigned long long x) : data((_Float16)x) {}
  __host__ __device__ __half(const __half_raw& raw) : __x(raw.x) {}
  __hip_rtc_member operator float() const { return data; }
  __host__ __device__ operator __half_raw() const {
    __half_raw raw;
    raw.x = __x;
    return raw;
  }
  __hip_rtc_member explicit operator _Float16() const { return data; }
  __hip_rtc_member explicit operator double() const { return data; }
  __hip_rtc_member explicit operator bool() const { return data != 0; }
  __hip_rtc_member __half operator-() const { return __half((_Float16)-data); }
  __hip_rtc_member __half operator+() const { return *this; }
#define __hip_rtc_half_operator(op)                                                                                \
  friend __hip_rtc_member __half operator op(__half a, __half b) { return __half((_Float16)(a.data op b.data)); }  \
  __host__ __device__ __half& operator op##=(__half b) { return *this = *this op b; }
  __hip_rtc_half_operator(+) __hip_rtc_half_operator(-) __hip_rtc_half_operator(*) __hip_rtc_half_operator(/)
#define __hip_rtc_half_compare(op)                                                                                 \
  friend __hip_rtc_member bool operator op(__half a, __half b) { return a.data op b.data; }
  __hip_rtc_half_compare(==) __hip_rtc_half_compare(!=) __hip_rtc_half_compare(<) __hip_rtc_half_compare(>)
  __hip_rtc_half_compare(<=) __hip_rtc_half_compare(>=)
  __host__ __device__ __half& operator++() { return *this += __half(1); }
  __host__ __device__ __half& operator--() { return *this -= __half(1); }
};
static_assert(sizeof(__half) == 2, "16 bits");

struct alignas(4) __half2 {
  __half x, y;
  __host__ __device__ __half2() = default;
  __hip_rtc_member __half2(__half x, __half y) : x(x), y(y) {}
#define __hip_rtc_half2_operator(op)                                                                               \
  friend __hip_rtc_member __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; }           \
  __host__ __device__ __half2& operator op##=(__half2 b) { return *this = *this op b; }
  __hip_rtc_half2_operator(+) __hip_rtc_half2_operator(-) __hip_rtc_half2_operator(*) __hip_rtc_half2_operator(/)
  __hip_rtc_member __half2 operator-() const { return {-x, -y}; }
  friend __hip_rtc_member bool operator==(__half2 a, __half2 b) { return a.x == b.x && a.y == b.y; }
  friend __hip_rtc_member bool operator!=(__half2 a, __half2 b) { return !(a == b); }
};

typedef __half half;
typedef __half2 half2;

__hip_rtc_inline __half __float2half(float x) { return __half(x); }
__hip_rtc_inline __half __float2half_rn(float x) { return __half(x); }
__hip_rtc_inline __half __double2half(double x) { return __half(x); }
__hip_rtc_inline float __half2float(__half x) { return x; }
__hip_rtc_inline int __half2int_rz(__half x) { return (int)(float)x; }
__hip_rtc_inline int __half2int_rn(__half x) { return (int)__builtin_rintf(x); }
__hip_rtc_inline __half __int2half_rn(int x) { return __half(x); }
__hip_rtc_inline __half __uint2half_rn(unsigned x) { return __half(x); }
__hip_rtc_inline unsigned short __half_as_ushort(__half x) { return __hip_rtc_as<unsigned short>(x); }
__hip_rtc_inline short __half_as_short(__half x) { return __hip_rtc_as<short>(x); }
__hip_rtc_inline __half __ushort_as_half(unsigned short x) { return __hip_rtc_as<__half>(x); }
__hip_rtc_inline __half __short_as_half(short x) { return __hip_rtc_as<__half>(x); }

__hip_rtc_inline __half __hadd(__half a, __half b) { return a + b; }
__hip_rtc_inline __half __hsub(__half a, __half b) { return a - b; }
__hip_rtc_inline __half __hmul(__half a, __half b) { return a * b; }
__hip_rtc_inline __half __hdiv(__half a, __half b) { return a / b; }
__hip_rtc_inline __half __hneg(__half a) { return -a; }
__hip_rtc_inline __half __habs(__half a) { return __ushort_as_half(__half_as_ushort(a) & 0x7fff); }
__hip_rtc_inline __half __hfma(__half a, __half b, __half c) {
  return __half(__ocml_fma_f16(a.data, b.data, c.data));
}
__hip_rtc_inline bool __heq(__half a, __half b) { return a == b; }
__hip_rtc_inline bool __hne(__half a, __half b) { return a != b; }
__hip_rtc_inline bool __hlt(__half a, __half b) { return a < b; }
__hip_rtc_inline bool __hgt(__half a, __half b) { return a > b; }
__hip_rtc_inline bool __hle(__half a, __half b) { return a <= b; }
__hip_rtc_inline bool __hge(__half a, __half b) { return a >= b; }
__hip_rtc_inline bool __hisnan(__half a) { return a.data != a.data; }
__hip_rtc_inline bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fff) == 0x7c00; }
__hip_rtc_inline __half __hmax(__half a, __half b) { return __half(__builtin_fmaxf(a, b)); }
__hip_rtc_inline __half __hmin(__half a, __half b) { return __half(__builtin_fminf(a, b)); }

#define __hip_rtc_half_function(name, function)                                                                    \
  __hip_rtc_inline __half name(__half a) { return __half(function(a.data)); }                                      \
  __hip_rtc_inline __half2 name##_2(__half2 a) { return {name(a.x), name(a.y)}; }
#define __hip_rtc_half_functions(name) __hip_rtc_half_function(h##name, __ocml_##name##_f16)
__hip_rtc_half_functions(ceil) __hip_rtc_half_functions(cos) __hip_rtc_half_functions(exp)
__hip_rtc_half_functions(exp10) __hip_rtc_half_functions(exp2) __hip_rtc_half_functions(floor)
__hip_rtc_half_functions(log) __hip_rtc_half_functions(log10) __hip_rtc_half_functions(log2)
__hip_rtc_half_functions(rint) __hip_rtc_half_functions(rsqrt) __hip_rtc_half_functions(sin)
__hip_rtc_half_functions(sqrt) __hip_rtc_half_functions(trunc)
__hip_rtc_inline __half hrcp(__half a) { return __half((_Float16)1) / a; }
#define __hip_rtc_pair(name) __hip_rtc_inline __half2 h2##name(__half2 a) { return h##name##_2(a); }
__hip_rtc_pair(ceil) __hip_rtc_pair(cos) __hip_rtc_pair(exp) __hip_rtc_pair(exp2) __hip_rtc_pair(floor)
__hip_rtc_pair(log) __hip_rtc_pair(log2) __hip_rtc_pair(rint) __hip_rtc_pair(rsqrt) __hip_rtc_pair(sin)
__hip_rtc_pair(sqrt) __hip_rtc_pair(trunc)

__hip_rtc_inline __half2 make_half2(__half x, __half y) { return {x, y}; }
__hip_rtc_inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
__hip_rtc_inline __half2 __half2half2(__half x) { return {x, x}; }
__hip_rtc_inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
__hip_rtc_inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
__hip_rtc_inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
__hip_rtc_inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
__hip_rtc_inline __half __low2half(__half2 v) { return v.x; }
__hip_rtc_inline __half __high2half(__half2 v) { return v.y; }
__hip_rtc_inline float __low2float(__half2 v) { return v.x; }
__hip_rtc_inline float __high2float(__half2 v) { return v.y; }
__hip_rtc_inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
__hip_rtc_inline __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
__hip_rtc_inline __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
__hip_rtc_inline __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
__hip_rtc_inline __half2 __h2div(__half2 a, __half2 b) { return a / b; }
__hip_rtc_inline __half2 __hneg2(__half2 a) { return -a; }
__hip_rtc_inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
