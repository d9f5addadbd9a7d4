// hipGraphExecUpdate with other operands of copies and fills.
// DIFFERS other direction: 5.2.3 lets the direction change; hipErrorGraphExecUpdateFailure,
//     ParametersChanged (HIP 7 documentation of hipGraphExecUpdate)
// DIFFERS three rows: 5.2.3 lets the shape of rows change; only destination and value of rows may (HIP 7
//     documentation of hipGraphExecUpdate)
// DIFFERS other value of two rows: 6.3 takes no rows; destination and value of rows may change (HIP 7
//     documentation of hipGraphExecUpdate)
// proves: hipGraphAddMemcpyNode1D, hipGraphAddMemsetNode, hipGraphExecUpdate
#include "graph.h"

static hipGraph_t copy_graph(void* dst, const void* src, size_t bytes, hipMemcpyKind kind) {
    hipGraph_t graph;
    hipGraphNode_t node;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, dst, src, bytes, kind));
    names().add("copy", node);
    return graph;
}

static hipGraph_t fill_graph(void* dst, unsigned value, size_t width, size_t height, size_t pitch) {
    hipGraph_t graph;
    hipGraphNode_t node;
    hipMemsetParams set = fill_params(dst, value, width, height, pitch);
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    names().add("fill", node);
    return graph;
}

int main() {
    unsigned* a = device_memory<unsigned>(64, 1);
    unsigned* b = device_memory<unsigned>(64, 2);
    unsigned host[64] = {};
    hipGraphExec_t exec = instantiate(copy_graph(host, a, 16, hipMemcpyDeviceToHost));
    show_update("other source", exec, copy_graph(host, b, 16, hipMemcpyDeviceToHost));
    run(exec, nullptr);
    line("copied: %u %u", host[0], host[4]);
    show_update("more bytes", exec, copy_graph(host, b, 32, hipMemcpyDeviceToHost));
    run(exec, nullptr);
    line("copied more: %u %u", host[4], host[8]);
    show_update("other direction", exec, copy_graph(b, host, 16, hipMemcpyHostToDevice));

    hipGraphExec_t filling = instantiate(fill_graph(a, 3, 8, 1, 0));
    show_update("other value and destination", filling, fill_graph(b, 4, 8, 1, 0));
    run(filling, nullptr);
    line("filled: %u %u", contents(a, 1)[0], contents(b, 1)[0]);
    show_update("wider row", filling, fill_graph(b, 5, 16, 1, 0));
    run(filling, nullptr);
    line("filled wider: %u", contents(b, 16)[15]);
    hipGraphExec_t rows = instantiate(fill_graph(a, 3, 4, 2, 32));
    show_update("other value of two rows", rows, fill_graph(a, 6, 4, 2, 32));
    show_update("three rows", rows, fill_graph(a, 6, 4, 3, 32));
    for (auto each : {exec, filling, rows}) NEED(hipGraphExecDestroy(each));
}
