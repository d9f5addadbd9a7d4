// hipStreamGetCaptureInfo through the life of captures: states, ids, forked streams, optional arguments.
// DIFFERS forked stream has the id: 5.2.3 gives forked streams no id; CUDA Runtime API,
//     cudaStreamGetCaptureInfo
// DIFFERS forked stream after: 5.2.3 leaves forked streams in the capture; CUDA Programming Guide, stream
//     capture
#include "captured.h"

int main() {
    hipStreamCaptureStatus state = static_cast<hipStreamCaptureStatus>(7);
    unsigned long long id = 12345, before = 0;
    hipStream_t idle;
    NEED(hipStreamCreate(&idle));
    show("not capturing", hipStreamGetCaptureInfo(idle, &state, &id));
    show("not capturing, state", state_name(state));
    show("null state", hipStreamGetCaptureInfo(idle, nullptr, &id));
    show("null id", hipStreamGetCaptureInfo(idle, &state, nullptr));
    show("is capturing, null state", hipStreamIsCapturing(idle, nullptr));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        Fork s;
        NEED(hipStreamBeginCapture(s.origin, mode.value));
        id = 0;
        show("info, " + name, hipStreamGetCaptureInfo(s.origin, &state, &id));
        show("state, " + name, state_name(state));
        show("id is not zero, " + name, id != 0);
        show("id is new, " + name, id != before);
        show("null id, " + name, hipStreamGetCaptureInfo(s.origin, &state, nullptr));
        show("null state, " + name, hipStreamGetCaptureInfo(s.origin, nullptr, &id));
        unsigned long long again = 0, forked = 0;
        NEED(hipStreamGetCaptureInfo(s.origin, &state, &again));
        show("id stays, " + name, again == id);
        show("other stream, " + name, state_of(s.other));
        s.fork();
        NEED(hipStreamGetCaptureInfo(s.other, &state, &forked));
        show("forked stream, " + name, state_name(state));
        show("forked stream has the id, " + name, forked == id);
        s.join();
        show_end(name, s.origin);
        show("forked stream after, " + name, state_of(s.other));
        show("info after, " + name, hipStreamGetCaptureInfo(s.origin, &state, &again));
        show("state after, " + name, state_name(state));
        before = id;
    }
    return 0;
}
