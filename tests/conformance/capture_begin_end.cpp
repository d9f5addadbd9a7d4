// Begin and end of a capture in all three modes: codes, states, empty graphs, bad arguments.
// DIFFERS end without begin: 5.2.3 calls it unmatched, newer HIP an illegal state; HIP header,
//     hipErrorIllegalState
// DIFFERS end again: as above, a stream that does not capture; HIP header, hipErrorIllegalState
#include "captured.h"

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    hipGraph_t graph = nullptr;

    show("end without begin", hipStreamEndCapture(stream, &graph));
    show("graph of that", graph == nullptr ? "null" : "a graph");
    show("state before", state_of(stream));
    for (int mode : {-1, 3, 99}) {
        show("mode " + std::to_string(mode),
             hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(mode)));
        show("state after mode " + std::to_string(mode), state_of(stream));
    }
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        show("begin, " + name, hipStreamBeginCapture(stream, mode.value));
        show("state, " + name, state_of(stream));
        show_end(name, stream);
        show("begin for a null graph, " + name, hipStreamBeginCapture(stream, mode.value));
        show("end into null, " + name, hipStreamEndCapture(stream, nullptr));
        show_end("null, " + name, stream);
        show("end again, " + name, hipStreamEndCapture(stream, &graph));
    }
    NEED(hipStreamDestroy(stream));
    return 0;
}
