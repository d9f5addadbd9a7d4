// What hipGraphAddKernelNode refuses.
// proves: hipGraphAddKernelNode
#include "kernels.h"

int main() {
    int* data = device_memory<int>(64, 1);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t node;
    Launch<int*, int, int> good(add, dim3(1), dim3(64), data, 1, 64);
    auto attempt = [&](const char* label, hipKernelNodeParams params) {
        show(label, hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    };
    attempt("good", good.params);
    show("no place for the node", hipGraphAddKernelNode(nullptr, graph, nullptr, 0, &good.params));
    show("null graph", hipGraphAddKernelNode(&node, nullptr, nullptr, 0, &good.params));
    show("null parameters", hipGraphAddKernelNode(&node, graph, nullptr, 0, nullptr));
    show("count of dependencies alone", hipGraphAddKernelNode(&node, graph, nullptr, 1, &good.params));
    hipKernelNodeParams bad = good.params;
    bad.func = nullptr;
    attempt("no function", bad);
    // HIP: 5.2.3 crashes on a pointer to no kernel, and on a kernel whose arguments are missing.
    show("nodes", node_count(graph));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(data));
}
