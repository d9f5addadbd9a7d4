// hipGraphExecUpdate from a clone of the graph whose nodes were given other parameters.
// proves: hipGraphClone, hipGraphExecUpdate, hipGraphHostNodeSetParams, hipGraphNodeFindInClone
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, clone;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    NEED(hipGraphClone(&clone, graph));
    hipGraphNode_t copy;
    NEED(hipGraphNodeFindInClone(&copy, b, clone));
    hipHostNodeParams params = trace.step("changed");
    NEED(hipGraphHostNodeSetParams(copy, &params));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    trace.show_order("as it was made");
    show_update("the clone", exec, clone);
    run(exec, nullptr);
    trace.show_order("runs");
    NEED(hipGraphDestroy(clone));
    run(exec, nullptr);
    trace.show_order("runs without the clone");
    show_update("the graph", exec, graph);
    run(exec, nullptr);
    trace.show_order("runs");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
