// One event that many streams wait for, and many events that one stream waits for.
#include "captured.h"
#include "hold.h"

int main() {
    const int STREAMS = 6;
    int *source, *parts, *out;
    NEED(hipMalloc(reinterpret_cast<void**>(&source), 64 * sizeof(int)));
    NEED(hipMalloc(reinterpret_cast<void**>(&parts), STREAMS * 64 * sizeof(int)));
    NEED(hipMalloc(reinterpret_cast<void**>(&out), 64 * sizeof(int)));
    NEED(hipMemset(source, 0, 64 * sizeof(int)));
    NEED(hipMemset(parts, 0, STREAMS * 64 * sizeof(int)));
    NEED(hipMemset(out, 0, 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t first, stream[STREAMS];
    hipEvent_t ready, done[STREAMS];
    NEED(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    NEED(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
    for (int i = 0; i < STREAMS; ++i) {
        NEED(hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));
        NEED(hipEventCreateWithFlags(&done[i], hipEventDisableTiming));
    }
    set_slowly<<<1, 64, 0, first>>>(source, 100, 300);
    NEED(hipEventRecord(ready, first));
    for (int i = 0; i < STREAMS; ++i) {
        NEED(hipStreamWaitEvent(stream[i], ready, 0));
        add<<<1, 64, 0, stream[i]>>>(parts + 64 * i, source, i);
        NEED(hipEventRecord(done[i], stream[i]));
    }
    for (int i = 0; i < STREAMS; ++i) {
        NEED(hipStreamWaitEvent(first, done[i], 0));
        sum<<<1, 64, 0, first>>>(out, out, parts + 64 * i);
    }
    show("synchronise", hipStreamSynchronize(first));
    int host[64];
    NEED(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 615);
    return 0;
}
