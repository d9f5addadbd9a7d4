// The computation of the HIP documentation's graph chapter: A = 2 * 2 + 3 = 7 in every element.
#pragma once
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void kernelA(double* a) { a[threadIdx.x + blockIdx.x * static_cast<size_t>(blockDim.x)] *= 2.0; }
__global__ void kernelB(int* b) { b[threadIdx.x + blockIdx.x * static_cast<size_t>(blockDim.x)] = 3; }
__global__ void kernelC(double* a, const int* b) {
  size_t i = threadIdx.x + blockIdx.x * static_cast<size_t>(blockDim.x);
  a[i] += b[i];
}

struct Fill {
  std::vector<double>* values;
  double value;
};

inline void fill(void* data) {
  auto* job = static_cast<Fill*>(data);
  job->values->assign(job->values->size(), job->value);
}

inline bool all_equal(const std::vector<double>& values, double expected) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != expected) {
      std::fprintf(stderr, "element %zu is %g, not %g\n", i, values[i], expected);
      return false;
    }
  }
  return true;
}
