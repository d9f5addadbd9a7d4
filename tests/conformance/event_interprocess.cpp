// Events for other processes: creation and handles.
// DIFFERS interprocess with timing: hipEventDisableTiming must be set as well; HIP 7 header, hipEventCreateWithFlags
#include "captured.h"

int main() {
    hipEvent_t plain, shared = nullptr;
    NEED(hipEventCreate(&plain));
    hipIpcEventHandle_t handle;
    show("interprocess with timing", hipEventCreateWithFlags(&shared, hipEventInterprocess));
    show("interprocess without timing",
         hipEventCreateWithFlags(&shared, hipEventInterprocess | hipEventDisableTiming));
    show("handle of a plain event", hipIpcGetEventHandle(&handle, plain));
    show("handle into null", hipIpcGetEventHandle(nullptr, plain));
    show("handle of null", hipIpcGetEventHandle(&handle, nullptr));
    return 0;
}
