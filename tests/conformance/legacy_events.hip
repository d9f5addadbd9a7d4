// An event on the legacy stream lets a non-blocking stream wait for it, and the other way round.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b;
    for (int** data : {&a, &b}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    NEED(hipDeviceSynchronize());
    hipStream_t apart;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    set_slowly<<<1, 64>>>(a, 5, 400);
    NEED(hipEventRecord(event, nullptr));
    NEED(hipStreamWaitEvent(apart, event, 0));
    add<<<1, 64, 0, apart>>>(b, a, 1);
    NEED(hipStreamSynchronize(apart));
    int host[64];
    NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("non-blocking behind legacy", host, 64, 6);
    set_slowly<<<1, 64, 0, apart>>>(a, 20, 400);
    NEED(hipEventRecord(event, apart));
    show("wait on the legacy stream", hipStreamWaitEvent(nullptr, event, 0));
    add<<<1, 64>>>(b, a, 2);
    NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("legacy behind non-blocking", host, 64, 22);
    return 0;
}
