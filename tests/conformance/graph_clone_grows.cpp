// Nodes and edges that are added to a clone, and to the original afterwards, are its own.
// DIFFERS an edge in the clone: 5.2.3 takes nodes of a clone for another graph's; from and to belong to
//     the graph (HIP 7 documentation of hipGraphAddDependencies)
// DIFFERS edges of the clone: counts the edge that should be there; (HIP 7 documentation of
//     hipGraphAddDependencies)
// DIFFERS clone: runs without the edge that should be there; (HIP 7 documentation of
//     hipGraphAddDependencies)
// proves: hipGraphAddDependencies, hipGraphAddHostNode, hipGraphClone, hipGraphNodeFindInClone
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, clone;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b");
    NEED(hipGraphClone(&clone, graph));
    hipGraphNode_t a2, b2;
    NEED(hipGraphNodeFindInClone(&a2, a, clone));
    NEED(hipGraphNodeFindInClone(&b2, b, clone));
    show("an edge in the clone", hipGraphAddDependencies(clone, &b2, &a2, 1));
    host(trace, clone, "c", {a2});
    show("nodes of the clone", node_count(clone));
    show("edges of the clone", edge_count(clone));
    show("nodes of the original", node_count(graph));
    show("edges of the original", edge_count(graph));
    show("an edge in the original", hipGraphAddDependencies(graph, &a, &b, 1));
    hipGraphExec_t one = instantiate(graph), two = instantiate(clone);
    run(one, nullptr);
    trace.show_order("original");
    run(two, nullptr);
    trace.show_order("clone");
    NEED(hipGraphExecDestroy(one));
    NEED(hipGraphExecDestroy(two));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(clone));
}
