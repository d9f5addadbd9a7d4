// hipGraphDestroyNode: a node goes with its edges.
// DIFFERS roots without a: 5.2.3 forgets that the dependents of a removed node may be roots now; HIP 7
//     documentation of hipGraphGetRootNodes
// proves: hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphGetEdges, hipGraphGetNodes
// proves: hipGraphGetRootNodes, hipGraphNodeGetDependencies, hipGraphNodeGetDependentNodes
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a}), c = empty(graph, "c", {a});
    auto d = empty(graph, "d", {b, c});
    show_edges("edges", graph);
    show("destroy b", hipGraphDestroyNode(b));
    show_nodes("nodes", graph);
    show_edges("edges without b", graph);
    show_dependencies("dependencies of d", d);
    show_dependents("dependents of a", a);
    show("destroy a", hipGraphDestroyNode(a));
    show_roots("roots without a", graph);
    show("destroy null", hipGraphDestroyNode(nullptr));
    // HIP: 5.2.3 crashes when a graph whose inner node was removed is instantiated.
    auto e = empty(graph, "e", {c});
    show_dependents("dependents of c", c);
    show("destroy e", hipGraphDestroyNode(e));
    show("destroy d", hipGraphDestroyNode(d));
    show("destroy c", hipGraphDestroyNode(c));
    show("nodes left", node_count(graph));
    show("edges left", edge_count(graph));
    empty(graph, "f");
    show_roots("a new root", graph);
    show("destroy the graph", hipGraphDestroy(graph));
}
