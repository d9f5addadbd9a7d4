// Kernels of the programs about graphs, and kernel nodes made of them.
#pragma once

#include "graph.h"

#include <tuple>

__global__ void add(int* data, int by, int count) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] += by;
}

__global__ void multiply(int* data, int by, int count) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] *= by;
}

__global__ void sum(int* to, const int* a, const int* b, int count) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) to[i] = a[i] + b[i];
}

// Parameters of a kernel node whose arguments live as long as this does.
template <typename... Arguments>
struct Launch {
    std::tuple<Arguments...> values;
    std::vector<void*> pointers;
    hipKernelNodeParams params = {};

    template <typename Kernel>
    Launch(Kernel* kernel, dim3 grid, dim3 block, Arguments... arguments) : values(arguments...) {
        std::apply([this](auto&... each) { (pointers.push_back(&each), ...); }, values);
        params.func = reinterpret_cast<void*>(kernel);
        params.gridDim = grid;
        params.blockDim = block;
        params.kernelParams = pointers.data();
    }
    Launch(const Launch&) = delete;
};

// A kernel node over `count` elements in blocks of 64; its arguments are gone when this returns.
template <typename Kernel, typename... Arguments>
hipGraphNode_t kernel(hipGraph_t graph, std::initializer_list<hipGraphNode_t> after, Kernel* function,
                      int count, Arguments... arguments) {
    const dim3 grid(static_cast<unsigned>(count + 63) / 64);
    Launch<Arguments..., int> launch(function, grid, dim3(64), arguments..., count);
    std::vector<hipGraphNode_t> list(after);
    hipGraphNode_t node = nullptr;
    const hipGraphNode_t* first = list.empty() ? nullptr : list.data();
    NEED(hipGraphAddKernelNode(&node, graph, first, list.size(), &launch.params));
    return node;
}
