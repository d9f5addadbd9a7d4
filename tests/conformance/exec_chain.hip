// A chain of three hundred kernels, each of which needs the one before.
// proves: hipGraphAddKernelNode
#include "kernels.h"

int main() {
    const int count = 64;
    int* data = device_memory<int>(count, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t last = kernel(graph, {}, add, count, data, 1);
    unsigned expected = 1;
    for (int i = 1; i < 300; ++i) {
        last = i % 2 ? kernel(graph, {last}, multiply, count, data, 3) : kernel(graph, {last}, add, count,
            data, i);
        expected = i % 2 ? expected * 3 : expected + static_cast<unsigned>(i);
    }
    show("nodes", node_count(graph));
    show("edges", edge_count(graph));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    auto values = contents(data, count);
    show_all("value", values.data(), count, static_cast<int>(expected));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
