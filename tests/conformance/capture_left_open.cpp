// A process may end while captures are open, those of other threads among them.
#include "captured.h"

#include <thread>

int main() {
    hipStream_t global, relaxed, forked;
    hipEvent_t fork;
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    for (hipStream_t* stream : {&global, &relaxed, &forked}) {
        NEED(hipStreamCreateWithFlags(stream, hipStreamNonBlocking));
    }
    NEED(hipEventCreate(&fork));
    std::thread([&] {
        show("begin in another thread", hipStreamBeginCapture(relaxed, hipStreamCaptureModeRelaxed));
        show("fill there", hipMemsetAsync(data, 1, 64, relaxed));
    }).join();
    show("begin", hipStreamBeginCapture(global, hipStreamCaptureModeGlobal));
    show("fill", hipMemsetAsync(data, 2, 64, global));
    NEED(hipEventRecord(fork, global));
    show("fork", hipStreamWaitEvent(forked, fork, 0));
    show("fill on the fork", hipMemsetAsync(data, 3, 64, forked));
    show("state of the fork", state_of(forked));
    show("state of the other thread's", state_of(relaxed));
    return 0;
}
