// What hipGraphKernelNodeGetParams stores makes another node that does the same.
// proves: hipGraphAddKernelNode, hipGraphKernelNodeGetParams, hipGraphKernelNodeSetParams
#include "kernels.h"

int main() {
    const int count = 128;
    int* data = device_memory<int>(count, 1);
    hipGraph_t graph, other;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    auto node = kernel(graph, {}, add, count, data, 7);
    hipKernelNodeParams told = {};
    show("told", hipGraphKernelNodeGetParams(node, &told));
    show("the kernel", told.func == reinterpret_cast<void*>(add));
    line("%u blocks of %u, %u bytes", told.gridDim.x, told.blockDim.x, told.sharedMemBytes);
    show("the pointer", *static_cast<int**>(told.kernelParams[0]) == data);
    show("the number", *static_cast<int*>(told.kernelParams[1]) == 7);
    hipGraphNode_t copy;
    show("another node of them", hipGraphAddKernelNode(&copy, other, nullptr, 0, &told));
    told.gridDim = dim3(1);
    show("the node itself, with another grid", hipGraphKernelNodeSetParams(node, &told));
    hipGraphExec_t one = instantiate(graph), two = instantiate(other);
    run(two, nullptr);
    auto now = contents(data, count);
    line("the copy: %d %d", now[0], now[127]);
    run(one, nullptr);
    now = contents(data, count);
    line("the node: %d %d", now[0], now[127]);
    NEED(hipGraphExecDestroy(one));
    NEED(hipGraphExecDestroy(two));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
    NEED(hipFree(data));
}
