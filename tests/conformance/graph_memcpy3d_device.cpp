// hipGraphAddMemcpyNode between two pitched allocations of the device.
// proves: hipGraphAddMemcpyNode
#include "graph.h"

int main() {
    const size_t width = 24, height = 6, depth = 3;
    std::vector<unsigned char> source(width * height * depth), back(source.size());
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i + 1);
    hipPitchedPtr a, b;
    NEED(hipMalloc3D(&a, make_hipExtent(width, height, depth)));
    NEED(hipMalloc3D(&b, make_hipExtent(width, height, depth)));
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t up, across, down;
    hipMemcpy3DParms copy = {};
    copy.extent = make_hipExtent(width, height, depth);
    copy.srcPtr = make_hipPitchedPtr(source.data(), width, width, height);
    copy.dstPtr = a;
    copy.kind = hipMemcpyHostToDevice;
    show("up", hipGraphAddMemcpyNode(&up, graph, nullptr, 0, &copy));
    copy.srcPtr = a;
    copy.dstPtr = b;
    copy.kind = hipMemcpyDeviceToDevice;
    show("across", hipGraphAddMemcpyNode(&across, graph, &up, 1, &copy));
    copy.srcPtr = b;
    copy.dstPtr = make_hipPitchedPtr(back.data(), width, width, height);
    copy.kind = hipMemcpyDeviceToHost;
    show("down", hipGraphAddMemcpyNode(&down, graph, &across, 1, &copy));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    show("round trip", back == source);
    for (auto& byte : source) byte = static_cast<unsigned char>(~byte);
    run(exec, nullptr);
    show("round trip of other data", back == source);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(a.ptr));
    NEED(hipFree(b.ptr));
}
