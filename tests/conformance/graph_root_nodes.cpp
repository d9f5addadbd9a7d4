// hipGraphGetRootNodes: which nodes are roots, and arrays that are too small or too large.
// DIFFERS without a and b: 5.2.3 forgets that the dependents of removed nodes may be roots now; HIP 7
//     documentation of hipGraphGetRootNodes
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphGetRootNodes
// proves: hipGraphRemoveDependencies
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    size_t count = 77;
    show("empty graph", hipGraphGetRootNodes(graph, nullptr, &count));
    show("empty graph, count", count);
    auto a = empty(graph, "a");
    auto b = empty(graph, "b");
    auto c = empty(graph, "c", {a, b});
    auto d = empty(graph, "d");
    empty(graph, "e", {c});
    show_roots("roots", graph);
    show_array("exact array", hipGraphGetRootNodes, graph, 3);
    show_array("array of 1", hipGraphGetRootNodes, graph, 1);
    show_array("array of 5", hipGraphGetRootNodes, graph, 5);
    NEED(hipGraphAddDependencies(graph, &d, &b, 1));
    show_roots("b behind d", graph);
    NEED(hipGraphRemoveDependencies(graph, &d, &b, 1));
    show_roots("b free again", graph);
    NEED(hipGraphDestroyNode(a));
    show_roots("without a", graph);
    NEED(hipGraphDestroyNode(b));
    show_roots("without a and b", graph);
    show("no count", hipGraphGetRootNodes(graph, nullptr, nullptr));
    show("null graph", hipGraphGetRootNodes(nullptr, nullptr, &count));
    NEED(hipGraphDestroy(graph));
}
