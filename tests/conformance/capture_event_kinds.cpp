// Events of every kind fork and join; waits that add nothing add no edges.
// DIFFERS graph of own event: 5.2.3 has an edge twice; HIP documentation of hipGraphAddDependencies
#include "captured.h"

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    for (unsigned flags : {hipEventDefault, hipEventDisableTiming, hipEventBlockingSync}) {
        std::string name = "flags " + std::to_string(flags);
        Fork s;
        NEED(hipEventCreateWithFlags(&s.forked, flags));
        NEED(hipEventCreateWithFlags(&s.joined, flags));
        NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
        NEED(hipMemsetAsync(data, 1, 64, s.origin));
        s.fork();
        NEED(hipMemsetAsync(data, 2, 32, s.other));
        NEED(hipMemsetAsync(data + 32, 3, 32, s.origin));
        s.join();
        NEED(hipMemsetAsync(data, 4, 64, s.origin));
        show_end(name, s.origin);
    }
    Fork s;
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 1, 64, s.origin));
    NEED(hipEventRecord(s.forked, s.origin));
    show("own event", hipStreamWaitEvent(s.origin, s.forked, 0));
    NEED(hipMemsetAsync(data, 2, 64, s.origin));
    show("own event again, from further back", hipStreamWaitEvent(s.origin, s.forked, 0));
    NEED(hipMemsetAsync(data, 3, 64, s.origin));
    show_end("own event", s.origin);
    return 0;
}
