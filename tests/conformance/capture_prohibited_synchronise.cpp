// Waiting for a capturing stream, for the device, for another stream, and asking whether they are done.
// DIFFERS synchronise it: 5.2.3 allows it; CUDA Programming Guide, prohibited operations
// DIFFERS query it: 5.2.3 allows it; CUDA Programming Guide, prohibited operations
// DIFFERS synchronise the device: 5.2.3 allows it; CUDA Programming Guide, prohibited operations
// DIFFERS synchronise another stream: 5.2.3 allows it; CUDA Runtime API, cudaThreadExchangeStreamCaptureMode
// DIFFERS query another stream: 5.2.3 allows it; CUDA Runtime API, cudaThreadExchangeStreamCaptureMode
// DIFFERS state during: 5.2.3 lets the capture go on; CUDA Programming Guide, invalidation of captures
// DIFFERS end of: 5.2.3 lets the capture go on; CUDA Programming Guide, invalidation of captures
// DIFFERS graph of: 5.2.3 lets the capture go on; CUDA Programming Guide, invalidation of captures
#include "captured.h"

#include <functional>

int main() {
    hipStream_t stream, other;
    NEED(hipStreamCreate(&other));
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"synchronise it", [&] { return hipStreamSynchronize(stream); }},
        {"query it", [&] { return hipStreamQuery(stream); }},
        {"synchronise the device", [&] { return hipDeviceSynchronize(); }},
        {"synchronise another stream", [&] { return hipStreamSynchronize(other); }},
        {"query another stream", [&] { return hipStreamQuery(other); }},
    };
    for (const CaptureMode& mode : CAPTURE_MODES) {
        for (const Call& call : calls) {
            std::string name = std::string(call.name) + ", " + mode.name;
            NEED(hipStreamCreate(&stream));
            NEED(hipStreamBeginCapture(stream, mode.value));
            show(name, call.make());
            show("state during " + name, state_of(stream));
            show_end(name, stream);
        }
    }
    return 0;
}
