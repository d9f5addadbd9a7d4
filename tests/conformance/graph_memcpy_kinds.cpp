// Copy nodes in every direction, and with the direction left to the addresses.
// proves: hipGraphAddMemcpyNode1D
#include "graph.h"

static int result(void* dst, const void* src, hipMemcpyKind kind, int* read_host, const int* read_device) {
    hipGraph_t graph;
    hipGraphNode_t node;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, dst, src, 16, kind));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    return read_host ? read_host[3] : contents(read_device, 4)[3];
}

int main() {
    int* device = device_memory<int>(4, 0);
    int* other = device_memory<int>(4, 0);
    int host[4] = {1, 2, 3, 4}, back[4] = {};
    int* pinned = nullptr;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 16, 0));
    show("host to device", result(device, host, hipMemcpyHostToDevice, nullptr, device));
    show("device to device", result(other, device, hipMemcpyDeviceToDevice, nullptr, other));
    show("device to host", result(back, other, hipMemcpyDeviceToHost, back, nullptr));
    // HIP: 5.2.3 fails to launch a copy between two places of pageable host memory (hipErrorOutOfMemory).
    host[3] = 6;
    show("host to device by default", result(device, host, hipMemcpyDefault, nullptr, device));
    show("device to device by default", result(other, device, hipMemcpyDefault, nullptr, other));
    show("device to host by default", result(back, other, hipMemcpyDefault, back, nullptr));
    show("device to pinned by default", result(pinned, other, hipMemcpyDefault, pinned, nullptr));
    pinned[3] = 7;
    show("pinned to device by default", result(device, pinned, hipMemcpyDefault, nullptr, device));
    pinned[3] = 8;
    show("pinned to device", result(device, pinned, hipMemcpyHostToDevice, nullptr, device));
    show("device to pinned", result(pinned, device, hipMemcpyDeviceToHost, pinned, nullptr));
    NEED(hipHostFree(pinned));
    NEED(hipFree(device));
    NEED(hipFree(other));
}
