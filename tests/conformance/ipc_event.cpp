// Events for other processes: handles, what is no handle, and what their own process may do with them.
#include "observe.h"

int main() {
    hipEvent_t plain, shared, opened = nullptr;
    NEED(hipEventCreateWithFlags(&plain, hipEventDisableTiming));
    NEED(hipEventCreateWithFlags(&shared, hipEventInterprocess | hipEventDisableTiming));
    hipIpcEventHandle_t handle;
    memset(&handle, 0, sizeof handle);
    show("handle into null", hipIpcGetEventHandle(nullptr, shared));
    show("handle of a plain event", hipIpcGetEventHandle(&handle, plain));
    show("handle of the event", hipIpcGetEventHandle(&handle, shared));
    hipIpcEventHandle_t again;
    memset(&again, 0, sizeof again);
    show("handle once more", hipIpcGetEventHandle(&again, shared));
    line("the same handle: %d", memcmp(&handle, &again, sizeof handle) == 0);
    show("open into null", hipIpcOpenEventHandle(nullptr, handle));
    show("open in the same process", hipIpcOpenEventHandle(&opened, handle));
    show("query unrecorded", hipEventQuery(shared));
    show("record", hipEventRecord(shared, nullptr));
    show("synchronize", hipEventSynchronize(shared));
    show("query", hipEventQuery(shared));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("wait on a stream", hipStreamWaitEvent(stream, shared, 0));
    show("synchronize the stream", hipStreamSynchronize(stream));
    float time = 0;
    show("elapsed time", hipEventElapsedTime(&time, shared, shared));
    fflush(stdout);
    _Exit(0);  // 5.2.3 aborts when such an event is destroyed
}
