// hipGraphExecUpdate with nodes of another kind.
// DIFFERS runs as before: 5.2.3 has changed the nodes before the refused one; a refused update changes
//     nothing (docs/adr/0009)
// proves: hipGraphAddHostNode, hipGraphAddMemsetNode, hipGraphExecUpdate
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, kinds;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&kinds, 0));
    unsigned* memory = device_memory<unsigned>(16, 0);
    hipMemsetParams set = fill_params(memory, 5, 16);
    auto a = host(trace, graph, "a");
    hipGraphNode_t node;
    NEED(hipGraphAddMemsetNode(&node, graph, &a, 1, &set));
    hipGraphExec_t exec = instantiate(graph);
    auto b = host(trace, kinds, "b");
    names().add("second", empty(kinds, "second", {b}));
    show_update("an empty node instead of a fill", exec, kinds);
    run(exec, nullptr);
    trace.show_order("runs as before");

    hipGraph_t swapped;
    NEED(hipGraphCreate(&swapped, 0));
    hipGraphNode_t first;
    NEED(hipGraphAddMemsetNode(&first, swapped, nullptr, 0, &set));
    names().add("fill", first);
    host(trace, swapped, "c", {first});
    show_update("fill and host node exchanged", exec, swapped);
    NEED(hipGraphExecDestroy(exec));
    for (auto each : {graph, kinds, swapped}) NEED(hipGraphDestroy(each));
    NEED(hipFree(memory));
}
