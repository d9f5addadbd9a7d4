// hipGraphExecMemsetNodeSetParams: what may change of a fill in an executable.
// DIFFERS three rows instead of two: 5.2.3 lets the shape of rows change; it must stay (HIP 7
//     documentation of hipGraphExecMemsetNodeSetParams)
// proves: hipGraphAddMemsetNode, hipGraphExecMemsetNodeSetParams, hipGraphMemsetNodeGetParams
#include "graph.h"

int main() {
    hipGraph_t graph, foreign;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&foreign, 0));
    unsigned* a = device_memory<unsigned>(64, 0);
    unsigned* b = device_memory<unsigned>(64, 0);
    hipMemsetParams params = fill_params(a, 1, 8);
    hipGraphNode_t node, other;
    NEED(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
    NEED(hipGraphAddMemsetNode(&other, foreign, nullptr, 0, &params));
    hipGraphExec_t exec = instantiate(graph);
    hipMemsetParams changed = params;
    changed.dst = b;
    changed.value = 7;
    show("other destination and value", hipGraphExecMemsetNodeSetParams(exec, node, &changed));
    run(exec, nullptr);
    line("filled: %u %u", contents(a, 1)[0], contents(b, 1)[0]);
    changed.width = 16;
    show("wider", hipGraphExecMemsetNodeSetParams(exec, node, &changed));
    run(exec, nullptr);
    line("filled wider: %u %u", contents(b, 16)[15], contents(b, 17)[16]);
    hipMemsetParams got;
    NEED(hipGraphMemsetNodeGetParams(node, &got));
    line("the node of the graph: %d %u %zu", got.dst == a, got.value, got.width);
    hipMemsetParams bad = params;
    bad.dst = nullptr;
    show("no destination", hipGraphExecMemsetNodeSetParams(exec, node, &bad));
    bad = params;
    bad.elementSize = 3;
    show("elements of 3 bytes", hipGraphExecMemsetNodeSetParams(exec, node, &bad));
    bad = params;
    bad.height = 0;
    show("no rows", hipGraphExecMemsetNodeSetParams(exec, node, &bad));
    bad = params;
    bad.width = 1 << 24;
    show("beyond the allocation", hipGraphExecMemsetNodeSetParams(exec, node, &bad));
    show("null executable", hipGraphExecMemsetNodeSetParams(nullptr, node, &params));
    show("null node", hipGraphExecMemsetNodeSetParams(exec, nullptr, &params));
    show("null parameters", hipGraphExecMemsetNodeSetParams(exec, node, nullptr));
    show("node of another graph", hipGraphExecMemsetNodeSetParams(exec, other, &params));
    hipGraphNode_t rows;
    hipGraph_t two;
    NEED(hipGraphCreate(&two, 0));
    params.height = 2;
    params.pitch = 64;
    NEED(hipGraphAddMemsetNode(&rows, two, nullptr, 0, &params));
    hipGraphExec_t second = instantiate(two);
    params.value = 9;
    show("other value of two rows", hipGraphExecMemsetNodeSetParams(second, rows, &params));
    params.height = 3;
    show("three rows instead of two", hipGraphExecMemsetNodeSetParams(second, rows, &params));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphExecDestroy(second));
    for (auto g : {graph, foreign, two}) NEED(hipGraphDestroy(g));
}
