// Copies of two and three dimensions on a capturing stream: nodes and data.
#include "captured.h"

int main() {
    const size_t WIDTH = 24, HEIGHT = 5, DEPTH = 3, PITCH = 32;
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), PITCH * HEIGHT * DEPTH));
    NEED(hipMemset(data, 0, PITCH * HEIGHT * DEPTH));
    std::vector<char> from(WIDTH * HEIGHT * DEPTH), to(PITCH * HEIGHT * DEPTH);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7 + 1);
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&launch));
    hipGraph_t graph;

    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    show("2D",
         hipMemcpy2DAsync(data, PITCH, from.data(), WIDTH, WIDTH, HEIGHT, hipMemcpyHostToDevice, stream));
    // HIP: 5.2.3 records a copy without rows too, and then no launch of the graph works.
    NEED(hipStreamEndCapture(stream, &graph));
    show("2D, graph", shape_of(graph));
    run_once(graph, launch);
    NEED(hipGraphDestroy(graph));
    NEED(hipMemcpy(to.data(), data, to.size(), hipMemcpyDeviceToHost));
    show_sum("2D, data", to.data(), to.size());

    NEED(hipMemset(data, 0, PITCH * HEIGHT * DEPTH));
    hipMemcpy3DParms parms = {};
    parms.srcPtr = make_hipPitchedPtr(from.data(), WIDTH, WIDTH, HEIGHT);
    parms.dstPtr = make_hipPitchedPtr(data, PITCH, WIDTH, HEIGHT);
    parms.extent = make_hipExtent(WIDTH, HEIGHT, DEPTH);
    parms.kind = hipMemcpyHostToDevice;
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    show("3D", hipMemcpy3DAsync(&parms, stream));
    NEED(hipStreamEndCapture(stream, &graph));
    show("3D, graph", shape_of(graph));
    run_once(graph, launch);
    NEED(hipGraphDestroy(graph));
    NEED(hipMemcpy(to.data(), data, to.size(), hipMemcpyDeviceToHost));
    show_sum("3D, data", to.data(), to.size());
    show("3D null", hipMemcpy3DAsync(nullptr, stream));
    return 0;
}
