// A module for hipModuleLoad: kernels and a variable found by name.
#include <hip/hip_runtime.h>

extern "C" __device__ int module_offset = 5;
extern "C" __global__ void add_offset(int* data) { data[threadIdx.x + blockIdx.x * blockDim.x] += module_offset; }
