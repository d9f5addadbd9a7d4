// Setters between launches that are all in flight: each launch runs with what was set before it.
// proves: hipGraphExecKernelNodeSetParams, hipGraphLaunch
#include "kernels.h"

int main() {
    const int count = 64;
    int* data = device_memory<int>(count, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto first = kernel(graph, {}, multiply, count, data, 3);
    auto second = kernel(graph, {first}, add, count, data, 1);
    hipGraphExec_t exec = instantiate(graph);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    unsigned expected = 0;
    for (int by = 1; by <= 20; ++by) {
        Launch<int*, int, int> launch(add, dim3(1), dim3(64), data, by, count);
        NEED(hipGraphExecKernelNodeSetParams(exec, second, &launch.params));
        NEED(hipGraphLaunch(exec, stream));
        expected = expected * 3u + static_cast<unsigned>(by);
    }
    NEED(hipStreamSynchronize(stream));
    auto now = contents(data, count);
    show("as if one had waited for each", static_cast<unsigned>(now[0]) == expected);
    line("value: %u", static_cast<unsigned>(now[63]));
    NEED(hipStreamDestroy(stream));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(data));
}
