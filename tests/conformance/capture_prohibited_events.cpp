// Waiting for and asking events while a capture is open: events of the capture, and others.
// DIFFERS query a captured event: 5.2.3 allows it; HIP header, hipErrorCapturedEvent
// DIFFERS synchronise a captured event: 5.2.3 allows it; HIP header, hipErrorCapturedEvent
// DIFFERS query an event: 5.2.3 allows it; HIP 7.0 changes, hipEventQuery
// DIFFERS synchronise an event: 5.2.3 allows it; CUDA Programming Guide, prohibited operations
// DIFFERS state during: 5.2.3 lets the capture go on; CUDA Programming Guide, invalidation of captures
// DIFFERS end of: 5.2.3 lets the capture go on; CUDA Programming Guide, invalidation of captures
// DIFFERS graph of: 5.2.3 lets the capture go on; CUDA Programming Guide, invalidation of captures
#include "captured.h"

#include <functional>

int main() {
    hipStream_t other;
    hipEvent_t captured, eager, fresh;
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED(hipEventCreate(&eager));
    NEED(hipEventCreate(&fresh));
    NEED(hipEventRecord(eager, other));
    NEED(hipEventSynchronize(eager));
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"query a captured event", [&] { return hipEventQuery(captured); }},
        {"synchronise a captured event", [&] { return hipEventSynchronize(captured); }},
        {"query an event recorded before", [&] { return hipEventQuery(eager); }},
        {"synchronise an event recorded before", [&] { return hipEventSynchronize(eager); }},
        {"query an event never recorded", [&] { return hipEventQuery(fresh); }},
    };
    for (const CaptureMode& mode : CAPTURE_MODES) {
        for (const Call& call : calls) {
            std::string name = std::string(call.name) + ", " + mode.name;
            hipStream_t stream;
            NEED(hipStreamCreate(&stream));
            NEED(hipEventCreate(&captured));
            NEED(hipStreamBeginCapture(stream, mode.value));
            NEED(hipEventRecord(captured, stream));
            show(name, call.make());
            show("state during " + name, state_of(stream));
            show_end(name, stream);
        }
    }
    return 0;
}
