// Two devices: each thread has its own current device, and starts with the first.
// DEVICES: 2
#include "observe.h"

#include <thread>

static int owner(void* memory) {
    hipPointerAttribute_t attributes;
    NEED(hipPointerGetAttributes(&attributes, memory));
    return attributes.device;
}

int main() {
    NEED(hipSetDevice(1));
    void* here = nullptr;
    NEED(hipMalloc(&here, 64));
    show("the first thread allocates on", owner(here));

    std::thread other([&] {
        int current = -1;
        NEED(hipGetDevice(&current));
        show("another thread begins on", current);
        void* there = nullptr;
        NEED(hipMalloc(&there, 64));
        show("another thread allocates on", owner(there));
        NEED(hipSetDevice(1));
        hipStream_t stream;
        NEED(hipStreamCreate(&stream));
        NEED(hipSetDevice(0));
        show("synchronizes a stream of the other device", hipStreamSynchronize(stream));
        NEED(hipStreamDestroy(stream));
        // Memory of the other device, and of the other thread.
        show("frees memory of the other device", hipFree(here));
        NEED(hipFree(there));
    });
    other.join();

    int current = -1;
    NEED(hipGetDevice(&current));
    show("the first thread still has", current);
}
