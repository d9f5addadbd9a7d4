// When copies wait: pageable and pinned memory behind kernels of blocking and non-blocking streams.
#include "observe.h"

__global__ void busy(int* out, int value, int rounds) {
    unsigned x = static_cast<unsigned>(value);
    for (int i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
    out[threadIdx.x] = x == 42 ? -1 : value;
}

__global__ void add(int* out, int value) { out[threadIdx.x] += value; }

int main() {
    const int count = 64, rounds = 20000;
    const size_t bytes = count * sizeof(int);
    int *a = nullptr, *b = nullptr, *pinned = nullptr;
    NEED(hipMalloc(&a, bytes));
    NEED(hipMalloc(&b, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    hipStream_t blocking, free_running;
    NEED(hipStreamCreate(&blocking));
    NEED(hipStreamCreateWithFlags(&free_running, hipStreamNonBlocking));
    std::vector<int> pageable(count);

    busy<<<1, count, 0, blocking>>>(a, 11, rounds);
    show("to pageable, same stream",
         hipMemcpyAsync(pageable.data(), a, bytes, hipMemcpyDeviceToHost, blocking));
    NEED(hipStreamSynchronize(blocking));
    show_all("to pageable", pageable.data(), count, 11);
    busy<<<1, count, 0, blocking>>>(a, 12, rounds);
    show("to pinned, same stream", hipMemcpyAsync(pinned, a, bytes, hipMemcpyDeviceToHost, blocking));
    NEED(hipStreamSynchronize(blocking));
    show_all("to pinned", pinned, count, 12);
    busy<<<1, count, 0, free_running>>>(a, 13, rounds);
    show("to pinned, non-blocking", hipMemcpyAsync(pinned, a, bytes, hipMemcpyDeviceToHost, free_running));
    NEED(hipStreamSynchronize(free_running));
    show_all("to pinned behind a non-blocking stream", pinned, count, 13);

    // Up, kernel, down: one stream is one order.
    for (int i = 0; i < count; ++i) pinned[i] = 100;
    NEED(hipMemcpyAsync(a, pinned, bytes, hipMemcpyHostToDevice, blocking));
    add<<<1, count, 0, blocking>>>(a, 5);
    NEED(hipMemcpyAsync(b, a, bytes, hipMemcpyDeviceToDevice, blocking));
    add<<<1, count, 0, blocking>>>(b, 7);
    NEED(hipMemcpyAsync(pageable.data(), b, bytes, hipMemcpyDeviceToHost, blocking));
    NEED(hipStreamSynchronize(blocking));
    show_all("up, kernels, down", pageable.data(), count, 112);

    // An event carries the order to another stream.
    hipEvent_t done;
    NEED(hipEventCreate(&done));
    busy<<<1, count, 0, blocking>>>(a, 14, rounds);
    NEED(hipEventRecord(done, blocking));
    NEED(hipStreamWaitEvent(free_running, done, 0));
    NEED(hipMemcpyAsync(pinned, a, bytes, hipMemcpyDeviceToHost, free_running));
    NEED(hipStreamSynchronize(free_running));
    show_all("behind an event", pinned, count, 14);

    // Fills and copies of the default stream wait for blocking streams, and these for them.
    busy<<<1, count, 0, blocking>>>(a, 15, rounds);
    show("fill", hipMemset(a, 0, bytes / 2));
    NEED(hipMemcpy(pageable.data(), a, bytes, hipMemcpyDeviceToHost));
    line("fill behind a kernel: %d %d", pageable[0], pageable[count - 1]);
    show("async fill", hipMemsetAsync(a, 0, bytes, nullptr));
    add<<<1, count, 0, blocking>>>(a, 3);
    NEED(hipStreamSynchronize(blocking));
    NEED(hipMemcpy(pageable.data(), a, bytes, hipMemcpyDeviceToHost));
    show_all("kernel behind a fill", pageable.data(), count, 3);
    show("stream is idle", hipStreamQuery(blocking));
    NEED(hipEventDestroy(done));
    NEED(hipStreamDestroy(blocking));
    NEED(hipStreamDestroy(free_running));
    NEED(hipFree(a));
    NEED(hipFree(b));
    NEED(hipHostFree(pinned));
}
