// hipGraphAddDependencies: what it refuses, and that a refused list changes nothing.
// DIFFERS edges after a list that failed: 5.2.3 keeps the edges before the bad one; a refused edit
//     changes nothing (docs/adr/0009)
// DIFFERS edges after a list with one edge twice: 5.2.3 keeps the edges before the bad one; a refused
//     edit changes nothing (docs/adr/0009)
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphGetEdges
#include "graph.h"

int main() {
    hipGraph_t graph, other;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    auto a = empty(graph, "a"), b = empty(graph, "b"), c = empty(graph, "c"), foreign = empty(other, "x");
    hipGraphNode_t none = nullptr;
    NEED(hipGraphAddDependencies(graph, &a, &b, 1));
    show("the same edge again", hipGraphAddDependencies(graph, &a, &b, 1));
    show_edges("edges after that", graph);
    show("self edge", hipGraphAddDependencies(graph, &c, &c, 1));
    show_edges("edges after a self edge", graph);
    show("no starts", hipGraphAddDependencies(graph, nullptr, &b, 1));
    show("no ends", hipGraphAddDependencies(graph, &b, nullptr, 1));
    show("null start", hipGraphAddDependencies(graph, &none, &c, 1));
    show("null end", hipGraphAddDependencies(graph, &b, &none, 1));
    show("null graph", hipGraphAddDependencies(nullptr, &b, &c, 1));
    show("foreign start", hipGraphAddDependencies(graph, &foreign, &c, 1));
    show("foreign end", hipGraphAddDependencies(graph, &b, &foreign, 1));
    show("both of another graph", hipGraphAddDependencies(other, &b, &c, 1));
    show_edges("edges after errors", graph);
    show_edges("edges of the other graph", other);
    hipGraphNode_t from[] = {b, a}, to[] = {c, b};
    show("second of two exists", hipGraphAddDependencies(graph, from, to, 2));
    show_edges("edges after a list that failed", graph);
    hipGraphNode_t twice_from[] = {a, a}, twice_to[] = {c, c};
    show("one edge twice in a list", hipGraphAddDependencies(graph, twice_from, twice_to, 2));
    show_edges("edges after a list with one edge twice", graph);
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
}
