// A graph with memory is not copied, not used as a child, and loses neither nodes nor edges.
#include "graph_memory.h"

static void observe_graph(const char* what, hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to) {
    line("%s", what);
    hipGraph_t clone, parent = new_graph();
    hipGraphNode_t node;
    show("clone", hipGraphClone(&clone, graph));
    show("child", hipGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
    show("remove an edge", hipGraphRemoveDependencies(graph, &from, &to, 1));
    show("destroy a node", hipGraphDestroyNode(to));
    show("destroy the one before", hipGraphDestroyNode(from));
    size_t nodes = 0, edges = 0;
    NEED(hipGraphGetNodes(graph, nullptr, &nodes));
    NEED(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
    line("left: %zu nodes, %zu edges", nodes, edges);
    NEED(hipGraphDestroy(parent));
}

int main() {
    void *first, *second;
    hipGraph_t whole = new_graph(), leaving = new_graph(), freeing = new_graph();
    hipGraphNode_t alloc = add_alloc(whole, {}, 4096, &first), free = add_free(whole, {alloc}, first);
    observe_graph("allocates and frees", whole, alloc, free);
    hipGraphNode_t left = add_alloc(leaving, {}, 4096, &second), fill = add_fill(leaving, left, second, 4096, 1);
    observe_graph("allocates", leaving, left, fill);
    hipGraphNode_t empty;
    NEED(hipGraphAddEmptyNode(&empty, freeing, nullptr, 0));
    hipGraphNode_t other = add_free(freeing, {empty}, second);
    observe_graph("frees", freeing, empty, other);
    // More edges and nodes are no harm.
    show("add a node", hipGraphAddEmptyNode(&empty, whole, &alloc, 1));
    show("add an edge", hipGraphAddDependencies(whole, &empty, &free, 1));
}
