// Work that goes round four streams by events comes out as on one stream.
#include "captured.h"
#include "hold.h"

int main() {
    const int STREAMS = 4, STEPS = 24;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t stream[STREAMS];
    hipEvent_t event[STREAMS];
    for (int i = 0; i < STREAMS; ++i) {
        NEED(hipStreamCreateWithFlags(&stream[i], i % 2 ? hipStreamNonBlocking : hipStreamDefault));
        NEED(hipEventCreate(&event[i]));
    }
    unsigned expected = 0;
    for (int step = 0; step < STEPS; ++step) {
        hipStream_t here = stream[step % STREAMS];
        if (step > 0) NEED(hipStreamWaitEvent(here, event[(step - 1) % STREAMS], 0));
        if (step % 3 == 0) {
            multiply<<<1, 64, 0, here>>>(data, 3);
            expected *= 3;
        } else {
            add<<<1, 64, 0, here>>>(data, data, step);
            expected += step;
        }
        NEED(hipEventRecord(event[step % STREAMS], here));
    }
    show("synchronise the last", hipStreamSynchronize(stream[(STEPS - 1) % STREAMS]));
    int host[64];
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, static_cast<int>(expected));
    return 0;
}
