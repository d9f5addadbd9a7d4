// hipGraphMemcpyNodeGetParams and SetParams.
// DIFFERS set with a short pitch: 5.2.3 has the general code for it; hipErrorInvalidPitchValue (HIP 7
//     documentation of hipGraphMemcpyNodeSetParams)
// proves: hipGraphAddMemcpyNode, hipGraphMemcpyNodeGetParams, hipGraphMemcpyNodeSetParams
#include "graph.h"

static void print(const char* label, const hipMemcpy3DParms& p, const void* src, const void* dst) {
    line("%s: source %d pitch %zu x %zu y %zu at %zu %zu %zu, destination %d pitch %zu x %zu y %zu "
         "at %zu %zu %zu, extent %zu %zu %zu, kind %d",
         label, p.srcPtr.ptr == src, p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize, p.srcPos.x, p.srcPos.y,
         p.srcPos.z, p.dstPtr.ptr == dst, p.dstPtr.pitch, p.dstPtr.xsize, p.dstPtr.ysize, p.dstPos.x,
         p.dstPos.y, p.dstPos.z, p.extent.width, p.extent.height, p.extent.depth, p.kind);
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    int* device = device_memory<int>(256, 3);
    std::vector<int> host(256, 4);
    hipMemcpy3DParms params = {}, got = {};
    params.srcPtr = make_hipPitchedPtr(host.data(), 64, 60, 8);
    params.srcPos = make_hipPos(4, 1, 0);
    params.dstPtr = make_hipPitchedPtr(device, 128, 100, 4);
    params.dstPos = make_hipPos(8, 2, 1);
    params.extent = make_hipExtent(16, 2, 1);
    params.kind = hipMemcpyHostToDevice;
    hipGraphNode_t node;
    show("add", hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    show("get", hipGraphMemcpyNodeGetParams(node, &got));
    print("as given", got, host.data(), device);
    hipMemcpy3DParms other = {};
    other.srcPtr = make_hipPitchedPtr(device, 64, 64, 4);
    other.dstPtr = make_hipPitchedPtr(host.data(), 64, 64, 4);
    other.extent = make_hipExtent(64, 4, 1);
    other.kind = hipMemcpyDeviceToHost;
    show("set the other direction", hipGraphMemcpyNodeSetParams(node, &other));
    NEED(hipGraphMemcpyNodeGetParams(node, &got));
    print("as set", got, device, host.data());
    run(instantiate(graph), nullptr);
    line("copied: %d %d", host[0], host[64]);
    show("get without a place", hipGraphMemcpyNodeGetParams(node, nullptr));
    show("get of null", hipGraphMemcpyNodeGetParams(nullptr, &got));
    show("set on null", hipGraphMemcpyNodeSetParams(nullptr, &other));
    show("set null", hipGraphMemcpyNodeSetParams(node, nullptr));
    hipMemcpy3DParms bad = other;
    bad.srcPtr.ptr = nullptr;
    show("set without a source", hipGraphMemcpyNodeSetParams(node, &bad));
    bad = other;
    bad.dstPtr.ptr = nullptr;
    show("set without a destination", hipGraphMemcpyNodeSetParams(node, &bad));
    bad = other;
    bad.srcPtr.pitch = 8;
    show("set with a short pitch", hipGraphMemcpyNodeSetParams(node, &bad));
    NEED(hipGraphMemcpyNodeGetParams(node, &got));
    print("unchanged by errors", got, device, host.data());
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(device));
}
