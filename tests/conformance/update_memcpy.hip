// hipGraphExecUpdate between launches that are in flight: each launch has the operands of its time.
// proves: hipGraphAddKernelNode, hipGraphAddMemcpyNode1D, hipGraphExecUpdate
#include "kernels.h"

int main() {
    const int count = 512, rounds = 8;
    const size_t bytes = count * sizeof(int);
    int* source = device_memory<int>(count, 1);
    std::vector<int*> targets;
    for (int i = 0; i < rounds; ++i) targets.push_back(device_memory<int>(count, 0));
    auto make = [&](int* target, int by) {
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        auto first = kernel(graph, {}, add, count, source, by);
        hipGraphNode_t copy;
        NEED(hipGraphAddMemcpyNode1D(&copy, graph, &first, 1, target, source, bytes,
            hipMemcpyDeviceToDevice));
        return graph;
    };
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    hipGraphExec_t exec = instantiate(make(targets[0], 1));
    NEED(hipGraphLaunch(exec, stream));
    for (int i = 1; i < rounds; ++i) {
        hipGraph_t graph = make(targets[i], 1 + i);
        hipGraphNode_t node;
        hipGraphExecUpdateResult result;
        show("update", hipGraphExecUpdate(exec, graph, &node, &result));
        NEED(hipGraphLaunch(exec, stream));
        NEED(hipGraphDestroy(graph));
    }
    NEED(hipStreamSynchronize(stream));
    for (int i = 0; i < rounds; ++i) {
        auto values = contents(targets[i], count);
        show_all("target", values.data(), values.size(), values[count / 2]);
    }
    NEED(hipGraphExecDestroy(exec));
}
