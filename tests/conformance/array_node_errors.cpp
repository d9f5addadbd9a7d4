// Copy nodes with arrays: boxes that leave an array, ends that are two things or none.
// DIFFERS add, too: 5.2.3 checks boxes only when parameters are set; CUDA Runtime API, cudaGraphAddMemcpyNode
// DIFFERS add, elements: as for boxes; CUDA Runtime API, cudaMemcpy3D
#include "array.h"

static float host[4096];

int main() {
    hipArray *a = cube(), *bytes = nullptr;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t node, added;
    hipMemcpy3DParms good{};
    good.srcPtr = make_hipPitchedPtr(host, 128, 16, 16);
    good.dstArray = a;
    good.extent = make_hipExtent(8, 4, 2);
    good.kind = hipMemcpyHostToDevice;
    NEED(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &good));
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    auto see = [&](const char* label, hipMemcpy3DParms p) {
        line("add, %s: %s", label, observe::name_of(hipGraphAddMemcpyNode(&added, graph, nullptr, 0, &p)).c_str());
        line("set, %s: %s", label, observe::name_of(hipGraphMemcpyNodeSetParams(node, &p)).c_str());
        line("exec, %s: %s", label, observe::name_of(hipGraphExecMemcpyNodeSetParams(exec, node, &p)).c_str());
    };
    auto with = [&](size_t x, size_t y, size_t z, size_t width, size_t height, size_t depth) {
        hipMemcpy3DParms p = good;
        p.dstPos = make_hipPos(x, y, z);
        p.extent = make_hipExtent(width, height, depth);
        return p;
    };
    see("too wide", with(0, 0, 0, 17, 8, 4));
    see("too high", with(0, 0, 0, 16, 9, 4));
    see("too deep", with(0, 0, 0, 16, 8, 5));
    see("too far right", with(9, 0, 0, 8, 4, 2));
    see("too far down", with(0, 5, 0, 8, 4, 2));
    see("too far back", with(0, 0, 3, 8, 4, 2));
    hipMemcpy3DParms p = good;
    p.dstPtr = make_hipPitchedPtr(host, 64, 16, 8);
    see("two targets", p);
    p = good;
    p.dstArray = nullptr;
    see("no target", p);
    p = good;
    p.srcPtr.ptr = nullptr;
    see("no source", p);
    const hipChannelFormatDesc byte = {8, 0, 0, 0, hipChannelFormatKindSigned};
    NEED(hipMalloc3DArray(&bytes, &byte, make_hipExtent(16, 8, 4), hipArrayDefault));
    p = hipMemcpy3DParms{};
    p.srcArray = bytes;
    p.dstArray = a;
    p.extent = make_hipExtent(8, 4, 2);
    p.kind = hipMemcpyDeviceToDevice;
    see("elements of other sizes", p);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFreeArray(a));
    NEED(hipFreeArray(bytes));
}
