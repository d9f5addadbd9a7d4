// hipGraphExecHostNodeSetParams: right and wrong nodes and executables.
// proves: hipGraphAddEmptyNode, hipGraphAddHostNode, hipGraphExecHostNodeSetParams
// proves: hipGraphHostNodeGetParams
#include "graph.h"

int main() {
    hipGraph_t graph, other;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    auto x = host(trace, other, "x");
    auto plain = empty(graph, "plain");
    hipGraphExec_t exec = instantiate(graph), second = instantiate(graph);
    hipHostNodeParams changed = trace.step("changed"), none = {nullptr, nullptr};
    show("set a", hipGraphExecHostNodeSetParams(exec, a, &changed));
    run(exec, nullptr);
    trace.show_order("runs with it");
    run(second, nullptr);
    trace.show_order("another executable does not");
    run(instantiate(graph), nullptr);
    trace.show_order("nor does the graph");
    hipHostNodeParams got;
    NEED(hipGraphHostNodeGetParams(a, &got));
    show("the node is as it was", got.userData != changed.userData);
    show("without a function", hipGraphExecHostNodeSetParams(exec, a, &none));
    show("without parameters", hipGraphExecHostNodeSetParams(exec, a, nullptr));
    show("null executable", hipGraphExecHostNodeSetParams(nullptr, a, &changed));
    show("null node", hipGraphExecHostNodeSetParams(exec, nullptr, &changed));
    show("node of another graph", hipGraphExecHostNodeSetParams(exec, x, &changed));
    auto late = host(trace, graph, "late", {b});
    show("node added later", hipGraphExecHostNodeSetParams(exec, late, &changed));
    (void)plain;
    run(exec, nullptr);
    trace.show_order("unchanged by errors");
    hipHostNodeParams again = trace.step("again");
    show("set b", hipGraphExecHostNodeSetParams(exec, b, &again));
    run(exec, nullptr);
    trace.show_order("both changed");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphExecDestroy(second));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
}
