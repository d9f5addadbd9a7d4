// Kernel nodes: arguments, grids, and order.
// DIFFERS no arguments: 5.2.3 demands an array even for a kernel that takes no arguments; it has nothing
//     to point to (HIP 7 documentation of hipGraphAddKernelNode)
// proves: hipGraphAddKernelNode, hipGraphNodeGetType
#include "kernels.h"

__global__ void shape(int* to) {
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(&to[0], 1);
    atomicAdd(&to[1], 1);
    to[2] = static_cast<int>(gridDim.x * 100 + gridDim.y * 10 + gridDim.z);
    to[3] = static_cast<int>(blockDim.x * 100 + blockDim.y * 10 + blockDim.z);
}

__global__ void shared(int* to) {
    extern __shared__ int words[];
    words[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    to[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

__global__ void nothing() {}

int main() {
    const int count = 1000;
    int* data = device_memory<int>(count, 1);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = kernel(graph, {}, add, count, data, 2);
    auto b = kernel(graph, {a}, multiply, count, data, 5);
    kernel(graph, {b}, add, count, data, -1);
    show("kind", kind_of(a));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    auto values = contents(data, count);
    show_all("(1 + 2) * 5 - 1", values.data(), count, 14);
    run(exec, nullptr);
    values = contents(data, count);
    show_all("again", values.data(), count, 79);

    int* found = device_memory<int>(64, 0);
    hipGraph_t other;
    hipGraphNode_t node;
    NEED(hipGraphCreate(&other, 0));
    Launch<int*> grid(shape, dim3(3, 2, 4), dim3(4, 5, 2), found);
    show("grid of three dimensions", hipGraphAddKernelNode(&node, other, nullptr, 0, &grid.params));
    run(instantiate(other), nullptr);
    values = contents(found, 4);
    line("blocks %d threads %d grid %d block %d", values[0], values[1], values[2], values[3]);

    hipGraph_t third;
    NEED(hipGraphCreate(&third, 0));
    Launch<int*> dynamic(shared, dim3(1), dim3(64), found);
    dynamic.params.sharedMemBytes = 256;
    show("dynamic shared memory", hipGraphAddKernelNode(&node, third, nullptr, 0, &dynamic.params));
    Launch<> none(nothing, dim3(1), dim3(1));
    show("no arguments", hipGraphAddKernelNode(&node, third, nullptr, 0, &none.params));
    run(instantiate(third), nullptr);
    values = contents(found, 64);
    line("reversed: %d %d %d", values[0], values[1], values[63]);
    for (auto each : {graph, other, third}) NEED(hipGraphDestroy(each));
    NEED(hipFree(data));
    NEED(hipFree(found));
}
