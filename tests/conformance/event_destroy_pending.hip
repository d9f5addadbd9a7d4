// An event may be destroyed before it is reached; who waits for it still does.
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
    set_slowly<<<1, 64, 0, first>>>(a, 5, 1000);
    NEED(hipEventRecord(event, first));
    NEED(hipStreamWaitEvent(second, event, 0));
    show("destroy", hipEventDestroy(event));
    add<<<1, 64, 0, second>>>(b, a, 1);
    show("synchronise", hipStreamSynchronize(second));
    int host[64];
    NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 6);
    return 0;
}
