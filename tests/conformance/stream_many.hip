// Forty streams with work of their own, created and destroyed while others work.
#include "captured.h"
#include "hold.h"

int main() {
    const int STREAMS = 40;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), STREAMS * 64 * sizeof(int)));
    NEED(hipMemset(data, 0, STREAMS * 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    std::vector<hipStream_t> streams(STREAMS);
    for (int i = 0; i < STREAMS; ++i) {
        NEED(hipStreamCreateWithFlags(&streams[i], i % 2 ? hipStreamNonBlocking : hipStreamDefault));
        set<<<1, 64, 0, streams[i]>>>(data + 64 * i, i);
        add<<<1, 64, 0, streams[i]>>>(data + 64 * i, data + 64 * i, 1);
        if (i % 4 == 3) NEED(hipStreamDestroy(streams[i]));
    }
    for (int i = 0; i < STREAMS; ++i) {
        if (i % 4 != 3) NEED(hipStreamSynchronize(streams[i]));
    }
    show("device synchronise", hipDeviceSynchronize());
    std::vector<int> host(STREAMS * 64);
    NEED(hipMemcpy(host.data(), data, host.size() * sizeof(int), hipMemcpyDeviceToHost));
    int right = 0;
    for (int i = 0; i < STREAMS * 64; ++i) right += host[i] == i / 64 + 1;
    show("right elements", right);
    for (int i = 0; i < STREAMS; ++i) {
        if (i % 4 != 3) NEED(hipStreamDestroy(streams[i]));
    }
    return 0;
}
