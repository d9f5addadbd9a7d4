// Two devices: calls on a stream of the device that is not current.
// DEVICES: 2
#include "observe.h"

int main() {
    const int count = 256;
    int *memory[2];
    hipStream_t stream[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], count * sizeof(int)));
        NEED(hipStreamCreate(&stream[device]));
    }
    NEED(hipSetDevice(0));
    std::vector<int> host(count);

    // Device 0 is current; the stream and the memory are the second's.
    show("fill", hipMemsetAsync(memory[1], 1, count * sizeof(int), stream[1]));
    show("query or ready", hipStreamSynchronize(stream[1]));
    NEED(hipMemcpy(host.data(), memory[1], count * sizeof(int), hipMemcpyDeviceToHost));
    show_all("filled", host.data(), count, 0x01010101);

    std::fill(host.begin(), host.end(), 9);
    show("copy to the second", hipMemcpyAsync(memory[1], host.data(), count * sizeof(int), hipMemcpyHostToDevice,
                                              stream[1]));
    std::vector<int> back(count, -1);
    show("copy back", hipMemcpyAsync(back.data(), memory[1], count * sizeof(int), hipMemcpyDeviceToHost, stream[1]));
    show("synchronize", hipStreamSynchronize(stream[1]));
    show_all("copied", back.data(), count, 9);

    unsigned flags = 77;
    show("flags", hipStreamGetFlags(stream[1], &flags));
    show("are", flags);
    int priority = 77;
    show("priority", hipStreamGetPriority(stream[1], &priority));
    show("is", priority);

    // Functions of the host run whatever device is current.
    int called = 0;
    auto call = [](hipStream_t, hipError_t, void* data) { *static_cast<int*>(data) += 1; };
    show("callback", hipStreamAddCallback(stream[1], call, &called, 0));
    NEED(hipStreamSynchronize(stream[1]));
    show("called", called);

    int current = -1;
    NEED(hipGetDevice(&current));
    show("still current", current);
    show("destroy", hipStreamDestroy(stream[1]));
    NEED(hipStreamDestroy(stream[0]));
    for (int* each : memory) NEED(hipFree(each));
}
