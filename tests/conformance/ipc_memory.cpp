// Handles of memory for other processes: what has none, and what is no handle.
#include "observe.h"

int main() {
    void* memory = nullptr;
    NEED(hipMalloc(&memory, 4096));
    int local = 0;
    hipIpcMemHandle_t handle;
    memset(&handle, 0, sizeof handle);
    show("handle into null", hipIpcGetMemHandle(nullptr, memory));
    show("handle of null", hipIpcGetMemHandle(&handle, nullptr));
    show("handle of an address inside", hipIpcGetMemHandle(&handle, static_cast<char*>(memory) + 64));
    show("handle of a variable", hipIpcGetMemHandle(&handle, &local));
    show("open into null", hipIpcOpenMemHandle(nullptr, handle, hipIpcMemLazyEnablePeerAccess));
    show("close null", hipIpcCloseMemHandle(nullptr));
    show("close an allocation", hipIpcCloseMemHandle(memory));
    show("close a variable", hipIpcCloseMemHandle(&local));
    return 0;
}
