// hipGraphKernelNodeGetParams and SetParams.
// proves: hipGraphAddKernelNode, hipGraphKernelNodeGetParams, hipGraphKernelNodeSetParams
#include "kernels.h"

static void print(const char* label, const hipKernelNodeParams& p) {
    line("%s: add %d multiply %d grid %u %u %u block %u %u %u shared %u extra %d", label,
        p.func == reinterpret_cast<void*>(add), p.func == reinterpret_cast<void*>(multiply), p.gridDim.x,
        p.gridDim.y, p.gridDim.z, p.blockDim.x, p.blockDim.y, p.blockDim.z, p.sharedMemBytes,
        p.extra != nullptr);
}

int main() {
    int* data = device_memory<int>(128, 1);
    int* other = device_memory<int>(128, 1);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t node;
    Launch<int*, int, int> first(add, dim3(2, 1, 1), dim3(64, 1, 1), data, 4, 128);
    first.params.sharedMemBytes = 16;
    NEED(hipGraphAddKernelNode(&node, graph, nullptr, 0, &first.params));
    hipKernelNodeParams got = {};
    show("get", hipGraphKernelNodeGetParams(node, &got));
    print("as given", got);
    show("arguments: data", *static_cast<int**>(got.kernelParams[0]) == data);
    show("arguments: by", *static_cast<int*>(got.kernelParams[1]));
    show("arguments: count", *static_cast<int*>(got.kernelParams[2]));
    Launch<int*, int, int> second(multiply, dim3(1), dim3(128), other, 6, 100);
    show("set", hipGraphKernelNodeSetParams(node, &second.params));
    show("get after set", hipGraphKernelNodeGetParams(node, &got));
    print("as set", got);
    show("arguments set: data", *static_cast<int**>(got.kernelParams[0]) == other);
    show("arguments set: by", *static_cast<int*>(got.kernelParams[1]));
    run(instantiate(graph), nullptr);
    line("ran: %d %d %d", contents(data, 1)[0], contents(other, 1)[0], contents(other, 128)[127]);
    got.gridDim = dim3(2);
    show("set what was got", hipGraphKernelNodeSetParams(node, &got));
    run(instantiate(graph), nullptr);
    line("ran what was got: %d %d", contents(other, 1)[0], contents(other, 128)[127]);
    show("get without a place", hipGraphKernelNodeGetParams(node, nullptr));
    show("get of null", hipGraphKernelNodeGetParams(nullptr, &got));
    show("set on null", hipGraphKernelNodeSetParams(nullptr, &second.params));
    show("set null", hipGraphKernelNodeSetParams(node, nullptr));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(data));
    NEED(hipFree(other));
}
