// hipGraphExecUpdate with other kernels and arguments.
// proves: hipGraphAddKernelNode, hipGraphExecUpdate
#include "kernels.h"

int main() {
    const int count = 64;
    int* a = device_memory<int>(count, 1);
    int* b = device_memory<int>(count, 1);
    auto make = [&](int* data, int by, bool product) {
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        auto first = kernel(graph, {}, add, count, data, by);
        names().add("first", first);
        names().add("second", kernel(graph, {first}, product ? multiply : add, count, data, by));
        return graph;
    };
    hipGraphExec_t exec = instantiate(make(a, 2, true));
    show_update("other arguments", exec, make(b, 3, true));
    run(exec, nullptr);
    line("ran: %d %d", contents(a, 1)[0], contents(b, 1)[0]);
    show_update("another kernel", exec, make(a, 5, false));
    run(exec, nullptr);
    line("ran: %d %d", contents(a, 1)[0], contents(b, 1)[0]);
    for (int by = 1; by <= 10; ++by) {
        hipGraph_t graph = make(b, by, false);
        hipGraphNode_t node;
        hipGraphExecUpdateResult result;
        NEED(hipGraphExecUpdate(exec, graph, &node, &result));
        NEED(hipGraphLaunch(exec, nullptr));
        NEED(hipGraphDestroy(graph));
    }
    NEED(hipDeviceSynchronize());
    line("ten updates with launches in flight: %d", contents(b, 1)[0]);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
