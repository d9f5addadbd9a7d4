// An edge that is removed and added again, and the other way round: only what there is at the instantiation counts.
// proves: hipGraphAddDependencies, hipGraphInstantiate, hipGraphRemoveDependencies
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a"), b = host(trace, graph, "b", {a}), c = host(trace, graph, "c", {b});
    auto once = [&](const char* label) {
        hipGraphExec_t exec = instantiate(graph);
        run(exec, nullptr);
        trace.show_order(label);
        NEED(hipGraphExecDestroy(exec));
    };
    once("as it was made");
    NEED(hipGraphRemoveDependencies(graph, &a, &b, 1));
    NEED(hipGraphRemoveDependencies(graph, &b, &c, 1));
    show_edges("no edges", graph);
    NEED(hipGraphAddDependencies(graph, &c, &b, 1));
    NEED(hipGraphAddDependencies(graph, &b, &a, 1));
    show_edges("the other way round", graph);
    once("backwards");
    for (int i = 0; i < 100; ++i) {
        NEED(hipGraphRemoveDependencies(graph, &c, &b, 1));
        NEED(hipGraphAddDependencies(graph, &c, &b, 1));
    }
    show_edges("after a hundred changes", graph);
    once("backwards still");
    NEED(hipGraphDestroy(graph));
}
