// A stream that captures cannot begin another capture; the first one goes on.
#include "captured.h"

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    void* data;
    NEED(hipMalloc(&data, 64));
    for (const CaptureMode& outer : CAPTURE_MODES) {
        for (const CaptureMode& inner : CAPTURE_MODES) {
            std::string name = std::string(outer.name) + " then " + inner.name;
            NEED(hipStreamBeginCapture(stream, outer.value));
            show("second begin, " + name, hipStreamBeginCapture(stream, inner.value));
            show("state, " + name, state_of(stream));
            show("memset, " + name, hipMemsetAsync(data, 1, 64, stream));
            show_end(name, stream);
        }
    }
    // Nor does a stream that an event has brought into a capture.
    Fork fork;
    NEED(hipStreamBeginCapture(fork.origin, hipStreamCaptureModeRelaxed));
    fork.fork();
    show("forked stream, begin", hipStreamBeginCapture(fork.other, hipStreamCaptureModeRelaxed));
    show("forked stream, state", state_of(fork.other));
    fork.join();
    show_end("fork", fork.origin);
    NEED(hipFree(data));
    return 0;
}
