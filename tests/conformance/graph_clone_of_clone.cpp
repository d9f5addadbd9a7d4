// A clone of a clone: it has the same nodes, and is found from the clone that it was made of.
// proves: hipGraphAddHostNode, hipGraphClone, hipGraphNodeFindInClone
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, first, second;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    NEED(hipGraphClone(&first, graph));
    hipGraphNode_t one = nullptr, two = nullptr;
    show("in the clone", hipGraphNodeFindInClone(&one, b, first));
    NEED(hipGraphClone(&second, first));
    show("from clone to its clone", hipGraphNodeFindInClone(&two, one, second));
    show("three different nodes", one != b && two != one && two != b);
    names().add("b of the second clone", two);
    show("nodes", node_count(second));
    show("edges", edge_count(second));
    size_t count = 0;
    NEED(hipGraphNodeGetDependencies(two, nullptr, &count));
    show("dependencies of b", count);
    hipGraphExec_t exec = instantiate(second);
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(first));
    run(exec, nullptr);
    trace.show_order("the second clone runs on its own");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(second));
}
