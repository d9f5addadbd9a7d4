// The thread's own default stream can be captured.
#include "captured.h"

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    NEED(hipMemset(data, 0, 64));
    show("state before", state_of(hipStreamPerThread));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        show("begin, " + name, hipStreamBeginCapture(hipStreamPerThread, mode.value));
        show("state, " + name, state_of(hipStreamPerThread));
        show("memset, " + name, hipMemsetAsync(data, 3, 64, hipStreamPerThread));
        hipGraph_t graph = nullptr;
        show("end, " + name, hipStreamEndCapture(hipStreamPerThread, &graph));
        show("graph, " + name, shape_of(graph));
        if (graph != nullptr) {
            run_once(graph, hipStreamPerThread);
            NEED(hipGraphDestroy(graph));
        }
        char host[64];
        NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
        show_all((name + ", data").c_str(), host, sizeof host, static_cast<char>(3));
        NEED(hipMemset(data, 0, 64));
    }
    NEED(hipFree(data));
    return 0;
}
