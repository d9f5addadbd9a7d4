// Flags of a device: which are accepted, what is read back, before and after work.
#include "observe.h"

// Each from the same start.
static void set(unsigned flags) {
    NEED(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
    line("set %#x: %s", flags, observe::name_of(hipSetDeviceFlags(flags)).c_str());
    unsigned now = ~0u;
    hipError_t result = hipGetDeviceFlags(&now);
    line("flags after %#x: %#x, %s", flags, now, observe::name_of(result).c_str());
}

int main() {
    unsigned flags = ~0u;
    show("get", hipGetDeviceFlags(&flags));
    line("flags at first: %#x", flags);
    show("get to null", hipGetDeviceFlags(nullptr));

    set(hipDeviceScheduleAuto);
    set(hipDeviceScheduleSpin);
    set(hipDeviceScheduleYield);
    set(hipDeviceScheduleBlockingSync);

    // DIFFERS set 0x7: 5.2.3 accepts several ways to wait; CUDA Runtime API (cudaSetDeviceFlags)
    // DIFFERS flags after 0x7: 5.2.3 accepts several ways to wait; CUDA Runtime API (cudaSetDeviceFlags)
    // DIFFERS set 0x3: 5.2.3 accepts several ways to wait; CUDA Runtime API (cudaSetDeviceFlags)
    // DIFFERS flags after 0x3: 5.2.3 accepts several ways to wait; CUDA Runtime API (cudaSetDeviceFlags)
    set(hipDeviceScheduleMask);
    set(hipDeviceScheduleSpin | hipDeviceScheduleYield);

    // Flags that are ignored.
    set(hipDeviceMapHost);
    set(hipDeviceScheduleSpin | hipDeviceMapHost);
    set(hipDeviceLmemResizeToMax);
    set(hipDeviceScheduleSpin | hipDeviceLmemResizeToMax);

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
