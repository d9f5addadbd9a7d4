// Asynchronous copies of pageable and pinned memory: order on a stream, reuse of the source, both directions.
#include "observe.h"

int main() {
    const int count = 1 << 16;
    const size_t bytes = count * sizeof(int);
    int *device = nullptr, *pinned = nullptr, *pinned_back = nullptr;
    NEED(hipMalloc(&device, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    NEED(hipHostMalloc(&pinned_back, bytes, 0));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));

    // Pageable memory may be reused when the call has returned.
    std::vector<int> pageable(count, 1), back(count, 0);
    show("pageable up", hipMemcpyAsync(device, pageable.data(), bytes, hipMemcpyHostToDevice, stream));
    std::fill(pageable.begin(), pageable.end(), 2);
    show("pageable down", hipMemcpyAsync(back.data(), device, bytes, hipMemcpyDeviceToHost, stream));
    show("synchronize", hipStreamSynchronize(stream));
    show_all("data behind it", back.data(), back.size(), 1);

    // Small pageable copies, one behind the other: the last one wins.
    for (int i = 0; i < 50; ++i) {
        int value = i;
        NEED(hipMemcpyAsync(device, &value, sizeof value, hipMemcpyHostToDevice, stream));
    }
    int last = -1;
    NEED(hipMemcpyAsync(&last, device, sizeof last, hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    show("last of 50 small copies", last);

    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < count; ++i) pinned[i] = i + round;
        NEED(hipMemcpyAsync(device, pinned, bytes, hipMemcpyHostToDevice, stream));
        NEED(hipMemcpyAsync(pinned_back, device, bytes, hipMemcpyDeviceToHost, stream));
        NEED(hipStreamSynchronize(stream));
        int wrong = 0;
        for (int i = 0; i < count; ++i) wrong += pinned_back[i] != i + round;
        line("pinned round %d, wrong: %d", round, wrong);
    }

    // Host to host on a stream, behind what the stream did before.
    std::vector<int> copy(count, -1);
    NEED(hipMemcpyAsync(pinned_back, device, bytes, hipMemcpyDeviceToHost, stream));
    show("host to host", hipMemcpyAsync(copy.data(), pinned_back, bytes, hipMemcpyHostToHost, stream));
    NEED(hipStreamSynchronize(stream));
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += copy[i] != i + 3;
    show("host to host, wrong", wrong);

    show("with stream", hipMemcpyWithStream(back.data(), device, bytes, hipMemcpyDeviceToHost, stream));
    show("with stream, element 1000", back[1000]);
    show("with the default stream",
         hipMemcpyWithStream(back.data(), device, 16, hipMemcpyDeviceToHost, nullptr));
    show("stream is idle", hipStreamQuery(stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
    NEED(hipHostFree(pinned_back));
}
