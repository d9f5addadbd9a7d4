// A launch behind and before kernels and copies of its stream.
// proves: hipGraphAddKernelNode
#include "kernels.h"

int main() {
    const int count = 1024;
    int* data = device_memory<int>(count, 1);
    std::vector<int> back(count);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto first = kernel(graph, {}, multiply, count, data, 3);
    kernel(graph, {first}, add, count, data, 1);
    hipGraphExec_t exec = instantiate(graph);
    hipLaunchKernelGGL(add, dim3(16), dim3(64), 0, stream, data, 4, count);
    NEED(hipGraphLaunch(exec, stream));
    hipLaunchKernelGGL(multiply, dim3(16), dim3(64), 0, stream, data, 2, count);
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipMemcpyAsync(back.data(), data, count * sizeof(int), hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    show_all("((1 + 4) * 3 + 1) * 2 * 3 + 1", back.data(), count, 97);
    NEED(hipMemsetAsync(data, 0, count * sizeof(int), stream));
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipMemcpyAsync(back.data(), data, count * sizeof(int), hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    show_all("behind a fill", back.data(), count, 1);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipStreamDestroy(stream));
}
