// Device code for hsa.c, as a bare code object.
#include <hip/hip_runtime.h>

extern "C" __global__ void scale(int *data, int factor) { data[threadIdx.x + blockIdx.x * blockDim.x] *= factor; }
extern "C" __global__ void add(int *data, int value) { data[threadIdx.x + blockIdx.x * blockDim.x] += value; }
// The address is where nothing is.
extern "C" __global__ void stray(int *, int value) { *reinterpret_cast<volatile int *>(0xdead000) = value; }
extern "C" __global__ void illegal(int *, int) { asm volatile(".long 0xbfffffff"); }
extern "C" __global__ void trap(int *, int) { __builtin_trap(); }
// Private memory that no optimiser removes: the sum of an array whose order the host's number decides.
extern "C" __global__ void spill(int *data, int seed) {
  volatile int values[256];
  for (int i = 0; i < 256; ++i) values[(i * 7 + seed) & 255] = i;
  int sum = 0;
  for (int i = 0; i < 256; ++i) sum += values[i];
  data[threadIdx.x + blockIdx.x * blockDim.x] = sum;
}
