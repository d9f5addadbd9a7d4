// Atomic operations of one device, of the system, and of one block.
#pragma once
#pragma GCC system_header

#define __hip_rtc_atomic(T, name, builtin)                                                                         \
  __hip_rtc_inline T atomic##name(T* address, T value) {                                                           \
    return builtin(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                                    \
  }                                                                                                                \
  __hip_rtc_inline T atomic##name##_system(T* address, T value) {                                                  \
    return builtin(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);                                   \
  }                                                                                                                \
  __hip_rtc_inline T atomic##name##_block(T* address, T value) {                                                   \
    return builtin(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);                                \
  }

#define __hip_rtc_swap(T, suffix, scope)                                                                           \
  __hip_rtc_inline T atomicCAS##suffix(T* address, T compare, T value) {                                           \
    __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);     \
    return compare;                                                                                                \
  }
#define __hip_rtc_swaps(T)                                                                                         \
  __hip_rtc_swap(T, , __HIP_MEMORY_SCOPE_AGENT) __hip_rtc_swap(T, _system, __HIP_MEMORY_SCOPE_SYSTEM)              \
  __hip_rtc_swap(T, _block, __HIP_MEMORY_SCOPE_WORKGROUP)                                                          \
  __hip_rtc_atomic(T, Exch, __hip_atomic_exchange)

#define __hip_rtc_subtract(T, suffix)                                                                              \
  __hip_rtc_inline T atomicSub##suffix(T* address, T value) { return atomicAdd##suffix(address, (T)(-value)); }
#define __hip_rtc_sums(T)                                                                                          \
  __hip_rtc_atomic(T, Add, __hip_atomic_fetch_add) __hip_rtc_subtract(T, ) __hip_rtc_subtract(T, _system)          \
  __hip_rtc_subtract(T, _block)
#define __hip_rtc_extremes(T)                                                                                      \
  __hip_rtc_atomic(T, Min, __hip_atomic_fetch_min) __hip_rtc_atomic(T, Max, __hip_atomic_fetch_max)
#define __hip_rtc_bits(T)                                                                                          \
  __hip_rtc_atomic(T, And, __hip_atomic_fetch_and) __hip_rtc_atomic(T, Or, __hip_atomic_fetch_or)                  \
  __hip_rtc_atomic(T, Xor, __hip_atomic_fetch_xor)

__hip_rtc_swaps(int) __hip_rtc_swaps(unsigned) __hip_rtc_swaps(unsigned long) __hip_rtc_swaps(unsigned long long)
__hip_rtc_swaps(float) __hip_rtc_swaps(double)
// Not of signed 64-bit integers: HIP has no such sums, and programs define their own.
__hip_rtc_sums(int) __hip_rtc_sums(unsigned) __hip_rtc_sums(unsigned long) __hip_rtc_sums(unsigned long long)
__hip_rtc_sums(float) __hip_rtc_sums(double)
__hip_rtc_extremes(int) __hip_rtc_extremes(unsigned) __hip_rtc_extremes(unsigned long)
__hip_rtc_extremes(unsigned long long) __hip_rtc_extremes(long long) __hip_rtc_extremes(float)
__hip_rtc_extremes(double)
__hip_rtc_bits(int) __hip_rtc_bits(unsigned) __hip_rtc_bits(unsigned long) __hip_rtc_bits(unsigned long long)

__hip_rtc_inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}
__hip_rtc_inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}
__hip_rtc_inline float unsafeAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
__hip_rtc_inline double unsafeAtomicAdd(double* address, double value) { return atomicAdd(address, value); }
__hip_rtc_inline float safeAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
__hip_rtc_inline double safeAtomicAdd(double* address, double value) { return atomicAdd(address, value); }
