// Setters of the graph's nodes: executables that exist keep their parameters, later ones have the new.
// proves: hipGraphHostNodeSetParams, hipGraphInstantiate, hipGraphMemsetNodeSetParams
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto* memory = device_memory<unsigned>(8, 0);
    hipMemsetParams set = fill_params(memory, 3, 8);
    hipGraphNode_t fill;
    NEED(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    auto a = host(trace, graph, "a", {fill});
    hipGraphExec_t early = instantiate(graph);
    set.value = 4;
    show("another value", hipGraphMemsetNodeSetParams(fill, &set));
    hipHostNodeParams other = trace.step("other");
    show("another call", hipGraphHostNodeSetParams(a, &other));
    hipGraphExec_t late = instantiate(graph);
    run(early, nullptr);
    line("early: %u", contents(memory, 1)[0]);
    trace.show_order("early");
    run(late, nullptr);
    line("late: %u", contents(memory, 1)[0]);
    trace.show_order("late");
    run(early, nullptr);
    line("early again: %u", contents(memory, 1)[0]);
    NEED(hipGraphExecDestroy(early));
    NEED(hipGraphExecDestroy(late));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(memory));
}
