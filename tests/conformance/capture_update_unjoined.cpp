// Whether what hipStreamUpdateCaptureDependencies leaves out must be joined at the end of a capture.
// DIFFERS end of left out: 5.2.3 wants the stream joined that has nothing left to join; CUDA Runtime API,
//     cudaStreamEndCapture
// DIFFERS graph of left out: 5.2.3 wants the stream joined that has nothing left to join; CUDA Runtime API,
//     cudaStreamEndCapture
// DIFFERS state after left out: 5.2.3 wants the stream joined that has nothing left to join; CUDA Runtime
//     API, cudaStreamEndCapture
#include "captured.h"

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    struct Case {
        const char* name;
        bool join, origin, other;
    };
    const Case cases[] = {{"joined", true, false, false},
                          {"joined, then left out", true, true, false},
                          {"left out of the forked stream", false, false, true}};
    for (const Case& each : cases) {
        Fork fork;
        NEED(hipStreamBeginCapture(fork.origin, hipStreamCaptureModeGlobal));
        NEED(hipMemsetAsync(data, 1, 64, fork.origin));
        fork.fork();
        NEED(hipMemsetAsync(data, 2, 64, fork.other));
        if (each.join) fork.join();
        if (each.origin) {
            show(std::string("set, ") + each.name, hipStreamUpdateCaptureDependencies(fork.origin, nullptr, 0,
                hipStreamSetCaptureDependencies));
        }
        if (each.other) {
            show(std::string("set, ") + each.name, hipStreamUpdateCaptureDependencies(fork.other, nullptr, 0,
                hipStreamSetCaptureDependencies));
        }
        NEED(hipMemsetAsync(data, 3, 64, fork.origin));
        show_end(each.name, fork.origin);
    }
    return 0;
}
