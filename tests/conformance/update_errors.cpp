// hipGraphExecUpdate with arguments missing.
// proves: hipGraphExecUpdate
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    host(trace, graph, "a");
    hipGraphExec_t exec = instantiate(graph);
    hipGraphNode_t node;
    hipGraphExecUpdateResult result;
    show("null executable", hipGraphExecUpdate(nullptr, graph, &node, &result));
    show("null graph", hipGraphExecUpdate(exec, nullptr, &node, &result));
    show("no place for the node", hipGraphExecUpdate(exec, graph, nullptr, &result));
    show("no place for the result", hipGraphExecUpdate(exec, graph, &node, nullptr));
    show("all given", hipGraphExecUpdate(exec, graph, &node, &result));
    run(exec, nullptr);
    trace.show_order("runs");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
