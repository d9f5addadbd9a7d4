// Streams, events and memory of one thread used and destroyed by another.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    int* data = nullptr;
    hipStream_t stream = nullptr;
    hipEvent_t event = nullptr;
    std::thread([&] {
        NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
        NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        NEED(hipEventCreate(&event));
        set_slowly<<<1, 64, 0, stream>>>(data, 5, 300);
        NEED(hipEventRecord(event, stream));
    }).join();
    multiply<<<1, 64, 0, stream>>>(data, 3);
    show("synchronise the event", hipEventSynchronize(event));
    int host[64];
    NEED(hipMemcpyAsync(host, data, sizeof host, hipMemcpyDeviceToHost, stream));
    show("synchronise the stream", hipStreamSynchronize(stream));
    show_all("data", host, 64, 15);
    hipError_t destroyed[3];
    std::thread([&] {
        destroyed[0] = hipEventDestroy(event);
        destroyed[1] = hipStreamDestroy(stream);
        destroyed[2] = hipFree(data);
    }).join();
    for (hipError_t error : destroyed) show("destroy", error);
    return 0;
}
