// Null events as arguments.
#include "captured.h"

int main() {
    hipStream_t stream;
    hipEvent_t good;
    float milliseconds;
    NEED(hipStreamCreate(&stream));
    NEED(hipEventCreate(&good));
    NEED(hipEventRecord(good, stream));
    NEED(hipEventSynchronize(good));
    show("record null", hipEventRecord(nullptr, stream));
    show("record null on null", hipEventRecord(nullptr, nullptr));
    show("query null", hipEventQuery(nullptr));
    show("synchronise null", hipEventSynchronize(nullptr));
    show("destroy null", hipEventDestroy(nullptr));
    show("wait null", hipStreamWaitEvent(stream, nullptr, 0));
    show("elapsed, null start", hipEventElapsedTime(&milliseconds, nullptr, good));
    show("elapsed, null stop", hipEventElapsedTime(&milliseconds, good, nullptr));
    show("elapsed, null time", hipEventElapsedTime(nullptr, good, good));
    // HIP: 5.2.3 crashes on events that were destroyed.
    return 0;
}
