// hipGraphExecUpdate and child graphs.
// proves: hipGraphAddChildGraphNode, hipGraphAddHostNode, hipGraphExecUpdate
#include "graph.h"

static hipGraph_t nested(Trace& trace, const char* inside, const char* behind) {
    hipGraph_t graph, child;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    auto first = host(trace, child, inside);
    host(trace, child, "last", {first});
    hipGraphNode_t node;
    NEED(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    names().add("child", node);
    host(trace, graph, behind, {node});
    NEED(hipGraphDestroy(child));
    return graph;
}

int main() {
    Trace trace;
    hipGraph_t graph = nested(trace, "inside", "behind");
    hipGraphExec_t exec = instantiate(graph);
    hipGraph_t same = nested(trace, "inside 2", "behind 2");
    show_update("same shape", exec, same);
    run(exec, nullptr);
    trace.show_order("runs");
    // HIP: 5.2.3 crashes when the child has another number of nodes.
    NEED(hipGraphExecDestroy(exec));
    for (auto each : {graph, same}) NEED(hipGraphDestroy(each));
}
