// hipStreamWaitEvent with events in all states, and with flags.
#include "observe.h"

int main() {
    hipStream_t a = nullptr, b = nullptr;
    hipEvent_t event = nullptr, untimed = nullptr;
    NEED(hipStreamCreate(&a));
    NEED(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    NEED(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    show("never recorded", hipStreamWaitEvent(a, event, 0));
    NEED(hipEventRecord(event, a));
    show("recorded elsewhere", hipStreamWaitEvent(b, event, 0));
    show("recorded on the same stream", hipStreamWaitEvent(a, event, 0));
    show("by the null stream", hipStreamWaitEvent(nullptr, event, 0));
    NEED(hipEventRecord(untimed, b));
    show("without timing", hipStreamWaitEvent(a, untimed, 0));
    NEED(hipStreamSynchronize(a));
    NEED(hipStreamSynchronize(b));
    show("complete", hipStreamWaitEvent(a, event, 0));
    show("null event", hipStreamWaitEvent(a, nullptr, 0));
    show("the idle stream", hipStreamQuery(a));
    show("by the thread's stream", hipStreamWaitEvent(hipStreamPerThread, event, 0));
    NEED(hipEventDestroy(event));
    NEED(hipEventDestroy(untimed));
    NEED(hipStreamDestroy(a));
    NEED(hipStreamDestroy(b));
}
