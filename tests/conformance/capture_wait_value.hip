// hipStreamWriteValue and hipStreamWaitValue on a capturing stream.
// DIFFERS graph of: 5.2.3 runs the call at once and records nothing; HIP changelog, recorded from 10.0 on
#include "captured.h"

int main() {
    uint64_t* signal;
    NEED(hipExtMallocWithFlags(reinterpret_cast<void**>(&signal), 8, hipMallocSignalMemory));
    *signal = 1;
    for (bool write : {true, false}) {
        std::string name = write ? "write" : "wait";
        hipStream_t stream;
        NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        if (write) {
            show("call, " + name, hipStreamWriteValue64(stream, signal, 1, 0));
        } else {
            show("call, " + name, hipStreamWaitValue64(stream, signal, 1, hipStreamWaitValueEq, ~0ull));
        }
        show_end(name, stream);
    }
    return 0;
}
