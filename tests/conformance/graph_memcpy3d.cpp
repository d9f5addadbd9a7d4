// hipGraphAddMemcpyNode: rows and boxes at offsets, with pitches of their own.
// proves: hipGraphAddMemcpyNode
#include "graph.h"

static void add_and_run(const char* label, hipMemcpy3DParms params) {
    hipGraph_t graph;
    hipGraphNode_t node;
    NEED(hipGraphCreate(&graph, 0));
    hipError_t added = hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &params);
    show(label, added);
    if (added == hipSuccess) {
        hipGraphExec_t exec = instantiate(graph);
        run(exec, nullptr);
        NEED(hipGraphExecDestroy(exec));
    }
    NEED(hipGraphDestroy(graph));
}

int main() {
    const size_t width = 32, height = 8, depth = 4;
    std::vector<unsigned char> source(width * height * depth);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 7 + i / 251);
    hipPitchedPtr device;
    NEED(hipMalloc3D(&device, make_hipExtent(width, height, depth)));
    std::vector<unsigned char> back(source.size(), 0);

    hipMemcpy3DParms up = {};
    up.srcPtr = make_hipPitchedPtr(source.data(), width, width, height);
    up.dstPtr = device;
    up.extent = make_hipExtent(width, height, depth);
    up.kind = hipMemcpyHostToDevice;
    add_and_run("whole box to the device", up);
    hipMemcpy3DParms down = {};
    down.srcPtr = device;
    down.dstPtr = make_hipPitchedPtr(back.data(), width, width, height);
    down.extent = make_hipExtent(width, height, depth);
    down.kind = hipMemcpyDeviceToHost;
    add_and_run("whole box back", down);
    show("round trip", back == source);

    std::fill(back.begin(), back.end(), 0);
    down.srcPos = make_hipPos(4, 2, 1);
    down.dstPos = make_hipPos(8, 3, 2);
    down.extent = make_hipExtent(16, 4, 2);
    add_and_run("a box inside", down);
    size_t wrong = 0, written = 0;
    for (size_t z = 0; z < depth; ++z) {
        for (size_t y = 0; y < height; ++y) {
            for (size_t x = 0; x < width; ++x) {
                bool inside = x >= 8 && x < 24 && y >= 3 && y < 7 && z >= 2 && z < 4;
                unsigned char expected = inside ? source[((z - 1) * height + y - 1) * width + x - 4] : 0;
                wrong += back[(z * height + y) * width + x] != expected;
                written += inside;
            }
        }
    }
    show("bytes inside", written);
    show("bytes wrong", wrong);

    std::fill(back.begin(), back.end(), 0);
    hipMemcpy3DParms rows = {};
    rows.srcPtr = device;
    rows.dstPtr = make_hipPitchedPtr(back.data(), 16, 16, 8);
    rows.extent = make_hipExtent(16, 8, 1);
    rows.kind = hipMemcpyDeviceToHost;
    add_and_run("rows to a smaller pitch", rows);
    wrong = 0;
    for (size_t y = 0; y < 8; ++y) wrong += std::memcmp(&back[y * 16], &source[y * width], 16) != 0;
    show("rows wrong", wrong);
    NEED(hipFree(device.ptr));
}
