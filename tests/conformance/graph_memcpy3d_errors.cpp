// What hipGraphAddMemcpyNode refuses.
// DIFFERS source pitch below the width: 5.2.3 does not check; hipErrorInvalidPitchValue (HIP 7
//     documentation of hipGraphAddMemcpyNode)
// DIFFERS destination pitch below the width: 5.2.3 does not check; hipErrorInvalidPitchValue (HIP 7
//     documentation of hipGraphAddMemcpyNode)
// DIFFERS direction 5: 5.2.3 takes any number for a direction; hipErrorInvalidMemcpyDirection (HIP 7
//     documentation of hipGraphAddMemcpyNode)
// DIFFERS source offset beyond the pitch: 5.2.3 does not check; hipErrorInvalidValue (HIP 7 documentation
//     of hipGraphAddMemcpyNode)
// proves: hipGraphAddMemcpyNode
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipPitchedPtr device;
    NEED(hipMalloc3D(&device, make_hipExtent(32, 4, 2)));
    std::vector<char> host(32 * 4 * 2);
    hipMemcpy3DParms good = {};
    good.srcPtr = make_hipPitchedPtr(host.data(), 32, 32, 4);
    good.dstPtr = device;
    good.extent = make_hipExtent(32, 4, 2);
    good.kind = hipMemcpyHostToDevice;
    hipGraphNode_t node;
    auto attempt = [&](const char* label, hipMemcpy3DParms params) {
        show(label, hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    };
    attempt("good", good);
    show("no place for the node", hipGraphAddMemcpyNode(nullptr, graph, nullptr, 0, &good));
    show("null graph", hipGraphAddMemcpyNode(&node, nullptr, nullptr, 0, &good));
    show("null parameters", hipGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr));
    show("count of dependencies alone", hipGraphAddMemcpyNode(&node, graph, nullptr, 1, &good));
    hipMemcpy3DParms bad = good;
    bad.srcPtr.ptr = nullptr;
    attempt("null source", bad);
    bad = good;
    bad.dstPtr.ptr = nullptr;
    attempt("null destination", bad);
    attempt("all zero", hipMemcpy3DParms{});
    bad = good;
    bad.srcPtr.pitch = 16;
    attempt("source pitch below the width", bad);
    bad = good;
    bad.dstPtr.pitch = 16;
    attempt("destination pitch below the width", bad);
    bad = good;
    bad.kind = static_cast<hipMemcpyKind>(5);
    attempt("direction 5", bad);
    bad = good;
    bad.srcPos.x = 8;
    attempt("source offset beyond the pitch", bad);
    bad = good;
    bad.extent = make_hipExtent(0, 0, 0);
    attempt("no extent", bad);
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(device.ptr));
}
