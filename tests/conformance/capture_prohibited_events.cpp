// Waiting for and asking events while a capture is open: events of the capture, and others.
// DIFFERS state after: 6.3 leaves the streams of a capture that has ended invalidated; HIP header,
//     hipStreamCaptureStatusInvalidated; HIP 7.14 changes, hipStreamEndCapture
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
