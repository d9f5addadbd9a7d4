// What hipGraphAddMemcpyNode1D refuses.
// proves: hipGraphAddMemcpyNode1D
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    int* device = device_memory<int>(16, 0);
    int value[16] = {};
    hipGraphNode_t node;
    auto add = [&](void* dst, const void* src, size_t bytes, int kind) {
        return hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, dst, src, bytes,
            static_cast<hipMemcpyKind>(kind));
    };
    show("no place for the node", hipGraphAddMemcpyNode1D(nullptr, graph, nullptr, 0, device, value, 4,
        hipMemcpyHostToDevice));
    show("null graph", hipGraphAddMemcpyNode1D(&node, nullptr, nullptr, 0, device, value, 4,
        hipMemcpyHostToDevice));
    show("count of dependencies alone", hipGraphAddMemcpyNode1D(&node, graph, nullptr, 1, device, value, 4,
        hipMemcpyHostToDevice));
    show("null destination", add(nullptr, value, 4, hipMemcpyHostToDevice));
    show("null source", add(device, nullptr, 4, hipMemcpyHostToDevice));
    show("longer than the destination", add(device, value, 1 << 24, hipMemcpyHostToDevice));
    show("longer than the source", add(value, device, 1 << 24, hipMemcpyDeviceToHost));
    show("direction 5", add(device, value, 4, 5));
    show("direction -1", add(device, value, 4, -1));
    show("no bytes", add(device, value, 0, hipMemcpyHostToDevice));
    show("default direction", add(device, value, 4, hipMemcpyDefault));
    show("host to host", add(value, value + 8, 4, hipMemcpyHostToHost));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(device));
}
