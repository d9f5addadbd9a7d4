// hipGraphRemoveDependencies: what it removes, what it refuses.
// DIFFERS nothing: 5.2.3 wants arrays even for no edges; numDependencies 0 ignores them (HIP 7
//     documentation of hipGraphAddDependencies)
// DIFFERS an edge of another graph: 5.2.3 does not check; nodes of another graph are hipErrorInvalidValue
//     (HIP 7 documentation of hipGraphRemoveDependencies)
// DIFFERS edges after the first of two was there: 5.2.3 has removed the edges before the bad one; a
//     refused edit changes nothing (docs/adr/0009)
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphGetEdges, hipGraphGetRootNodes
// proves: hipGraphRemoveDependencies
#include "graph.h"

int main() {
    hipGraph_t graph, other;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a}), c = empty(graph, "c", {a});
    auto d = empty(graph, "d", {b, c});
    auto foreign = empty(other, "x");
    show("a > b", hipGraphRemoveDependencies(graph, &a, &b, 1));
    show_edges("edges", graph);
    show_roots("roots", graph);
    show("a > b again", hipGraphRemoveDependencies(graph, &a, &b, 1));
    show("an edge that never was", hipGraphRemoveDependencies(graph, &a, &d, 1));
    show("an edge the wrong way round", hipGraphRemoveDependencies(graph, &c, &a, 1));
    show("no starts", hipGraphRemoveDependencies(graph, nullptr, &c, 1));
    show("no ends", hipGraphRemoveDependencies(graph, &a, nullptr, 1));
    // HIP: 5.2.3 crashes on a null node here.
    show("null graph", hipGraphRemoveDependencies(nullptr, &a, &c, 1));
    show("foreign start", hipGraphRemoveDependencies(graph, &foreign, &c, 1));
    show("foreign end", hipGraphRemoveDependencies(graph, &a, &foreign, 1));
    show("nothing", hipGraphRemoveDependencies(graph, nullptr, nullptr, 0));
    show_edges("edges after errors", graph);
    hipGraphNode_t from[] = {a, a}, to[] = {b, c};
    show("first of two is missing", hipGraphRemoveDependencies(graph, from, to, 2));
    show_edges("edges after a list that failed", graph);
    size_t left = edge_count(graph);
    hipGraphNode_t all_from[4], all_to[4];
    NEED(hipGraphGetEdges(graph, all_from, all_to, &left));
    show("all that are left", hipGraphRemoveDependencies(graph, all_from, all_to, left));
    show_edges("edges at last", graph);
    show_roots("roots at last", graph);
    NEED(hipGraphAddDependencies(graph, &a, &c, 1));
    show("an edge of another graph", hipGraphRemoveDependencies(other, &a, &c, 1));
    hipGraphNode_t again_from[] = {a, a}, again_to[] = {c, d};
    NEED(hipGraphAddDependencies(graph, &b, &d, 1));
    show("second of two is missing", hipGraphRemoveDependencies(graph, again_from, again_to, 2));
    show_edges("edges after the first of two was there", graph);
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
}
