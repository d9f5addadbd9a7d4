// Included before every test program (-include): what Debian's HIP 5.2.3 headers lack for this library, which
// answers as HIP 7 does, and for clang-22, which is years younger than they are. Headers of HIP 7 need none of it.
#pragma once

#if __clang_major__ >= 20
// Newer compilers no longer say the wavefront size, and no longer know the intrinsic that the headers bind
// atomicInc and atomicDec to.
#define atomicInc header_atomicInc
#define atomicDec header_atomicDec
#include <hip/hip_runtime.h>
#undef atomicInc
#undef atomicDec

__device__ inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}
__device__ inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}

// Declared by the headers, which expect it in hip.bc; newer compilers do not link that. The builtin wants
// constants, hence the two switches. A fence stronger than asked for is right: all orders become seq_cst.
extern "C" __device__ inline void __atomic_work_item_fence(__cl_mem_fence_flags, __memory_order order,
                                                           __memory_scope scope) {
  if (order == __memory_order_relaxed) return;
  switch (scope) {
    case __memory_scope_work_item: break;
    case __memory_scope_sub_group: __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront"); break;
    case __memory_scope_work_group: __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); break;
    case __memory_scope_device: __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); break;
    case __memory_scope_all_svm_devices: __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); break;
  }
}

// Once declared by the compiler's own headers, for hip_fp16.h.
__device__ inline _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }
__device__ inline __2f16 __llvm_amdgcn_rcp_2f16(__2f16 x) {
  return __2f16{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}
#else
#include <hip/hip_runtime.h>
#endif

#if HIP_VERSION_MAJOR < 6
// HIP 5.2.3 numbered node kinds from 1; the final numbers start at 0.
#define hipGraphNodeTypeKernel static_cast<hipGraphNodeType>(0)
#define hipGraphNodeTypeMemcpy static_cast<hipGraphNodeType>(1)
#define hipGraphNodeTypeMemset static_cast<hipGraphNodeType>(2)
#define hipGraphNodeTypeHost static_cast<hipGraphNodeType>(3)
#define hipGraphNodeTypeGraph static_cast<hipGraphNodeType>(4)
#define hipGraphNodeTypeEmpty static_cast<hipGraphNodeType>(5)
#define hipGraphNodeTypeMemAlloc static_cast<hipGraphNodeType>(10)
#define hipGraphNodeTypeMemFree static_cast<hipGraphNodeType>(11)

#include "graph_memory.h"

extern "C" {
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value);
}
#endif
