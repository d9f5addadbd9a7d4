// Several executables of one graph: each has parameters of its own, and the graph keeps its.
// proves: hipGraphExecHostNodeSetParams, hipGraphHostNodeGetParams, hipGraphInstantiate
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    hipHostNodeParams before, after;
    NEED(hipGraphHostNodeGetParams(b, &before));
    std::vector<hipGraphExec_t> execs;
    for (int i = 0; i < 4; ++i) execs.push_back(instantiate(graph));
    for (int i = 1; i < 4; ++i) {
        hipHostNodeParams params = trace.step("b" + std::to_string(i));
        NEED(hipGraphExecHostNodeSetParams(execs[i], b, &params));
    }
    for (auto exec : execs) {
        run(exec, nullptr);
        trace.show_order("runs");
    }
    NEED(hipGraphHostNodeGetParams(b, &after));
    show("the graph is as it was", before.fn == after.fn && before.userData == after.userData);
    NEED(hipGraphDestroy(graph));
    for (auto exec : execs) {
        run(exec, nullptr);
        trace.show_order("runs without the graph");
        NEED(hipGraphExecDestroy(exec));
    }
}
