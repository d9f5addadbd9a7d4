// One of the 111 binaries of registration.cpp: 108 kernels and a variable.
#include <hip/hip_runtime.h>

extern "C" __device__ int base = 0;

#define KERNEL(a, b, c) \
  extern "C" __global__ void kernel_##a##b##c(int* out) { out[threadIdx.x] = base + (a * 36 + b * 6 + c); }
#define SIX(a, b) KERNEL(a, b, 0) KERNEL(a, b, 1) KERNEL(a, b, 2) KERNEL(a, b, 3) KERNEL(a, b, 4) KERNEL(a, b, 5)
#define THIRTY_SIX(a) SIX(a, 0) SIX(a, 1) SIX(a, 2) SIX(a, 3) SIX(a, 4) SIX(a, 5)
THIRTY_SIX(0)
THIRTY_SIX(1)
THIRTY_SIX(2)
