// Many edges in one call, added and removed.
// proves: hipGraphAddDependencies, hipGraphGetEdges, hipGraphGetRootNodes, hipGraphRemoveDependencies
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a"), b = host(trace, graph, "b"), c = host(trace, graph, "c"),
         d = host(trace, graph, "d");
    show_roots("without edges", graph);
    hipGraphNode_t from[] = {d, c, b, d}, to[] = {c, b, a, a};
    show("four at once", hipGraphAddDependencies(graph, from, to, 4));
    show_edges("edges", graph);
    show_roots("roots", graph);
    show_dependencies("a waits for", a);
    show_dependents("behind d", d);
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    trace.show_order("backwards");
    show("none at once", hipGraphAddDependencies(graph, from, to, 0));
    show("two removed at once", hipGraphRemoveDependencies(graph, from + 2, to + 2, 2));
    show_edges("edges left", graph);
    show_roots("roots now", graph);
    show("none removed", hipGraphRemoveDependencies(graph, from, to, 0));
    run(exec, nullptr);
    trace.show_order("the executable keeps the order that it was made with");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
