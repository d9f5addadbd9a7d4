// hipGraphExecUpdate and child graphs.
#include "graph.h"

static hipGraph_t nested(Trace& trace, const char* inside, const char* behind, bool longer) {
    hipGraph_t graph, child;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    auto first = host(trace, child, inside);
    if (longer) host(trace, child, "extra", {first});
    hipGraphNode_t node;
    NEED(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    names().add("child", node);
    host(trace, graph, behind, {node});
    NEED(hipGraphDestroy(child));
    return graph;
}

int main() {
    Trace trace;
    hipGraph_t graph = nested(trace, "inside", "behind", false);
    hipGraphExec_t exec = instantiate(graph);
    hipGraph_t same = nested(trace, "inside 2", "behind 2", false);
    show_update("same shape", exec, same);
    run(exec, nullptr);
    trace.show_order("runs");
    hipGraph_t longer = nested(trace, "inside 3", "behind 3", true);
    show_update("a longer child", exec, longer);
    NEED(hipGraphExecDestroy(exec));
    for (auto each : {graph, same, longer}) NEED(hipGraphDestroy(each));
}
