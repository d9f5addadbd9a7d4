// The legacy stream and events of a capture: it can neither join nor record while a blocking stream captures.
#include "captured.h"

int main() {
    for (unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
        for (const CaptureMode& mode : CAPTURE_MODES) {
            std::string name = flags == hipStreamDefault ? "blocking, " : "non-blocking, ";
            name += mode.name;
            hipStream_t stream;
            hipEvent_t event, other;
            NEED(hipStreamCreateWithFlags(&stream, flags));
            NEED(hipEventCreate(&event));
            NEED(hipEventCreate(&other));
            NEED(hipStreamBeginCapture(stream, mode.value));
            show("record on null, " + name, hipEventRecord(other, nullptr));
            show("state during it, " + name, state_of(stream));
            show_end("a record, " + name, stream);

            NEED(hipStreamBeginCapture(stream, mode.value));
            NEED(hipEventRecord(event, stream));
            show("wait on null, " + name, hipStreamWaitEvent(nullptr, event, 0));
            show("state of the stream, " + name, state_of(stream));
            show_end("a wait, " + name, stream);
        }
    }
    return 0;
}
