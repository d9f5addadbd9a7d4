// Nodes of every kind behind two others: edges, and order in a launch.
// proves: hipGraphAddChildGraphNode, hipGraphAddEmptyNode, hipGraphAddEventRecordNode
// proves: hipGraphAddEventWaitNode, hipGraphAddHostNode, hipGraphAddKernelNode, hipGraphAddMemcpyNode
// proves: hipGraphAddMemcpyNode1D, hipGraphAddMemcpyNodeFromSymbol, hipGraphAddMemcpyNodeToSymbol
// proves: hipGraphAddMemsetNode, hipGraphGetRootNodes, hipGraphNodeGetDependencies
#include "kernels.h"

__device__ int symbol[64];

int main() {
    const int count = 64;
    const size_t bytes = count * sizeof(int);
    int* data = device_memory<int>(count, 1);
    int* other = device_memory<int>(count, 1);
    std::vector<int> from_symbol(count, 0);
    hipEvent_t event;
    NEED(hipEventCreate(&event));
    hipGraph_t graph, child;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    kernel(child, {}, add, count, other, 5);
    hipGraphNode_t last[2] = {empty(graph, "first"), empty(graph, "second")}, node = nullptr;
    auto next = [&](const char* name, hipError_t added) {
        show(name, added);
        names().add(name, node);
        show_dependencies((std::string(name) + " is behind").c_str(), node);
        last[0] = last[1];
        last[1] = node;
    };
    hipMemsetParams set = fill_params(data, 3, count);
    next("memset", hipGraphAddMemsetNode(&node, graph, last, 2, &set));
    Launch<int*, int, int> product(multiply, dim3(1), dim3(64), data, 4, count);
    next("kernel", hipGraphAddKernelNode(&node, graph, last, 2, &product.params));
    next("memcpy1D", hipGraphAddMemcpyNode1D(&node, graph, last, 2, other, data, bytes,
        hipMemcpyDeviceToDevice));
    next("child", hipGraphAddChildGraphNode(&node, graph, last, 2, child));
    next("record", hipGraphAddEventRecordNode(&node, graph, last, 2, event));
    next("wait", hipGraphAddEventWaitNode(&node, graph, last, 2, event));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(other, bytes, bytes, 1);
    copy.dstPtr = make_hipPitchedPtr(data, bytes, bytes, 1);
    copy.extent = make_hipExtent(bytes, 1, 1);
    copy.kind = hipMemcpyDeviceToDevice;
    next("memcpy", hipGraphAddMemcpyNode(&node, graph, last, 2, &copy));
    int seen = 0;
    hipHostNodeParams call = {[](void* to) { *static_cast<int*>(to) += 1; }, &seen};
    next("host", hipGraphAddHostNode(&node, graph, last, 2, &call));
    next("to symbol", hipGraphAddMemcpyNodeToSymbol(&node, graph, last, 2, HIP_SYMBOL(symbol), data, bytes, 0,
        hipMemcpyDeviceToDevice));
    next("from symbol", hipGraphAddMemcpyNodeFromSymbol(&node, graph, last, 2, from_symbol.data(),
        HIP_SYMBOL(symbol), bytes, 0, hipMemcpyDeviceToHost));
    next("empty", hipGraphAddEmptyNode(&node, graph, last, 2));
    show("nodes", node_count(graph));
    show("edges", edge_count(graph));
    show_roots("roots", graph);
    hipGraphExec_t exec = instantiate(graph);
    for (int i = 1; i <= 2; ++i) {
        run(exec, nullptr);
        show_all("3 * 4 + 5 through a symbol", from_symbol.data(), from_symbol.size(), 17);
        show("calls of the host node", seen);
    }
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(child));
}
