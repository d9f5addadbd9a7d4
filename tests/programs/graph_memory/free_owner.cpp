// An allocation is freed by nodes of its own graph or by nodes of others, never by both.
#include "graph_memory.h"

int main() {
    hipGraph_t graph = new_graph(), other = new_graph(), third = new_graph();
    void *own, *others;
    hipGraphNode_t first = add_alloc(graph, {}, 4096, &own), second = add_alloc(graph, {}, 4096, &others), node;
    show("freed by its own graph", hipGraphAddMemFreeNode(&node, graph, &first, 1, own));
    show("then by another", hipGraphAddMemFreeNode(&node, other, nullptr, 0, own));
    show("freed by another graph", hipGraphAddMemFreeNode(&node, other, nullptr, 0, others));
    show("then by its own", hipGraphAddMemFreeNode(&node, graph, &second, 1, others));
    show("twice by the other", hipGraphAddMemFreeNode(&node, other, nullptr, 0, others));
    // Each of several graphs may be the one that is launched.
    show("by a third", hipGraphAddMemFreeNode(&node, third, nullptr, 0, others));
    NEED(hipGraphDestroy(other));
    NEED(hipGraphDestroy(third));
    NEED(hipGraphDestroy(graph));
}
