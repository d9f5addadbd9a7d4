// hipGraphExecMemsetNodeSetParams between launches: values, destinations and widths of one row.
// proves: hipGraphExecMemsetNodeSetParams
#include "graph.h"

int main() {
    auto* memory = device_memory<unsigned>(8, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipMemsetParams set = fill_params(memory, 1, 8);
    hipGraphNode_t fill;
    NEED(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    hipGraphExec_t exec = instantiate(graph);
    auto show_memory = [&](const char* label) {
        run(exec, nullptr);
        auto now = contents(memory, 8);
        std::string all;
        for (unsigned value : now) all += " " + std::to_string(value);
        line("%s:%s", label, all.c_str());
    };
    show_memory("as it was made");
    set.value = 0x01020304;
    show("another value", hipGraphExecMemsetNodeSetParams(exec, fill, &set));
    show_memory("another value");
    set.value = 5;
    set.dst = memory + 4;
    set.width = 4;
    show("the upper half", hipGraphExecMemsetNodeSetParams(exec, fill, &set));
    show_memory("the upper half");
    set.dst = memory;
    set.width = 1;
    set.value = 6;
    show("one element", hipGraphExecMemsetNodeSetParams(exec, fill, &set));
    show_memory("one element");
    hipMemsetParams told = {};
    NEED(hipGraphMemsetNodeGetParams(fill, &told));
    line("the graph's node: value %u, width %zu", told.value, told.width);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(memory));
}
