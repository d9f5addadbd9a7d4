// The same stream and the same events in one capture after the other.
#include "captured.h"

int main() {
    void* data;
    NEED(hipMalloc(&data, 64));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    for (int i = 0; i < 4; ++i) {
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        for (int j = 0; j <= i; ++j) NEED(hipMemsetAsync(data, j, 64, stream));
        show_end("capture " + std::to_string(i), stream);
        show("eager work after " + std::to_string(i), hipMemsetAsync(data, 9, 64, stream));
        show("synchronise after " + std::to_string(i), hipStreamSynchronize(stream));
        show("query after " + std::to_string(i), hipStreamQuery(stream));
    }
    // The events of a capture work outside it once they are recorded there.
    hipEvent_t event;
    NEED(hipEventCreate(&event));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipEventRecord(event, stream));
    show_end("capture with an event", stream);
    show("record outside", hipEventRecord(event, stream));
    show("synchronise outside", hipEventSynchronize(event));
    show("query outside", hipEventQuery(event));
    show("wait outside", hipStreamWaitEvent(stream, event, 0));
    show("state after that", state_of(stream));
    return 0;
}
