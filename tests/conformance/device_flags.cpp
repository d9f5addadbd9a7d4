// Flags of a device: which are accepted, what is read back, before and after work.
#include "observe.h"

static void set(unsigned flags) {
    line("set %#x: %s", flags, observe::name_of(hipSetDeviceFlags(flags)).c_str());
    unsigned now = ~0u;
    hipError_t result = hipGetDeviceFlags(&now);
    line("flags after %#x: %#x, %s", flags, now, observe::name_of(result).c_str());
}

int main() {
    unsigned flags = ~0u;
    show("get", hipGetDeviceFlags(&flags));
    line("flags: %#x", flags);
    show("get to null", hipGetDeviceFlags(nullptr));

    set(hipDeviceScheduleAuto);
    set(hipDeviceScheduleSpin);
    set(hipDeviceScheduleYield);
    set(hipDeviceScheduleBlockingSync);
    set(hipDeviceScheduleMask);
    set(hipDeviceScheduleSpin | hipDeviceScheduleYield);
    set(hipDeviceMapHost);
    set(hipDeviceLmemResizeToMax);
    set(hipDeviceScheduleSpin | hipDeviceMapHost);
    set(hipDeviceScheduleBlockingSync | hipDeviceLmemResizeToMax);
    set(0x20);
    set(0x100);
    set(~0u);

    // With the device in use.
    void* memory = nullptr;
    NEED(hipMalloc(&memory, 64));
    set(hipDeviceScheduleYield);
    NEED(hipFree(memory));
    NEED(hipDeviceReset());
    NEED(hipGetDeviceFlags(&flags));
    line("flags after a reset: %#x", flags);
}
