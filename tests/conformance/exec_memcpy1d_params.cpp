// hipGraphExecMemcpyNodeSetParams1D: what may change in an executable.
// DIFFERS other direction: 5.2.3 lets the direction change; it must stay (HIP 7 documentation of
//     hipGraphExecMemcpyNodeSetParams1D)
// proves: hipGraphAddMemcpyNode1D, hipGraphExecMemcpyNodeSetParams1D
#include "graph.h"

int main() {
    hipGraph_t graph, foreign;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&foreign, 0));
    int* a = device_memory<int>(16, 1);
    int* b = device_memory<int>(16, 2);
    int first[16] = {}, second[16] = {};
    hipGraphNode_t node, other, late;
    NEED(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, first, a, 32, hipMemcpyDeviceToHost));
    NEED(hipGraphAddMemcpyNode1D(&other, foreign, nullptr, 0, first, a, 32, hipMemcpyDeviceToHost));
    hipGraphExec_t exec = instantiate(graph);
    auto set = [&](void* dst, const void* src, size_t bytes, hipMemcpyKind kind) {
        return hipGraphExecMemcpyNodeSetParams1D(exec, node, dst, src, bytes, kind);
    };
    show("other operands", set(second, b, 32, hipMemcpyDeviceToHost));
    run(exec, nullptr);
    line("copied: %d %d %d", first[0], second[0], second[8]);
    show("more bytes", set(second, b, 64, hipMemcpyDeviceToHost));
    run(exec, nullptr);
    line("copied more: %d", second[8]);
    second[0] = 0;
    run(instantiate(graph), nullptr);
    line("the graph is unchanged: %d %d", first[0], second[0]);
    show("default direction", set(second, b, 32, hipMemcpyDefault));
    show("null destination", set(nullptr, b, 32, hipMemcpyDeviceToHost));
    show("null source", set(second, nullptr, 32, hipMemcpyDeviceToHost));
    show("no bytes", set(second, b, 0, hipMemcpyDeviceToHost));
    show("longer than the allocation", set(second, b, 1 << 24, hipMemcpyDeviceToHost));
    show("source is destination", set(b, b, 32, hipMemcpyDeviceToDevice));
    show("null executable", hipGraphExecMemcpyNodeSetParams1D(nullptr, node, second, b, 32,
        hipMemcpyDeviceToHost));
    show("null node", hipGraphExecMemcpyNodeSetParams1D(exec, nullptr, second, b, 32, hipMemcpyDeviceToHost));
    show("node of another graph", hipGraphExecMemcpyNodeSetParams1D(exec, other, second, b, 32,
        hipMemcpyDeviceToHost));
    NEED(hipGraphAddMemcpyNode1D(&late, graph, nullptr, 0, first, a, 32, hipMemcpyDeviceToHost));
    show("node added later", hipGraphExecMemcpyNodeSetParams1D(exec, late, second, b, 32,
        hipMemcpyDeviceToHost));
    run(exec, nullptr);
    line("after errors: %d", second[0]);
    show("other direction", set(a, first, 32, hipMemcpyHostToDevice));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(foreign));
}
