// A capturing stream that waits for an event from outside its capture.
// DIFFERS recorded on a stream: AMD takes a wait for work outside the capture for none, so an edge is lost;
//     HIP header, hipErrorStreamCaptureIsolation
#include "captured.h"

int main() {
    hipStream_t stream, outside;
    hipEvent_t event, fresh;
    void* data;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreateWithFlags(&outside, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    NEED(hipEventCreate(&fresh));
    NEED(hipMalloc(&data, 64));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        NEED(hipEventRecord(event, outside));
        NEED(hipStreamBeginCapture(stream, mode.value));
        show("recorded on a stream that does not capture, " + name, hipStreamWaitEvent(stream, event, 0));
        show("state, " + name, state_of(stream));
        show_end("recorded outside, " + name, stream);

        NEED(hipEventRecord(event, stream));
        NEED(hipStreamBeginCapture(stream, mode.value));
        show("recorded before the capture, " + name, hipStreamWaitEvent(stream, event, 0));
        show_end("recorded before, " + name, stream);

        NEED(hipStreamBeginCapture(stream, mode.value));
        show("never recorded, " + name, hipStreamWaitEvent(stream, fresh, 0));
        show("never recorded, state, " + name, state_of(stream));
        show_end("never recorded, " + name, stream);
    }
    return 0;
}
