// hipGraphGetNodes: counts, order, and arrays that are too small or too large.
// proves: hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphGetNodes
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    size_t count = 77;
    show("empty graph", hipGraphGetNodes(graph, nullptr, &count));
    show("empty graph, count", count);
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a});
    empty(graph, "c");
    empty(graph, "d", {b});
    show_nodes("nodes in order", graph);
    count = 77;
    show("count only", hipGraphGetNodes(graph, nullptr, &count));
    show("count only, count", count);
    show_array("exact array", hipGraphGetNodes, graph, 4);
    show_array("array of 2", hipGraphGetNodes, graph, 2);
    show_array("array of 7", hipGraphGetNodes, graph, 7);
    show_array("array of 0", hipGraphGetNodes, graph, 0);
    show("no count", hipGraphGetNodes(graph, nullptr, nullptr));
    hipGraphNode_t array[4];
    show("array, but no count", hipGraphGetNodes(graph, array, nullptr));
    count = 4;
    show("null graph", hipGraphGetNodes(nullptr, array, &count));
    NEED(hipGraphDestroyNode(b));
    show_nodes("after removing b", graph);
    empty(graph, "e");
    show_nodes("after adding e", graph);
    NEED(hipGraphDestroy(graph));
}
