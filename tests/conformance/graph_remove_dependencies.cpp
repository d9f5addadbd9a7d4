// hipGraphRemoveDependencies: what it removes, what it refuses.
#include "graph.h"

int main() {
    hipGraph_t graph, other;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a}), c = empty(graph, "c", {a});
    auto d = empty(graph, "d", {b, c});
    auto foreign = empty(other, "x");
    hipGraphNode_t none = nullptr;
    show("a > b", hipGraphRemoveDependencies(graph, &a, &b, 1));
    show_edges("edges", graph);
    show_roots("roots", graph);
    show("a > b again", hipGraphRemoveDependencies(graph, &a, &b, 1));
    show("an edge that never was", hipGraphRemoveDependencies(graph, &a, &d, 1));
    show("an edge the wrong way round", hipGraphRemoveDependencies(graph, &c, &a, 1));
    show("no starts", hipGraphRemoveDependencies(graph, nullptr, &c, 1));
    show("no ends", hipGraphRemoveDependencies(graph, &a, nullptr, 1));
    show("null start", hipGraphRemoveDependencies(graph, &none, &c, 1));
    show("null end", hipGraphRemoveDependencies(graph, &a, &none, 1));
    show("null graph", hipGraphRemoveDependencies(nullptr, &a, &c, 1));
    show("foreign start", hipGraphRemoveDependencies(graph, &foreign, &c, 1));
    show("foreign end", hipGraphRemoveDependencies(graph, &a, &foreign, 1));
    show("nothing", hipGraphRemoveDependencies(graph, nullptr, nullptr, 0));
    show_edges("edges after errors", graph);
    show("an edge of another graph", hipGraphRemoveDependencies(other, &a, &c, 1));
    show_edges("edges after asking another graph", graph);
    hipGraphNode_t from[] = {b, a}, to[] = {d, b};
    show("second of two is missing", hipGraphRemoveDependencies(graph, from, to, 2));
    show_edges("edges after a list that failed", graph);
    size_t left = edge_count(graph);
    hipGraphNode_t all_from[4], all_to[4];
    NEED(hipGraphGetEdges(graph, all_from, all_to, &left));
    show("all that are left", hipGraphRemoveDependencies(graph, all_from, all_to, left));
    show_edges("edges at last", graph);
    show_roots("roots at last", graph);
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
}
