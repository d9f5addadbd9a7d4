// Counting and selecting devices, and which calls select one.
#include "observe.h"

int main() {
    show("init", hipInit(0));
    // DIFFERS init with flags: 5.2.3 does not look at them; hip_runtime_api.h (hipInit: should be zero)
    show("init with flags", hipInit(1));
    int count = -1;
    show("count", hipGetDeviceCount(&count));
    show("devices", count);
    show("count to null", hipGetDeviceCount(nullptr));

    int current = -1;
    show("current", hipGetDevice(&current));
    show("current device", current);
    show("current to null", hipGetDevice(nullptr));
    show("set 0", hipSetDevice(0));
    for (int wrong : {-1, 1, 1000}) {
        line("set %d: %s", wrong, observe::name_of(hipSetDevice(wrong)).c_str());
        NEED(hipGetDevice(&current));
        line("current after %d: %d", wrong, current);
    }

    hipDevice_t device = -1;
    show("device of ordinal 0", hipDeviceGet(&device, 0));
    show("device", device);
    show("device of ordinal -1", hipDeviceGet(&device, -1));
    show("device of ordinal 1", hipDeviceGet(&device, 1));
    show("device to null", hipDeviceGet(nullptr, 0));
    show("device after the failures", device);

    hipDeviceProp_t wanted;
    std::memset(&wanted, 0, sizeof wanted);
    int chosen = -1;
    show("choose anything", hipChooseDevice(&chosen, &wanted));
    show("chosen", chosen);
    NEED(hipGetDeviceProperties(&wanted, 0));
    chosen = -1;
    show("choose what is there", hipChooseDevice(&chosen, &wanted));
    show("chosen", chosen);
    wanted.major = 100;
    wanted.totalGlobalMem = ~size_t{0};
    chosen = -1;
    show("choose what nobody has", hipChooseDevice(&chosen, &wanted));
    show("chosen", chosen);
    show("choose to null", hipChooseDevice(nullptr, &wanted));
    show("choose by null", hipChooseDevice(&chosen, nullptr));

    show("synchronize", hipDeviceSynchronize());
    show("reset", hipDeviceReset());
    NEED(hipGetDevice(&current));
    show("current after the reset", current);
}
