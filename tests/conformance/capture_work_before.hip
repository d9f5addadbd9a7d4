// Work that was put on a stream before the capture runs at once and is no part of the graph.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t stream, other;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    set_slowly<<<1, 64, 0, stream>>>(data, 5, 500);
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    multiply<<<1, 64, 0, stream>>>(data, 3);
    hipGraph_t graph;
    NEED(hipStreamEndCapture(stream, &graph));
    show("graph", shape_of(graph));
    NEED(hipStreamSynchronize(stream));
    int host[64];
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("before the launch", host, 64, 5);
    run_once(graph, other);
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("after the launch", host, 64, 15);
    return 0;
}
