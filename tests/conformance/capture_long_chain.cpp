// A long capture is a chain, and runs in order.
#include "captured.h"

int main() {
    hipStream_t stream, launch;
    char* data;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&launch));
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 1024));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    // Each fill leaves one byte of the one before.
    for (int i = 0; i < 500; ++i) NEED(hipMemsetAsync(data + i, i % 100, static_cast<size_t>(1000 - i), stream));
    hipGraph_t graph;
    show("end", hipStreamEndCapture(stream, &graph));
    show("graph", shape_of(graph));
    run_once(graph, launch);
    char host[1000];
    NEED(hipMemcpy(host, data, 1000, hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < 500; ++i) wrong += host[i] != i % 100;
    show("bytes of the chain that are wrong", wrong);
    show_all("the rest", host + 500, 500, static_cast<char>(99));
    return 0;
}
