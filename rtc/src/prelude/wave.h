// Lanes of a wavefront: shuffles, votes, masks.
#pragma once
#pragma GCC system_header

__hip_rtc_inline unsigned __lane_id() {
#if __AQLIPSE_RTC_WAVEFRONT == 64
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
#else
  return __builtin_amdgcn_mbcnt_lo(~0u, 0);
#endif
}

__hip_rtc_inline unsigned long long __ballot(int predicate) {
  // 33: not equal, as LLVM numbers it. Every compiler knows it, and it takes wavefronts as wide as they are.
  return __builtin_amdgcn_uicmp((unsigned)(predicate != 0), 0u, 33);
}
__hip_rtc_inline unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
__hip_rtc_inline unsigned long long __activemask() { return __ballot(1); }
__hip_rtc_inline int __any(int predicate) { return __ballot(predicate) != 0; }
__hip_rtc_inline int __all(int predicate) { return __ballot(!predicate) == 0; }
__hip_rtc_inline unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
__hip_rtc_inline unsigned long long __lanemask_gt() {
  return ~0ull >> (64 - __AQLIPSE_RTC_WAVEFRONT) & ~((2ull << __lane_id()) - 1);
}
__hip_rtc_inline unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }

// A value of a lane, in words.
template <class T>
__hip_rtc_inline T __hip_rtc_from_lane(T value, int lane) {
  constexpr int words = (sizeof(T) + 3) / 4;
  int parts[words] = {};
  __builtin_memcpy(parts, &value, sizeof(T));
  for (int n = 0; n < words; ++n) parts[n] = __builtin_amdgcn_ds_bpermute(lane << 2, parts[n]);
  __builtin_memcpy(&value, parts, sizeof(T));
  return value;
}

template <class T>
__hip_rtc_inline T __shfl(T value, int lane, int width = warpSize) {
  int self = __lane_id();
  return __hip_rtc_from_lane(value, (self & ~(width - 1)) + (lane & (width - 1)));
}
template <class T>
__hip_rtc_inline T __shfl_up(T value, unsigned delta, int width = warpSize) {
  int self = __lane_id(), from = self - (int)delta;
  return __hip_rtc_from_lane(value, from < (self & ~(width - 1)) ? self : from);
}
template <class T>
__hip_rtc_inline T __shfl_down(T value, unsigned delta, int width = warpSize) {
  int self = __lane_id();
  return __hip_rtc_from_lane(value, (self & (width - 1)) + (int)delta >= width ? self : self + (int)delta);
}
template <class T>
__hip_rtc_inline T __shfl_xor(T value, int mask, int width = warpSize) {
  int self = __lane_id(), from = self ^ mask;
  return __hip_rtc_from_lane(value, from >= ((self + width) & ~(width - 1)) ? self : from);
}

// Lanes of a wavefront run together: the mask of those that take part orders nothing more.
__hip_rtc_inline void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__hip_rtc_inline unsigned long long __ballot_sync(unsigned long long mask, int predicate) {
  return __ballot(predicate) & mask;
}
__hip_rtc_inline int __any_sync(unsigned long long mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
__hip_rtc_inline int __all_sync(unsigned long long mask, int predicate) {
  return (__ballot(!predicate) & mask) == 0;
}
template <class T>
__hip_rtc_inline T __shfl_sync(unsigned long long, T value, int lane, int width = warpSize) {
  return __shfl(value, lane, width);
}
template <class T>
__hip_rtc_inline T __shfl_up_sync(unsigned long long, T value, unsigned delta, int width = warpSize) {
  return __shfl_up(value, delta, width);
}
template <class T>
__hip_rtc_inline T __shfl_down_sync(unsigned long long, T value, unsigned delta, int width = warpSize) {
  return __shfl_down(value, delta, width);
}
template <class T>
__hip_rtc_inline T __shfl_xor_sync(unsigned long long, T value, int mask, int width = warpSize) {
  return __shfl_xor(value, mask, width);
}
