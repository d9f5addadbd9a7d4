// Integers and bits.
#pragma once
#pragma GCC system_header

__hip_rtc_inline int __popc(unsigned x) { return __builtin_popcount(x); }
__hip_rtc_inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__hip_rtc_inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__hip_rtc_inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
__hip_rtc_inline int __ffs(unsigned x) { return x ? __builtin_ctz(x) + 1 : 0; }
__hip_rtc_inline int __ffs(int x) { return __ffs((unsigned)x); }
__hip_rtc_inline int __ffsll(unsigned long long x) { return x ? __builtin_ctzll(x) + 1 : 0; }
__hip_rtc_inline int __ffsll(long long x) { return __ffsll((unsigned long long)x); }
__hip_rtc_inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__hip_rtc_inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

__hip_rtc_inline int __mul24(int x, int y) {
  return (int)((unsigned)((x << 8) >> 8) * (unsigned)((y << 8) >> 8));
}
__hip_rtc_inline int __umul24(unsigned x, unsigned y) { return (int)((x & 0xffffff) * (y & 0xffffff)); }
__hip_rtc_inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
__hip_rtc_inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
__hip_rtc_inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
__hip_rtc_inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
__hip_rtc_inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
__hip_rtc_inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
__hip_rtc_inline unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
__hip_rtc_inline unsigned __urhadd(unsigned x, unsigned y) {
  return (unsigned)(((unsigned long long)x + y + 1) >> 1);
}
__hip_rtc_inline unsigned __sad(int x, int y, unsigned z) {
  return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z;
}
__hip_rtc_inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }

// Byte n of the result is byte `selector >> 4n & 7` of the eight.
__hip_rtc_inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int n = 0; n < 4; ++n) {
    result |= (unsigned)(bytes >> (selector >> 4 * n & 7) * 8 & 0xff) << 8 * n;
  }
  return result;
}
__hip_rtc_inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
__hip_rtc_inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned __int128)high << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
__hip_rtc_inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
__hip_rtc_inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift < 32 ? shift : 32));
}

template <class To, class From>
__hip_rtc_inline To __hip_rtc_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "as wide");
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}
__hip_rtc_inline int __float_as_int(float x) { return __hip_rtc_as<int>(x); }
__hip_rtc_inline unsigned __float_as_uint(float x) { return __hip_rtc_as<unsigned>(x); }
__hip_rtc_inline float __int_as_float(int x) { return __hip_rtc_as<float>(x); }
__hip_rtc_inline float __uint_as_float(unsigned x) { return __hip_rtc_as<float>(x); }
__hip_rtc_inline long long __double_as_longlong(double x) { return __hip_rtc_as<long long>(x); }
__hip_rtc_inline double __longlong_as_double(long long x) { return __hip_rtc_as<double>(x); }
__hip_rtc_inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__hip_rtc_inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
__hip_rtc_inline double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
__hip_rtc_inline int __float2int_rn(float x) { return (int)__builtin_rintf(x); }
__hip_rtc_inline int __float2int_rz(float x) { return (int)x; }
__hip_rtc_inline int __float2int_rd(float x) { return (int)__builtin_floorf(x); }
__hip_rtc_inline int __float2int_ru(float x) { return (int)__builtin_ceilf(x); }
__hip_rtc_inline unsigned __float2uint_rn(float x) { return (unsigned)__builtin_rintf(x); }
__hip_rtc_inline unsigned __float2uint_rz(float x) { return (unsigned)x; }
__hip_rtc_inline float __int2float_rn(int x) { return (float)x; }
__hip_rtc_inline float __uint2float_rn(unsigned x) { return (float)x; }
__hip_rtc_inline float __double2float_rn(double x) { return (float)x; }
__hip_rtc_inline double __int2double_rn(int x) { return (double)x; }

template <class T>
__hip_rtc_inline T __ldg(const T* address) { return *address; }
