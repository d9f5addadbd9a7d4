// Kernel arguments as one buffer (extra) instead of pointers to each.
// proves: hipGraphAddKernelNode
#include "kernels.h"

int main() {
    int* data = device_memory<int>(64, 1);
    struct {
        int* data;
        int by, count;
    } buffer = {data, 41, 64};
    size_t size = sizeof buffer;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    hipKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = dim3(1);
    params.blockDim = dim3(64);
    params.extra = extra;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t node;
    hipError_t added = hipGraphAddKernelNode(&node, graph, nullptr, 0, &params);
    show("add", added);
    buffer = {nullptr, 0, 0};
    if (added == hipSuccess) {
        run(instantiate(graph), nullptr);
        show("the buffer was copied", contents(data, 1)[0]);
    }
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(data));
}
