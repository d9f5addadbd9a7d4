// A chain of many kernels whose order matters.
// proves: hipGraphAddKernelNode, hipGraphInstantiate, hipGraphLaunch
#include "kernels.h"

int main() {
    const int count = 4, length = 600;
    int* data = device_memory<int>(count, 1);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    unsigned expected = 1;
    hipGraphNode_t last = nullptr;
    for (int i = 0; i < length; ++i) {
        bool product = i % 3 == 0;
        auto after = last ? std::initializer_list<hipGraphNode_t>{last} : std::initializer_list<hipGraphNode_t>{};
        last = product ? kernel(graph, after, multiply, count, data, 3) : kernel(graph, after, add, count, data, i);
        expected = product ? expected * 3u : expected + static_cast<unsigned>(i);
    }
    show("nodes", node_count(graph));
    show("edges", edge_count(graph));
    hipGraphExec_t exec = instantiate(graph);
    NEED(hipGraphDestroy(graph));
    run(exec, nullptr);
    show("as on paper", static_cast<unsigned>(contents(data, 1)[0]) == expected);
    line("value: %u", static_cast<unsigned>(contents(data, count)[3]));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipFree(data));
}
