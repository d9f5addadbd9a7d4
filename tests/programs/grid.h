// The barrier of a cooperative kernel's grid, which a program has its kernel meet at once.
#pragma once
#include <hip/hip_cooperative_groups.h>

#if defined(__gfx1200__) || defined(__gfx1201__)
// Debian's device libraries have global wave sync, which GFX12 lacks. Newer ones count in memory, too.
static __device__ unsigned grid_arrived;

__device__ inline void sync_grid() {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&grid_arrived, 1u);
    while (__hip_atomic_load(&grid_arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x) {
      __builtin_amdgcn_s_sleep(1);
    }
    __threadfence();
  }
  __syncthreads();
}
#else
__device__ inline void sync_grid() { cooperative_groups::this_grid().sync(); }
#endif
