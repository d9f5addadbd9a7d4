// Forks of forks, joined innermost first.
#include "captured.h"

int main() {
    const int DEPTH = 4;
    hipStream_t streams[DEPTH + 1], launch;
    hipEvent_t forked[DEPTH], joined[DEPTH];
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    NEED(hipMemset(data, 0, 64));
    NEED(hipStreamCreate(&launch));
    for (hipStream_t& stream : streams) NEED(hipStreamCreate(&stream));
    for (int i = 0; i < DEPTH; ++i) {
        NEED(hipEventCreate(&forked[i]));
        NEED(hipEventCreate(&joined[i]));
    }
    NEED(hipStreamBeginCapture(streams[0], hipStreamCaptureModeGlobal));
    for (int i = 0; i < DEPTH; ++i) {
        NEED(hipMemsetAsync(data + i, i + 1, 1, streams[i]));
        NEED(hipEventRecord(forked[i], streams[i]));
        NEED(hipStreamWaitEvent(streams[i + 1], forked[i], 0));
        show("state of a deeper stream", state_of(streams[i + 1]));
    }
    NEED(hipMemsetAsync(data + DEPTH, DEPTH + 1, 1, streams[DEPTH]));
    for (int i = DEPTH; i > 0; --i) {
        NEED(hipEventRecord(joined[i - 1], streams[i]));
        NEED(hipStreamWaitEvent(streams[i - 1], joined[i - 1], 0));
        NEED(hipMemsetAsync(data + 16 + i, i, 1, streams[i - 1]));
    }
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(streams[0], &graph));
    show("graph", shape_of(graph));
    run_once(graph, launch);
    char host[64];
    NEED(hipMemcpy(host, data, 64, hipMemcpyDeviceToHost));
    for (int i = 0; i <= DEPTH; ++i) show("on the way down", static_cast<int>(host[i]));
    for (int i = DEPTH; i > 0; --i) show("on the way up", static_cast<int>(host[16 + i]));
    return 0;
}
