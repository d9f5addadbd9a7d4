#pragma once

#include <hip/hip_runtime.h>

// One value for all lanes, by the instruction that RDNA 3 and 4 have for that.
__device__ static int loaded_for_all(const int* value) {
#if defined(__GFX11__) || defined(__GFX12__)
  // The type, a dword, stands above the address.
  const auto* place = (const __attribute__((address_space(3))) int*)value;
  const unsigned m0 = static_cast<unsigned>(reinterpret_cast<__UINTPTR_TYPE__>(place)) | 2u << 16;
  int loaded;
#ifdef __GFX12__
  asm volatile("s_mov_b32 m0, %1\n\tds_direct_load %0 wait_va_vdst:0 wait_vm_vsrc:0\n\ts_wait_expcnt 0x0" : "=v"(loaded) : "s"(m0));
#else
  asm volatile("s_mov_b32 m0, %1\n\tlds_direct_load %0 wait_vdst:0\n\ts_waitcnt expcnt(0)" : "=v"(loaded) : "s"(m0));
#endif
  return loaded;
#else
  return *value;
#endif
}
