// Events may be destroyed as soon as the wait for them has been captured.
#include "captured.h"

int main() {
    void* data;
    NEED(hipMalloc(&data, 64));
    Fork s;
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 1, 64, s.origin));
    s.fork();
    show("destroy the forking event", hipEventDestroy(s.forked));
    NEED(hipMemsetAsync(data, 2, 64, s.other));
    s.join();
    show("destroy the joining event", hipEventDestroy(s.joined));
    show("state of the origin", state_of(s.origin));
    NEED(hipMemsetAsync(data, 3, 64, s.origin));
    show_end("the capture", s.origin);

    // An event that is recorded but that nobody waits for.
    hipStream_t stream;
    hipEvent_t event;
    NEED(hipStreamCreate(&stream));
    NEED(hipEventCreate(&event));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipEventRecord(event, stream));
    show("destroy a captured event", hipEventDestroy(event));
    show_end("without a wait", stream);
    return 0;
}
