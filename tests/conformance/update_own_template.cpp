// hipGraphExecUpdate from the graph that the executable was made of, after its nodes were given other parameters.
// proves: hipGraphExecUpdate, hipGraphHostNodeSetParams, hipGraphMemsetNodeSetParams
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto* memory = device_memory<unsigned>(8, 0);
    hipMemsetParams set = fill_params(memory, 1, 8);
    hipGraphNode_t fill;
    NEED(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    auto call = host(trace, graph, "0", {fill});
    hipGraphExec_t exec = instantiate(graph);
    for (unsigned i = 1; i <= 5; ++i) {
        set.value = i * 11;
        NEED(hipGraphMemsetNodeSetParams(fill, &set));
        hipHostNodeParams params = trace.step(std::to_string(i));
        NEED(hipGraphHostNodeSetParams(call, &params));
        if (i % 2) show_update("update", exec, graph);
        run(exec, nullptr);
        line("filled with %u", contents(memory, 1)[0]);
        trace.show_order("called");
    }
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(memory));
}
