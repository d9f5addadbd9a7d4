// Child graphs of kernels: order against the nodes around them, and one graph in several places.
// proves: hipGraphAddChildGraphNode, hipGraphAddKernelNode, hipGraphChildGraphNodeGetGraph
// proves: hipGraphKernelNodeSetParams
#include "kernels.h"

int main() {
    const int count = 128;
    int* data = device_memory<int>(count, 1);
    hipGraph_t graph, child;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    auto inner = kernel(child, {}, multiply, count, data, 2);
    kernel(child, {inner}, add, count, data, 1);
    auto first = kernel(graph, {}, add, count, data, 4);
    hipGraphNode_t one, two;
    NEED(hipGraphAddChildGraphNode(&one, graph, &first, 1, child));
    auto between = kernel(graph, {one}, add, count, data, 10);
    NEED(hipGraphAddChildGraphNode(&two, graph, &between, 1, child));
    kernel(graph, {two}, multiply, count, data, 3);
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    auto values = contents(data, count);
    show_all("(((1 + 4) * 2 + 1 + 10) * 2 + 1) * 3", values.data(), count, 129);
    hipGraph_t inside;
    NEED(hipGraphChildGraphNodeGetGraph(two, &inside));
    auto nodes = nodes_of(inside);
    Launch<int*, int, int> other(add, dim3(2), dim3(64), data, 1000, count);
    show("change a kernel inside the second", hipGraphKernelNodeSetParams(nodes[0], &other.params));
    NEED(hipMemset(data, 0, count * sizeof(int)));
    run(instantiate(graph), nullptr);
    values = contents(data, count);
    show_all("with the change", values.data(), count, ((0 + 4) * 2 + 1 + 10 + 1000 + 1) * 3);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(child));
    NEED(hipGraphDestroy(graph));
}
