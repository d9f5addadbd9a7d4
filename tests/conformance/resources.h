// Kernels that differ in what they take of a compute unit: registers, LDS, and the block size they allow.
#pragma once

#include "observe.h"

// Distinct values that are all live at once, and so need a register each.
template <int N>
__device__ inline void hold(float* data) {
    float values[N];
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = data[i * 64 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; ++i) data[(N - 1 - i) * 64 + threadIdx.x] = values[i] * values[(i + 7) % N];
}

extern "C" __global__ void empty() {}
extern "C" __global__ void small(int* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(256) registers40(float* data) { hold<40>(data); }
extern "C" __global__ void __launch_bounds__(256) registers100(float* data) { hold<100>(data); }
extern "C" __global__ void __launch_bounds__(64) bounds64(float* data) { hold<200>(data); }
extern "C" __global__ void __launch_bounds__(128) bounds128(int* out) { out[threadIdx.x] = 2; }
extern "C" __global__ void lds1k(int* out) {
    __shared__ int room[256];
    room[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[threadIdx.x ^ 1];
}
extern "C" __global__ void lds20k(int* out) {
    __shared__ int room[5120];
    room[threadIdx.x * 5] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[(threadIdx.x ^ 1) * 5];
}

struct NamedKernel {
    const char* name;
    const void* function;
};

static const NamedKernel all_kernels[] = {
    {"empty", reinterpret_cast<const void*>(empty)},
    {"small", reinterpret_cast<const void*>(small)},
    {"registers40", reinterpret_cast<const void*>(registers40)},
    {"registers100", reinterpret_cast<const void*>(registers100)},
    {"bounds64", reinterpret_cast<const void*>(bounds64)},
    {"bounds128", reinterpret_cast<const void*>(bounds128)},
    {"lds1k", reinterpret_cast<const void*>(lds1k)},
    {"lds20k", reinterpret_cast<const void*>(lds20k)},
};
