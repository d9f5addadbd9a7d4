// Threads that launch executables of their own on streams of their own, at the same time.
// proves: hipGraphAddKernelNode
#include "kernels.h"

#include <thread>

static void work(int number, int* result) {
    const int count = 256;
    int* data = device_memory<int>(count, number);
    hipStream_t stream;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto first = kernel(graph, {}, multiply, count, data, 3);
    kernel(graph, {first}, add, count, data, 1 - number);
    hipGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 10; ++i) NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    auto values = contents(data, count);
    *result = values.front() == values.back() ? values.front() : -1;
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(data));
}

int main() {
    int results[3] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(work, i, &results[i]);
    for (auto& thread : threads) thread.join();
    for (int i = 0; i < 3; ++i) show(("thread " + std::to_string(i)).c_str(), results[i]);
}
