// A graph as a child of itself, and of what it holds.
// proves: hipGraphAddChildGraphNode, hipGraphAddHostNode
#include "graph.h"

int main() {
    hipGraph_t graph;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    hipGraphNode_t node = nullptr;
    show("into itself", hipGraphAddChildGraphNode(&node, graph, &a, 1, graph));
    show("nodes", node_count(graph));
    NEED(hipGraphDestroy(graph));
}
