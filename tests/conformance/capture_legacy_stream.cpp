// The legacy stream cannot be captured.
// DIFFERS end: 5.2.3 calls the stream invalid, newer HIP the state; HIP header, hipErrorIllegalState
// DIFFERS info: 5.2.3 has an unknown error though nothing captures; HIP documentation of
//     hipStreamGetCaptureInfo
#include "captured.h"

int main() {
    hipGraph_t graph = nullptr;
    show("state of the null stream", state_of(nullptr));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        show(std::string("begin, ") + mode.name, hipStreamBeginCapture(nullptr, mode.value));
        show(std::string("state, ") + mode.name, state_of(nullptr));
    }
    show("end", hipStreamEndCapture(nullptr, &graph));
    hipStreamCaptureStatus state;
    unsigned long long id = 77;
    show("info", hipStreamGetCaptureInfo(nullptr, &state, &id));
    show("info, state", state_name(state));
    // It still works.
    void* data;
    NEED(hipMalloc(&data, 16));
    show("memset afterwards", hipMemsetAsync(data, 1, 16, nullptr));
    show("synchronise afterwards", hipStreamSynchronize(nullptr));
    NEED(hipFree(data));
    return 0;
}
