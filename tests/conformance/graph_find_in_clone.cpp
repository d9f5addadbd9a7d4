// hipGraphNodeFindInClone: the copy of a node, and nodes that have none.
// proves: hipGraphAddEmptyNode, hipGraphClone, hipGraphGetEdges, hipGraphGetNodes, hipGraphNodeFindInClone
// proves: hipGraphNodeGetDependencies
#include "graph.h"

int main() {
    hipGraph_t graph, clone, other;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    auto a = empty(graph, "a"), b = empty(graph, "b", {a});
    auto foreign = empty(other, "x");
    NEED(hipGraphClone(&clone, graph));
    hipGraphNode_t found = nullptr;
    show("a", hipGraphNodeFindInClone(&found, a, clone));
    show("the copy is another node", found != nullptr && found != a);
    names().add("a'", found);
    show("b", hipGraphNodeFindInClone(&found, b, clone));
    names().add("b'", found);
    show_nodes("nodes of the clone", clone);
    show_edges("edges of the clone", clone);
    show_dependencies("dependencies of b'", found);
    show("no place for the node", hipGraphNodeFindInClone(nullptr, a, clone));
    show("null node", hipGraphNodeFindInClone(&found, nullptr, clone));
    show("null clone", hipGraphNodeFindInClone(&found, a, nullptr));
    show("a node of another graph", hipGraphNodeFindInClone(&found, foreign, clone));
    show("a node that was added later", hipGraphNodeFindInClone(&found, empty(graph, "late"), clone));
    show("in a graph that is no clone", hipGraphNodeFindInClone(&found, a, other));
    show("in the original itself", hipGraphNodeFindInClone(&found, a, graph));
    hipGraphNode_t copy = nullptr;
    NEED(hipGraphNodeFindInClone(&copy, a, clone));
    show("a copy in the original", hipGraphNodeFindInClone(&found, copy, graph));
    // HIP: 5.2.3 crashes when a node of a clone is destroyed.
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(clone));
    NEED(hipGraphDestroy(other));
}
