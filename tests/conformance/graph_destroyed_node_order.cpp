// hipGraphDestroyNode of a node between others: its edges go with it, and nothing takes their place.
// DIFFERS roots: 5.2.3 forgets that the dependents of a removed node may be roots now; HIP 7 documentation
//     of hipGraphGetRootNodes
// DIFFERS without b: 5.2.3 does not run what depended on a removed node; HIP 7 documentation of
//     hipGraphDestroyNode
// proves: hipGraphAddDependencies, hipGraphDestroyNode, hipGraphInstantiate
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    auto c = host(trace, graph, "c", {b});
    host(trace, graph, "d", {c});
    hipGraphExec_t whole = instantiate(graph);
    show("destroyed", hipGraphDestroyNode(b));
    show_nodes("nodes", graph);
    show_edges("edges", graph);
    show_roots("roots", graph);
    show("an edge over the gap", hipGraphAddDependencies(graph, &a, &c, 1));
    hipGraphExec_t rest = instantiate(graph);
    run(rest, nullptr);
    trace.show_order("without b");
    run(whole, nullptr);
    trace.show_order("the executable that had it");
    NEED(hipGraphExecDestroy(whole));
    NEED(hipGraphExecDestroy(rest));
    NEED(hipGraphDestroy(graph));
}
