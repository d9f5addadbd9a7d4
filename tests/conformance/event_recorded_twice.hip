// An event that is recorded again stands for the later point, on whatever stream.
#include "captured.h"
#include "hold.h"

int main() {
    Hold hold;
    hipStream_t first, second;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    NEED(hipEventRecord(event, first));
    show("first record", hipEventSynchronize(event));
    wait_until_open<<<1, 1, 0, first>>>(hold.flag);
    NEED(hipEventRecord(event, first));
    show("behind a held kernel", hipEventQuery(event));
    show("again on another stream", hipEventRecord(event, second));
    show("synchronise", hipEventSynchronize(event));
    show("query", hipEventQuery(event));
    show("the held stream", hipStreamQuery(first));
    hold.open();
    show("released", hipStreamSynchronize(first));
    return 0;
}
