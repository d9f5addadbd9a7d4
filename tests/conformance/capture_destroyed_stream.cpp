// Streams that are destroyed while they capture.
#include "captured.h"

int main() {
    void* data;
    NEED(hipMalloc(&data, 64));
    Fork forked;
    NEED(hipStreamBeginCapture(forked.origin, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 1, 64, forked.origin));
    forked.fork();
    NEED(hipMemsetAsync(data, 2, 64, forked.other));
    forked.join();
    show("destroy the forked stream, joined", hipStreamDestroy(forked.other));
    show("state of the origin", state_of(forked.origin));
    show_end("joined", forked.origin);

    hipStream_t origin;
    NEED(hipStreamCreate(&origin));
    NEED(hipStreamBeginCapture(origin, hipStreamCaptureModeThreadLocal));
    NEED(hipMemsetAsync(data, 1, 64, origin));
    show("destroy the origin", hipStreamDestroy(origin));

    // No capture is left to stand in anybody's way.
    void* more = nullptr;
    show("allocate afterwards", hipMalloc(&more, 64));
    hipStream_t next;
    NEED(hipStreamCreate(&next));
    NEED(hipStreamBeginCapture(next, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 1, 64, next));
    show_end("the next capture", next);
    return 0;
}
