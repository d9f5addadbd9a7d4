// Two captures cannot be merged by an event.
// DIFFERS wait in the other capture: AMD merges nothing and says nothing, so an edge is lost; HIP header,
//     hipErrorStreamCaptureMerge
#include "captured.h"

int main() {
    hipStream_t a, b;
    hipEvent_t event;
    void* data;
    NEED(hipStreamCreate(&a));
    NEED(hipStreamCreate(&b));
    NEED(hipEventCreate(&event));
    NEED(hipMalloc(&data, 64));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        NEED(hipStreamBeginCapture(a, mode.value));
        NEED(hipStreamBeginCapture(b, mode.value));
        NEED(hipMemsetAsync(data, 1, 64, a));
        NEED(hipMemsetAsync(data, 2, 64, b));
        NEED(hipEventRecord(event, a));
        show("wait in the other capture, " + name, hipStreamWaitEvent(b, event, 0));
        show("state of the first, " + name, state_of(a));
        show("state of the second, " + name, state_of(b));
        show_end("first, " + name, a);
        show_end("second, " + name, b);
    }
    return 0;
}
