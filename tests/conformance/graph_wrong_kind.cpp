// Getters and setters of one kind of node on a node of another kind.
// proves: hipGraphAddChildGraphNode, hipGraphAddEmptyNode, hipGraphAddHostNode, hipGraphAddMemcpyNode1D
// proves: hipGraphAddMemsetNode, hipGraphChildGraphNodeGetGraph, hipGraphEventRecordNodeGetEvent
// proves: hipGraphEventWaitNodeGetEvent
#include "graph.h"

int main() {
    hipGraph_t graph;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    int* device = device_memory<int>(16, 0);
    auto plain = empty(graph, "plain");
    auto call = host(trace, graph, "call");
    hipGraphNode_t fill, copy, inside;
    hipMemsetParams set = fill_params(device, 0, 16);
    NEED(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    NEED(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, device, device + 8, 32, hipMemcpyDeviceToDevice));
    hipGraph_t child;
    NEED(hipGraphCreate(&child, 0));
    NEED(hipGraphAddChildGraphNode(&inside, graph, nullptr, 0, child));
    struct {
        const char* name;
        hipGraphNode_t node;
    } nodes[] = {{"empty", plain}, {"host", call}, {"memset", fill}, {"memcpy", copy}, {"child", inside}};
    for (auto& [name, node] : nodes) {
        std::string of = std::string(" of a node: ") + name;
        hipEvent_t event;
        show(("event recorded" + of).c_str(), hipGraphEventRecordNodeGetEvent(node, &event));
        show(("event waited for" + of).c_str(), hipGraphEventWaitNodeGetEvent(node, &event));
        hipGraph_t found;
        // HIP: the other getters and setters of 5.2.3 take any node for one of their kind, or crash.
        if (node != inside) show(("graph inside" + of).c_str(), hipGraphChildGraphNodeGetGraph(node, &found));
    }
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(child));
}
