// Kernels that programs on order share: one that holds its stream until the host lets it go on, and small
// ones whose result shows what ran before them. For .hip programs.
#pragma once

#include "observe.h"

// A flag in host memory that a kernel waits for.
struct Hold {
    int* flag;

    Hold() {
        NEED(hipHostMalloc(reinterpret_cast<void**>(&flag), sizeof *flag, 0));
        close();
    }
    ~Hold() { (void)hipHostFree(flag); }
    Hold(const Hold&) = delete;

    void close() { __atomic_store_n(flag, 0, __ATOMIC_SEQ_CST); }
    void open() { __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST); }
};

__global__ void wait_until_open(int* flag) {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {
        __builtin_amdgcn_s_sleep(8);
    }
}

// Slow enough that what does not wait for it would overtake it.
__global__ void set_slowly(int* out, int value, int rounds) {
    int x = value;
    for (int i = 0; i < rounds; ++i) {
        __builtin_amdgcn_s_sleep(1);
        x ^= i;
        x ^= i;
        asm volatile("" : "+v"(x));
    }
    out[threadIdx.x + blockIdx.x * blockDim.x] = x;
}

__global__ void set(int* out, int value) { out[threadIdx.x + blockIdx.x * blockDim.x] = value; }
__global__ void add(int* out, const int* in, int value) {
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i] = in[i] + value;
}
// Does not commute with `add`: the order shows.
__global__ void multiply(int* data, int by) { data[threadIdx.x + blockIdx.x * blockDim.x] *= by; }
__global__ void sum(int* out, const int* a, const int* b) {
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i] = a[i] + b[i];
}
