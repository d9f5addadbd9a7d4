// Edges that are added after their nodes count for later executables; edges that are removed no longer do.
// proves: hipGraphAddDependencies, hipGraphAddKernelNode, hipGraphGetRootNodes, hipGraphRemoveDependencies
#include "kernels.h"

int main() {
    const int count = 64;
    int* data = device_memory<int>(count, 1);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = kernel(graph, {}, add, count, data, 1);
    auto b = kernel(graph, {}, multiply, count, data, 10);
    auto c = kernel(graph, {}, add, count, data, 5);
    hipGraphNode_t from[] = {a, b}, to[] = {b, c};
    show("a > b > c", hipGraphAddDependencies(graph, from, to, 2));
    hipGraphExec_t first = instantiate(graph);
    show("not a > b", hipGraphRemoveDependencies(graph, &a, &b, 1));
    show("not b > c", hipGraphRemoveDependencies(graph, &b, &c, 1));
    run(first, nullptr);
    show("(1 + 1) * 10 + 5", contents(data, 1)[0]);
    auto d = kernel(graph, {a}, multiply, count, data, 2);
    show("c > d", hipGraphAddDependencies(graph, &c, &d, 1));
    show("b > a", hipGraphAddDependencies(graph, &b, &a, 1));
    show("a > c", hipGraphAddDependencies(graph, &a, &c, 1));
    show_roots("roots", graph);
    hipGraphExec_t second = instantiate(graph);
    run(second, nullptr);
    show("((25 * 10) + 1 + 5) * 2", contents(data, 1)[0]);
    run(first, nullptr);
    show("(512 + 1) * 10 + 5", contents(data, 1)[0]);
    NEED(hipGraphExecDestroy(first));
    NEED(hipGraphExecDestroy(second));
    NEED(hipGraphDestroy(graph));
}
