// A kernel node keeps copies of its arguments: what the caller does with its own memory later does not count.
// proves: hipGraphAddKernelNode, hipGraphExecKernelNodeSetParams, hipGraphKernelNodeSetParams
#include "kernels.h"

struct Large {
    int values[16];
};

__global__ void spread(int* to, Large from) { to[threadIdx.x] = from.values[threadIdx.x]; }

int main() {
    int* data = device_memory<int>(16, 0);
    int* other = device_memory<int>(16, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    Large large;
    for (int i = 0; i < 16; ++i) large.values[i] = 100 + i;
    int* to = data;
    void* arguments[] = {&to, &large};
    hipKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(spread);
    params.gridDim = dim3(1);
    params.blockDim = dim3(16);
    params.kernelParams = arguments;
    hipGraphNode_t node;
    NEED(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    to = other;
    large.values[0] = -1;
    arguments[0] = arguments[1] = nullptr;
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    line("after the caller's memory changed: %d %d %d", contents(data, 1)[0], contents(data, 16)[15],
         contents(other, 1)[0]);
    to = other;
    large.values[0] = 7;
    void* again[] = {&to, &large};
    params.kernelParams = again;
    NEED(hipGraphKernelNodeSetParams(node, &params));
    large.values[0] = -2;
    run(exec, nullptr);
    line("executable made before: %d", contents(other, 1)[0]);
    run(instantiate(graph), nullptr);
    line("executable made after: %d %d", contents(other, 1)[0], contents(other, 2)[1]);
    large.values[0] = 9;
    NEED(hipGraphExecKernelNodeSetParams(exec, node, &params));
    large.values[0] = -3;
    run(exec, nullptr);
    line("executable that was changed: %d", contents(other, 1)[0]);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
