// Contexts and flags: what the primary context, the current one and the device say of each other.
#include "observe.h"

int main() {
    NEED(hipInit(0));
    hipCtx_t context = nullptr, current = nullptr;
    show("retain", hipDevicePrimaryCtxRetain(&context, 0));
    show("make current", hipCtxSetCurrent(context));
    show("ask for the current", hipCtxGetCurrent(&current));
    show("the same", current == context);
    hipDevice_t device = 7;
    show("its device", hipCtxGetDevice(&device));
    show("is", device);
    show("release", hipDevicePrimaryCtxRelease(0));
    show("retain device 5", hipDevicePrimaryCtxRetain(&context, 5));
    show("release device 5", hipDevicePrimaryCtxRelease(5));
    show("flags of device 5", hipDevicePrimaryCtxSetFlags(5, 0));
    unsigned flags = 0;
    int active = 0;
    show("state of device 5", hipDevicePrimaryCtxGetState(5, &flags, &active));
    show("flags into null", hipGetDeviceFlags(nullptr));
}
