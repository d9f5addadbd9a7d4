// hipGraphNodeGetDependentNodes: order, and arrays that are too small or too large.
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphNodeGetDependentNodes
// proves: hipGraphRemoveDependencies
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a});
    auto c = empty(graph, "c", {a, b});
    auto d = empty(graph, "d");
    NEED(hipGraphAddDependencies(graph, &a, &d, 1));
    size_t count = 77;
    show("of a leaf", hipGraphNodeGetDependentNodes(c, nullptr, &count));
    show("of a leaf, count", count);
    count = 77;
    show("count only", hipGraphNodeGetDependentNodes(a, nullptr, &count));
    show("count only, count", count);
    show_array("exact array", hipGraphNodeGetDependentNodes, a, 3);
    show_array("array of 2", hipGraphNodeGetDependentNodes, a, 2);
    show_array("array of 5", hipGraphNodeGetDependentNodes, a, 5);
    NEED(hipGraphRemoveDependencies(graph, &a, &b, 1));
    show_dependents("without a > b", a);
    NEED(hipGraphAddDependencies(graph, &a, &b, 1));
    show_array("with a > b again", hipGraphNodeGetDependentNodes, a, 3);
    show("no count", hipGraphNodeGetDependentNodes(a, nullptr, nullptr));
    show("null node", hipGraphNodeGetDependentNodes(nullptr, nullptr, &count));
    NEED(hipGraphDestroyNode(d));
    show_dependents("after removing d", a);
    NEED(hipGraphDestroy(graph));
}
