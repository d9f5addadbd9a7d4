// Events that were recorded in a capture, used after its end.
#include "captured.h"

int main() {
    void* data;
    float milliseconds = -1;
    NEED(hipMalloc(&data, 64));
    hipStream_t stream, other;
    hipEvent_t event, second;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&other));
    NEED(hipEventCreate(&event));
    NEED(hipEventCreate(&second));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipEventRecord(event, stream));
    NEED(hipMemsetAsync(data, 1, 64, stream));
    NEED(hipEventRecord(second, stream));
    hipGraph_t graph;
    NEED(hipStreamEndCapture(stream, &graph));
    show("query", hipEventQuery(event));
    show("synchronise", hipEventSynchronize(event));
    show("elapsed time", hipEventElapsedTime(&milliseconds, event, second));
    show("wait", hipStreamWaitEvent(other, event, 0));
    show("state of the stream that waited", state_of(other));
    return 0;
}
