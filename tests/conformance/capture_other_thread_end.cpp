// Only a relaxed capture can be ended by another thread than the one that began it.
#include "captured.h"

#include <thread>

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    void* data;
    NEED(hipMalloc(&data, 64));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        NEED(hipStreamBeginCapture(stream, mode.value));
        NEED(hipMemsetAsync(data, 1, 64, stream));
        hipError_t ended = hipSuccess;
        hipGraph_t graph = nullptr;
        std::string seen;
        std::thread([&] {
            seen = state_of(stream);
            ended = hipStreamEndCapture(stream, &graph);
        }).join();
        show("state in the other thread, " + name, seen);
        show("end in the other thread, " + name, ended);
        show("state after that, " + name, state_of(stream));
        if (ended == hipSuccess) {
            show("graph, " + name, shape_of(graph));
            NEED(hipGraphDestroy(graph));
        } else {
            show_end("own thread, " + name, stream);
        }
    }
    NEED(hipFree(data));
    NEED(hipStreamDestroy(stream));
    return 0;
}
