// Copies of arrays in a capture become copy nodes; nothing is copied.
#include "array.h"

static float host[4096];

static void nodes_of(hipGraph_t graph) {
    hipGraphNode_t nodes[8] = {};
    size_t count = 8;
    show("nodes", hipGraphGetNodes(graph, nodes, &count));
    show("how many", count);
    hipMemcpy3DParms p{};
    show("parameters", hipGraphMemcpyNodeGetParams(nodes[0], &p));
    line("target: %s at %zu %zu %zu", p.dstArray ? "an array" : "memory", p.dstPos.x, p.dstPos.y, p.dstPos.z);
    line("extent: %zu %zu %zu", p.extent.width, p.extent.height, p.extent.depth);
}

int main() {
    hipArray* a = cube();
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    hipMemcpy3DParms p{};
    p.srcPtr = make_hipPitchedPtr(host, 64, 16, 8);
    p.dstArray = a;
    p.dstPos = make_hipPos(1, 2, 1);
    p.extent = make_hipExtent(8, 4, 2);
    p.kind = hipMemcpyHostToDevice;
    show("box", hipMemcpy3DAsync(&p, stream));
    hipGraph_t graph;
    show("end", hipStreamEndCapture(stream, &graph));
    nodes_of(graph);
    NEED(hipGraphDestroy(graph));
    NEED(hipStreamDestroy(stream));
    NEED(hipFreeArray(a));
}
