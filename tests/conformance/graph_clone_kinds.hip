// A clone of a graph with nodes of many kinds does what the original does, on its own.
// proves: hipGraphAddChildGraphNode, hipGraphAddEventRecordNode, hipGraphAddKernelNode
// proves: hipGraphAddMemcpyNode1D, hipGraphClone, hipGraphKernelNodeSetParams, hipGraphNodeGetType
#include "kernels.h"

int main() {
    const int count = 128;
    int* data = device_memory<int>(count, 0);
    std::vector<int> back(count, 0), start(count, 2);
    hipEvent_t event;
    NEED(hipEventCreate(&event));
    Trace trace;
    hipGraph_t graph, child, clone;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    kernel(child, {}, add, count, data, 1);
    hipGraphNode_t up, inside, record, down;
    const size_t bytes = count * sizeof(int);
    NEED(hipGraphAddMemcpyNode1D(&up, graph, nullptr, 0, data, start.data(), bytes, hipMemcpyHostToDevice));
    auto scaled = kernel(graph, {up}, multiply, count, data, 7);
    NEED(hipGraphAddChildGraphNode(&inside, graph, &scaled, 1, child));
    NEED(hipGraphAddEventRecordNode(&record, graph, &inside, 1, event));
    NEED(hipGraphAddMemcpyNode1D(&down, graph, &record, 1, back.data(), data, bytes, hipMemcpyDeviceToHost));
    host(trace, graph, "end", {down});
    NEED(hipGraphClone(&clone, graph));
    show("nodes of the clone", node_count(clone));
    show("edges of the clone", edge_count(clone));
    for (auto node : nodes_of(clone)) {
        // Releases differ in the kind of a one-dimensional copy, see graph_node_types.cpp.
        std::string kind = kind_of(node);
        show("kind", kind == "memcpy" || kind == "another kind" ? std::string("copy") : kind);
    }

    Launch<int*, int, int> other(multiply, dim3(2), dim3(64), data, 0, count);
    NEED(hipGraphKernelNodeSetParams(scaled, &other.params));
    hipGraphExec_t exec = instantiate(clone);
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(child));
    NEED(hipGraphDestroy(clone));
    run(exec, nullptr);
    show_all("2 * 7 + 1", back.data(), count, 15);
    trace.show_order("host node");
    show("event", hipEventQuery(event));
    float time = -1;
    show("the event was recorded", hipEventElapsedTime(&time, event, event));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipEventDestroy(event));
    NEED(hipFree(data));
}
