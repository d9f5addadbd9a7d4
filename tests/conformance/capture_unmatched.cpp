// A capture ends on the stream on which it began.
// DIFFERS end on a stream that does not capture: 5.2.3 calls it unmatched, newer HIP an illegal state; HIP
//     header, hipErrorIllegalState
#include "captured.h"

int main() {
    hipStream_t third;
    void* data;
    NEED(hipStreamCreate(&third));
    NEED(hipMalloc(&data, 64));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        Fork s;
        NEED(hipStreamBeginCapture(s.origin, mode.value));
        s.fork();
        NEED(hipMemsetAsync(data, 2, 64, s.other));
        hipGraph_t graph = nullptr;
        show("end on a stream that does not capture, " + name, hipStreamEndCapture(third, &graph));
        show("end on the forked stream, " + name, hipStreamEndCapture(s.other, &graph));
        show("origin, " + name, state_of(s.origin));
        show("forked stream, " + name, state_of(s.other));
        show("record, " + name, hipEventRecord(s.joined, s.other));
        show("join, " + name, hipStreamWaitEvent(s.origin, s.joined, 0));
        show_end(name, s.origin);
    }
    return 0;
}
