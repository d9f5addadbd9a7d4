// A clone of a graph with a child graph: what is in the child graph is copied, too.
// proves: hipGraphAddChildGraphNode, hipGraphChildGraphNodeGetGraph, hipGraphClone, hipGraphNodeFindInClone
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, inner, clone, inside, copied;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&inner, 0));
    auto x = host(trace, inner, "x");
    host(trace, inner, "y", {x});
    auto a = host(trace, graph, "a");
    hipGraphNode_t child, child2;
    NEED(hipGraphAddChildGraphNode(&child, graph, &a, 1, inner));
    host(trace, graph, "b", {child});
    NEED(hipGraphClone(&clone, graph));
    show("the child graph node", hipGraphNodeFindInClone(&child2, child, clone));
    NEED(hipGraphChildGraphNodeGetGraph(child, &inside));
    NEED(hipGraphChildGraphNodeGetGraph(child2, &copied));
    show("another graph", copied != inside && copied != inner && inside != inner);
    show("nodes inside the copy", node_count(copied));
    show("edges inside the copy", edge_count(copied));
    hipGraphExec_t exec = instantiate(clone);
    run(exec, nullptr);
    trace.show_order("the clone runs");
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(inner));
    show("nodes inside the copy, the others gone", node_count(copied));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(clone));
}
