// A captured copy of a box has the parameters of the node that the explicit call adds.
#include "captured.h"

static void describe(const std::string& label, hipGraphNode_t node, const hipMemcpy3DParms& given) {
    hipMemcpy3DParms params = {};
    hipError_t error = hipGraphMemcpyNodeGetParams(node, &params);
    show(label, error);
    if (error != hipSuccess) return;
    show("extent of " + label, params.extent.width == given.extent.width && params.extent.height == given.extent.height &&
                                   params.extent.depth == given.extent.depth);
    show("source of " + label, params.srcPtr.ptr == given.srcPtr.ptr && params.srcPtr.pitch == given.srcPtr.pitch);
    show("target of " + label, params.dstPtr.ptr == given.dstPtr.ptr && params.dstPtr.pitch == given.dstPtr.pitch);
    show("corner of " + label, static_cast<int>(params.dstPos.x * 100 + params.dstPos.y * 10 + params.dstPos.z));
    show("kind of " + label, static_cast<int>(params.kind));
}

int main() {
    char *from, *to;
    NEED(hipMalloc(reinterpret_cast<void**>(&from), 4096));
    NEED(hipMalloc(reinterpret_cast<void**>(&to), 4096));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    hipMemcpy3DParms params = {};
    params.srcPtr = make_hipPitchedPtr(from, 32, 32, 8);
    params.dstPtr = make_hipPitchedPtr(to, 64, 64, 8);
    params.dstPos = make_hipPos(4, 2, 1);
    params.extent = make_hipExtent(16, 4, 3);
    params.kind = hipMemcpyDeviceToDevice;
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    show("hipMemcpy3DAsync", hipMemcpy3DAsync(&params, stream));
    hipGraph_t captured, other;
    NEED(hipStreamEndCapture(stream, &captured));
    show("graph", shape_of(captured));
    describe("captured", nodes_of(captured).at(0), params);
    hipGraphNode_t node;
    NEED(hipGraphCreate(&other, 0));
    NEED(hipGraphAddMemcpyNode(&node, other, nullptr, 0, &params));
    describe("explicit", node, params);
    return 0;
}
