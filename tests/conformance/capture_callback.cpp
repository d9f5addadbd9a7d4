// hipStreamAddCallback on a capturing stream, and on another one meanwhile.
// DIFFERS callback,: 5.2.3 calls it at once, HIP 7 refuses it; HIP 7.0 changes, hipStreamAddCallback
// DIFFERS end,: 5.2.3 lets the capture go on, HIP 7 invalidates it; HIP 7.0 changes, hipStreamAddCallback
// DIFFERS graph,: as its end; HIP 7.0 changes, hipStreamAddCallback
#include "captured.h"

// 5.2.3 runs a callback of a capturing stream at some time: the counters outlive everything.
static int count, elsewhere;
static void called(hipStream_t, hipError_t, void* counter) {
    __atomic_fetch_add(static_cast<int*>(counter), 1, __ATOMIC_SEQ_CST);
}

int main() {
    hipStream_t other;
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        hipStream_t stream;
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, mode.value));
        show("callback on another stream, " + name, hipStreamAddCallback(other, called, &elsewhere, 0));
        show("callback, " + name, hipStreamAddCallback(stream, called, &count, 0));
        hipGraph_t graph = nullptr;
        hipError_t ended = hipStreamEndCapture(stream, &graph);
        show("end, " + name, ended);
        show("graph, " + name, shape_of(ended == hipSuccess ? graph : nullptr));
        NEED(hipStreamSynchronize(other));
        show("calls elsewhere, " + name, __atomic_exchange_n(&elsewhere, 0, __ATOMIC_SEQ_CST));
    }
    return 0;
}
