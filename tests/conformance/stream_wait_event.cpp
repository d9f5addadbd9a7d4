// hipStreamWaitEvent: events never recorded, recorded, null; flags.
// DIFFERS flags 1: hipEventWaitExternal came after 5.2.3; HIP 6.4.2 changes
#include "captured.h"

int main() {
    hipStream_t stream;
    hipEvent_t event, fresh;
    NEED(hipStreamCreate(&stream));
    NEED(hipEventCreate(&event));
    NEED(hipEventCreateWithFlags(&fresh, hipEventDisableTiming));
    show("never recorded", hipStreamWaitEvent(stream, fresh, 0));
    show("never recorded, query", hipStreamQuery(stream));
    NEED(hipEventRecord(event, stream));
    show("recorded here", hipStreamWaitEvent(stream, event, 0));
    show("null event", hipStreamWaitEvent(stream, nullptr, 0));
    show("null stream", hipStreamWaitEvent(nullptr, event, 0));
    for (unsigned flags : {1u, 2u, 99u}) {
        show("flags " + std::to_string(flags), hipStreamWaitEvent(stream, event, flags));
    }
    show("synchronise", hipStreamSynchronize(stream));
    return 0;
}
