// Waiting for a capturing stream, for the device, for another stream, and asking whether they are done.
// DIFFERS state after: 6.3 leaves the streams of a capture that has ended invalidated; HIP header,
//     hipStreamCaptureStatusInvalidated; HIP 7.14 changes, hipStreamEndCapture
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
