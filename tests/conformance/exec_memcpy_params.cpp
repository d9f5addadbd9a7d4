// hipGraphExecMemcpyNodeSetParams: what may change of a box copy in an executable.
// DIFFERS other direction: 5.2.3 lets the direction change; it must stay (HIP 7 documentation of
//     hipGraphExecMemcpyNodeSetParams)
// proves: hipGraphAddMemcpyNode, hipGraphExecMemcpyNodeSetParams, hipGraphMemcpyNodeGetParams
#include "graph.h"

int main() {
    hipGraph_t graph, foreign;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&foreign, 0));
    int* a = device_memory<int>(16, 1);
    int* b = device_memory<int>(16, 2);
    int first[16] = {}, second[16] = {};
    hipMemcpy3DParms params = {};
    params.srcPtr = make_hipPitchedPtr(a, 64, 64, 1);
    params.dstPtr = make_hipPitchedPtr(first, 64, 64, 1);
    params.extent = make_hipExtent(64, 1, 1);
    params.kind = hipMemcpyDeviceToHost;
    hipGraphNode_t node, other;
    NEED(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    NEED(hipGraphAddMemcpyNode(&other, foreign, nullptr, 0, &params));
    hipGraphExec_t exec = instantiate(graph);
    hipMemcpy3DParms changed = params;
    changed.srcPtr.ptr = b;
    changed.dstPtr.ptr = second;
    show("other operands", hipGraphExecMemcpyNodeSetParams(exec, node, &changed));
    run(exec, nullptr);
    line("copied: %d %d", first[0], second[15]);
    changed.extent.width = 32;
    show("fewer bytes", hipGraphExecMemcpyNodeSetParams(exec, node, &changed));
    second[15] = 0;
    run(exec, nullptr);
    line("copied fewer: %d %d", second[7], second[15]);
    hipMemcpy3DParms got;
    NEED(hipGraphMemcpyNodeGetParams(node, &got));
    show("the node of the graph keeps its source", got.srcPtr.ptr == a);
    hipMemcpy3DParms bad = params;
    bad.srcPtr.ptr = first;
    bad.dstPtr.ptr = a;
    bad.kind = hipMemcpyHostToDevice;
    show("other direction", hipGraphExecMemcpyNodeSetParams(exec, node, &bad));
    bad = params;
    bad.srcPtr.ptr = nullptr;
    show("no source", hipGraphExecMemcpyNodeSetParams(exec, node, &bad));
    bad = params;
    bad.dstPtr.ptr = nullptr;
    show("no destination", hipGraphExecMemcpyNodeSetParams(exec, node, &bad));
    show("null executable", hipGraphExecMemcpyNodeSetParams(nullptr, node, &params));
    show("null node", hipGraphExecMemcpyNodeSetParams(exec, nullptr, &params));
    show("null parameters", hipGraphExecMemcpyNodeSetParams(exec, node, nullptr));
    show("node of another graph", hipGraphExecMemcpyNodeSetParams(exec, other, &params));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(foreign));
}
