// Adding nodes with dependencies that are good, missing, repeated or of another graph.
// DIFFERS dependency of another graph: 5.2.3 does not check; foreign and repeated dependencies are
//     hipErrorInvalidValue (HIP 7 documentation of hipGraphAddDependencies)
// DIFFERS one good, one foreign: 5.2.3 does not check; foreign and repeated dependencies are
//     hipErrorInvalidValue (HIP 7 documentation of hipGraphAddDependencies)
// DIFFERS one dependency twice: 5.2.3 does not check; foreign and repeated dependencies are
//     hipErrorInvalidValue (HIP 7 documentation of hipGraphAddDependencies)
// DIFFERS nodes at last: counts what should have been refused; foreign and repeated dependencies are
//     hipErrorInvalidValue (HIP 7 documentation of hipGraphAddDependencies)
// DIFFERS edges at last: counts what should have been refused; foreign and repeated dependencies are
//     hipErrorInvalidValue (HIP 7 documentation of hipGraphAddDependencies)
// proves: hipGraphAddEmptyNode, hipGraphGetEdges
#include "graph.h"

int main() {
    hipGraph_t graph, other;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    hipGraphNode_t node = nullptr, none = nullptr;
    show("no dependencies", hipGraphAddEmptyNode(&node, graph, nullptr, 0));
    auto a = names().add("a", node);
    auto foreign = empty(other, "x");
    show("one dependency", hipGraphAddEmptyNode(&node, graph, &a, 1));
    auto b = names().add("b", node);
    hipGraphNode_t both[] = {a, b};
    show("two dependencies", hipGraphAddEmptyNode(&node, graph, both, 2));
    names().add("c", node);
    show("an array but count 0", hipGraphAddEmptyNode(&node, graph, both, 0));
    names().add("d", node);
    show_edges("edges", graph);
    show("no place for the node", hipGraphAddEmptyNode(nullptr, graph, nullptr, 0));
    show("null graph", hipGraphAddEmptyNode(&node, nullptr, nullptr, 0));
    show("count without an array", hipGraphAddEmptyNode(&node, graph, nullptr, 1));
    show("null dependency", hipGraphAddEmptyNode(&node, graph, &none, 1));
    show("count larger than the graph", hipGraphAddEmptyNode(&node, graph, both, 100));
    show("dependency of another graph", hipGraphAddEmptyNode(&node, graph, &foreign, 1));
    hipGraphNode_t mixed[] = {a, foreign};
    show("one good, one foreign", hipGraphAddEmptyNode(&node, graph, mixed, 2));
    hipGraphNode_t twice[] = {a, a};
    show("one dependency twice", hipGraphAddEmptyNode(&node, graph, twice, 2));
    show("nodes at last", node_count(graph));
    show("edges at last", edge_count(graph));
    show("nodes of the other graph", node_count(other));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
}
