// hipGraphNodeGetType of every kind of node that needs no kernel.
// DIFFERS number of an empty node: releases up to 5.2 count kinds from 1, later ones of the same library
//     name from 0; hipGraphNodeType of the 7.1 header (hip_runtime_api.h of HIP 7.1)
// DIFFERS memcpy 1D: 5.2.3 has a kind of its own for it, which later headers do not have;
//     hipGraphNodeType of the 7.1 header (hip_runtime_api.h of HIP 7.1)
// proves: hipGraphAddChildGraphNode, hipGraphAddEmptyNode, hipGraphAddEventRecordNode
// proves: hipGraphAddEventWaitNode, hipGraphAddMemcpyNode, hipGraphAddMemcpyNode1D, hipGraphAddMemsetNode
// proves: hipGraphNodeGetType
#include "graph.h"

int main() {
    hipGraph_t graph, child;
    hipEvent_t event;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    NEED(hipEventCreate(&event));
    int* a = device_memory(64, 1);
    int* b = device_memory(64, 2);
    hipGraphNode_t node;
    hipGraphNodeType type;

    node = empty(graph, "empty");
    show("empty", kind_of(node));
    NEED(hipGraphNodeGetType(node, &type));
    show("number of an empty node", static_cast<int>(type));
    show("host", kind_of(host(trace, graph, "host")));
    hipMemsetParams set = fill_params(a, 0, 64);
    NEED(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
    show("memset", kind_of(node));
    NEED(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, b, a, 64, hipMemcpyDeviceToDevice));
    show("memcpy 1D", kind_of(node));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(a, 64, 64, 1);
    copy.dstPtr = make_hipPitchedPtr(b, 64, 64, 1);
    copy.extent = make_hipExtent(64, 1, 1);
    copy.kind = hipMemcpyDeviceToDevice;
    NEED(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
    show("memcpy", kind_of(node));
    NEED(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    show("child graph", kind_of(node));
    NEED(hipGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
    show("event record", kind_of(node));
    NEED(hipGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
    show("event wait", kind_of(node));
    show("null node", hipGraphNodeGetType(nullptr, &type));
    show("no place for the kind", hipGraphNodeGetType(node, nullptr));
    NEED(hipGraphDestroy(graph));
}
