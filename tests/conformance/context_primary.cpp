// The primary context of a device: retained, released, its state and its flags.
#include "observe.h"

static void state(const char* when) {
    unsigned flags = ~0u;
    int active = -1;
    hipError_t result = hipDevicePrimaryCtxGetState(0, &flags, &active);
    line("state %s: %s, flags %#x, active %d", when, observe::name_of(result).c_str(), flags, active);
}

int main() {
    NEED(hipInit(0));
    // DIFFERS state: AMD's never calls it active; programs ask before they clean up (PyTorch does);
    //     hip_runtime_api.h (hipDevicePrimaryCtxGetState)
    state("at first");
    hipCtx_t context = nullptr, again = nullptr;
    show("retain", hipDevicePrimaryCtxRetain(&context, 0));
    show("a context", context != nullptr);
    state("after retain");
    show("retain again", hipDevicePrimaryCtxRetain(&again, 0));
    show("it is the same", context == again);
    show("retain to null", hipDevicePrimaryCtxRetain(nullptr, 0));
    show("retain of device 1", hipDevicePrimaryCtxRetain(&again, 1));
    show("retain of device -1", hipDevicePrimaryCtxRetain(&again, -1));

    show("make it current", hipCtxSetCurrent(context));
    hipCtx_t current = nullptr;
    NEED(hipCtxGetCurrent(&current));
    show("it is current", current == context);
    state("while current");

    unsigned flags = 0;
    int active = 0;
    show("get state without flags", hipDevicePrimaryCtxGetState(0, nullptr, &active));
    show("get state without active", hipDevicePrimaryCtxGetState(0, &flags, nullptr));
    show("get state of device 1", hipDevicePrimaryCtxGetState(1, &flags, &active));
    show("set flags of device 1", hipDevicePrimaryCtxSetFlags(1, 0));

    show("release", hipDevicePrimaryCtxRelease(0));
    show("release again", hipDevicePrimaryCtxRelease(0));
    show("release of device 1", hipDevicePrimaryCtxRelease(1));
    show("release of device -1", hipDevicePrimaryCtxRelease(-1));
    show("reset of device 1", hipDevicePrimaryCtxReset(1));
    show("reset", hipDevicePrimaryCtxReset(0));

    void* memory = nullptr;
    show("allocate afterwards", hipMalloc(&memory, 64));
    show("free", hipFree(memory));
}
