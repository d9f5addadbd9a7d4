// Waiting twice for one event, and for two events of one point, adds no second edge.
// DIFFERS graph of the capture: 5.2.3 has edges twice; HIP documentation of hipGraphAddDependencies
#include "captured.h"

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    hipEvent_t first, second;
    NEED(hipEventCreate(&first));
    NEED(hipEventCreate(&second));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        Fork s;
        NEED(hipStreamBeginCapture(s.origin, mode.value));
        NEED(hipMemsetAsync(data, 1, 16, s.origin));
        NEED(hipEventRecord(first, s.origin));
        NEED(hipEventRecord(second, s.origin));
        show("first wait, " + name, hipStreamWaitEvent(s.other, first, 0));
        NEED(hipMemsetAsync(data + 16, 2, 16, s.other));
        show("wait of the origin for itself, " + name, hipStreamWaitEvent(s.origin, first, 0));
        s.join();
        show("join again, " + name, hipStreamWaitEvent(s.origin, s.joined, 0));
        NEED(hipMemsetAsync(data + 32, 3, 16, s.origin));
        show_end("the capture, " + name, s.origin);
    }
    return 0;
}
