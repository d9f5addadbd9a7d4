// hipGraphAddDependencies: what it accepts and what the graph looks like afterwards.
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphGetEdges, hipGraphGetRootNodes
// proves: hipGraphNodeGetDependencies, hipGraphNodeGetDependentNodes
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a"), b = empty(graph, "b"), c = empty(graph, "c"), d = empty(graph, "d");
    show("a > b", hipGraphAddDependencies(graph, &a, &b, 1));
    show_edges("edges", graph);
    hipGraphNode_t from[] = {a, b, c}, to[] = {c, d, d};
    show("three edges at once", hipGraphAddDependencies(graph, from, to, 3));
    show_edges("edges now", graph);
    show_roots("roots", graph);
    show_dependencies("dependencies of d", d);
    show_dependents("dependents of a", a);
    show("no edges and no arrays", hipGraphAddDependencies(graph, nullptr, nullptr, 0));
    show("no edges of two arrays", hipGraphAddDependencies(graph, from, to, 0));
    // HIP: 5.2.3 crashes on an edge that closes a cycle.
    auto e = empty(graph, "e");
    show("from a later node to an earlier one", hipGraphAddDependencies(graph, &e, &a, 1));
    show_roots("roots with e > a", graph);
    show("a > d beside a > b > d", hipGraphAddDependencies(graph, &a, &d, 1));
    show_edges("edges at last", graph);
    NEED(hipGraphDestroy(graph));
}
