// Two devices: graphs of kernels of one, made and launched on it, which work on the memory of both.
// DEVICES: 2
#include "kernels.h"

int main() {
    const int count = 256;
    int *memory[2];
    hipStream_t stream[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], count * sizeof(int)));
        NEED(hipMemset(memory[device], 0, count * sizeof(int)));
        NEED(hipStreamCreate(&stream[device]));
        NEED(hipDeviceEnablePeerAccess(1 - device, 0));
    }
    std::vector<int> host(count);
    auto show_memory = [&](const char* label, int device, int expected) {
        NEED(hipMemcpy(host.data(), memory[device], count * sizeof(int), hipMemcpyDeviceToHost));
        show_all(label, host.data(), count, expected);
    };

    // All of a graph on one device, each in its turn.
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        hipGraphNode_t first = kernel(graph, {}, add, count, memory[device], 3);
        kernel(graph, {first}, multiply, count, memory[device], 2 + device);
        hipGraphExec_t exec = instantiate(graph);
        for (int launch = 0; launch < 2; ++launch) run(exec, stream[device]);
        show_memory("twice on its own device", device, device == 0 ? 18 : 36);
        NEED(hipGraphExecDestroy(exec));
        NEED(hipGraphDestroy(graph));
    }

    // Kernels of one device on memory of the other, behind a copy from there.
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        int *here = memory[device], *there = memory[1 - device];
        hipGraph_t graph;
        hipGraphNode_t copy;
        NEED(hipGraphCreate(&graph, 0));
        show("copy from the other device", hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, here, there,
                                                                   count * sizeof(int), hipMemcpyDeviceToDevice));
        kernel(graph, {copy}, add, count, there, 100);
        hipGraphExec_t exec = instantiate(graph);
        run(exec, stream[device]);
        show_memory("what was copied", device, 36);
        show_memory("what was added to", 1 - device, 136);
        NEED(hipGraphExecDestroy(exec));
        NEED(hipGraphDestroy(graph));
    }

    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipStreamDestroy(stream[device]));
        NEED(hipFree(memory[device]));
    }
}
