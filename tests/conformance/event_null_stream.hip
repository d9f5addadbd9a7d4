// An event on the null stream is behind everything on blocking streams so far.
#include "captured.h"
#include "hold.h"

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    std::memset(pinned, 0, 64 * sizeof(int));
    hipStream_t blocking, apart;
    hipEvent_t event;
    NEED(hipStreamCreate(&blocking));
    NEED(hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    set_slowly<<<1, 32, 0, blocking>>>(pinned, 5, 500);
    show("record on null", hipEventRecord(event, nullptr));
    show("synchronise", hipEventSynchronize(event));
    show_all("the blocking stream's work", pinned, 32, 5);

    Hold hold;
    wait_until_open<<<1, 1, 0, apart>>>(hold.flag);
    show("record beside a non-blocking stream", hipEventRecord(event, nullptr));
    show("synchronise", hipEventSynchronize(event));
    show("the non-blocking stream", hipStreamQuery(apart));
    hold.open();
    show("released", hipStreamSynchronize(apart));
    return 0;
}
