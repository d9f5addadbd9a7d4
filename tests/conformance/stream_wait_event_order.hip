// A wait holds back what comes behind it in its stream, for what the event stood for when the wait was made.
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
    NEED(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    int host[64];
    set_slowly<<<1, 64, 0, first>>>(a, 5, 500);
    NEED(hipEventRecord(event, first));
    NEED(hipStreamWaitEvent(second, event, 0));
    add<<<1, 64, 0, second>>>(b, a, 1);
    NEED(hipMemcpyAsync(host, b, sizeof host, hipMemcpyDeviceToHost, second));
    NEED(hipStreamSynchronize(second));
    show_all("kernel behind a kernel", host, 64, 6);

    // The event is recorded again behind work that is held: who waited before does not wait for that.
    Hold hold;
    NEED(hipEventRecord(event, first));
    NEED(hipStreamWaitEvent(second, event, 0));
    wait_until_open<<<1, 1, 0, first>>>(hold.flag);
    NEED(hipEventRecord(event, first));
    add<<<1, 64, 0, second>>>(b, a, 2);
    NEED(hipMemcpyAsync(host, b, sizeof host, hipMemcpyDeviceToHost, second));
    show("synchronise who waited before", hipStreamSynchronize(second));
    show_all("not held", host, 64, 7);
    show("the event", hipEventQuery(event));
    hold.open();
    show("synchronise the event", hipEventSynchronize(event));
    return 0;
}
