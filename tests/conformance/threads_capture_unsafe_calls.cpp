// Unsafe calls of another thread while one captures: forbidden only to global captures and global threads.
// DIFFERS state after: 6.3 leaves the streams of a capture that has ended invalidated; HIP header,
//     hipStreamCaptureStatusInvalidated; HIP 7.14 changes, hipStreamEndCapture
#include "captured.h"

#include <thread>

int main() {
    hipStream_t idle;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&idle, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    NEED(hipEventRecord(event, idle));
    NEED(hipEventSynchronize(event));
    for (const CaptureMode& capture : CAPTURE_MODES) {
        for (const CaptureMode& thread : CAPTURE_MODES) {
            std::string name = std::string(capture.name) + " capture, " + thread.name + " thread";
            hipStream_t stream;
            NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
            NEED(hipStreamBeginCapture(stream, capture.value));
            hipError_t allocated = hipSuccess, freed = hipSuccess;
            std::thread([&] {
                hipStreamCaptureMode mode = thread.value;
                NEED(hipThreadExchangeStreamCaptureMode(&mode));
                void* memory = nullptr;
                allocated = hipMalloc(&memory, 64);
                freed = allocated == hipSuccess ? hipFree(memory) : allocated;
            }).join();
            show("hipMalloc, " + name, allocated);
            show("hipFree, " + name, freed);
            show("state, " + name, state_of(stream));
            show_end(name, stream);
        }
    }
    return 0;
}
