// An event outlives the stream that it was recorded on.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b;
    for (int** data : {&a, &b}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    NEED(hipDeviceSynchronize());
    hipStream_t first, second;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    set_slowly<<<1, 64, 0, first>>>(a, 5, 500);
    NEED(hipEventRecord(event, first));
    show("destroy the stream", hipStreamDestroy(first));
    show("wait for its event", hipStreamWaitEvent(second, event, 0));
    add<<<1, 64, 0, second>>>(b, a, 1);
    show("synchronise the event", hipEventSynchronize(event));
    show("query the event", hipEventQuery(event));
    show("synchronise the other stream", hipStreamSynchronize(second));
    int host[64];
    NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 6);
    show("record again elsewhere", hipEventRecord(event, second));
    show("synchronise it", hipEventSynchronize(event));
    return 0;
}
