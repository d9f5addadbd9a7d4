// Forks of forks, joined innermost first.
// DIFFERS state of a deeper stream afterwards: 5.2.3 leaves forked streams in the capture; CUDA Programming Guide,
//     stream capture
#include "captured.h"

int main() {
    const int DEPTH = 4;
    hipStream_t streams[DEPTH + 1];
    hipEvent_t forked[DEPTH], joined[DEPTH];
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
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
    // 5.2.3 crashes when such a graph runs.
    for (int i = 1; i <= DEPTH; ++i) show("state of a deeper stream afterwards", state_of(streams[i]));
    return 0;
}
