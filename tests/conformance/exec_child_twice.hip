// One graph as two children of another: each copy is a node of its own.
// proves: hipGraphAddChildGraphNode, hipGraphChildGraphNodeGetGraph, hipGraphGetNodes, hipGraphKernelNodeSetParams
#include "kernels.h"

int main() {
    const int count = 64;
    int* data = device_memory<int>(count, 1);
    hipGraph_t inner, graph, inside;
    NEED(hipGraphCreate(&inner, 0));
    NEED(hipGraphCreate(&graph, 0));
    kernel(inner, {}, add, count, data, 2);
    hipGraphNode_t one, two;
    NEED(hipGraphAddChildGraphNode(&one, graph, nullptr, 0, inner));
    auto scale = kernel(graph, {one}, multiply, count, data, 10);
    NEED(hipGraphAddChildGraphNode(&two, graph, &scale, 1, inner));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    line("(1 + 2) * 10 + 2: %d", contents(data, 1)[0]);
    NEED(hipGraphChildGraphNodeGetGraph(two, &inside));
    auto nodes = nodes_of(inside);
    show("nodes inside", nodes.size());
    Launch<int*, int, int> launch(add, dim3(1), dim3(64), data, 5, count);
    NEED(hipGraphKernelNodeSetParams(nodes[0], &launch.params));
    hipGraphExec_t changed = instantiate(graph);
    std::vector<int> ones(count, 1);
    NEED(hipMemcpy(data, ones.data(), count * sizeof(int), hipMemcpyHostToDevice));
    run(changed, nullptr);
    line("(1 + 2) * 10 + 5: %d", contents(data, 1)[0]);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphExecDestroy(changed));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(inner));
    NEED(hipFree(data));
}
