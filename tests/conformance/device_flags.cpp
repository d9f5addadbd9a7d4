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
    // DIFFERS flags at first: 5.2.3 says how auto waits, not that nothing was set;
    //     hip_runtime_api.h (hipGetDeviceFlags)
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
    // DIFFERS flags after 0x16: 5.2.3 keeps two ways to wait, which its number of the flag holds; the flag is
    //     ignored; hip_runtime_api.h (hipSetDeviceFlags)
    // DIFFERS flags after 0x17: as 0x16; hip_runtime_api.h (hipSetDeviceFlags)
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
    // DIFFERS flags after a reset: 5.2.3 keeps them; a reset makes a fresh state; hip_runtime_api.h
    //     (hipDeviceReset)
    line("flags after a reset: %#x", flags);
}
