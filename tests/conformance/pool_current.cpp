// The default and the current memory pool of a device: which is which, and who takes over from a destroyed one.
#include "observe.h"

// DIFFERS default of device: 5.2.3 answers hipErrorInvalidValue; the documentation has an error for devices
//     (HIP 7 documentation of hipDeviceGetDefaultMemPool)
int main() {
    hipMemPool_t first = nullptr, current = nullptr, made = nullptr;
    show("default", hipDeviceGetDefaultMemPool(&first, 0));
    show("a pool", first != nullptr);
    show("current", hipDeviceGetMemPool(&current, 0));
    show("is the default", current == first);
    hipMemPool_t again = nullptr;
    show("default again", hipDeviceGetDefaultMemPool(&again, 0));
    show("the same", again == first);

    show("default of device 99", hipDeviceGetDefaultMemPool(&again, 99));
    show("default of device -1", hipDeviceGetDefaultMemPool(&again, -1));
    show("default into null", hipDeviceGetDefaultMemPool(nullptr, 0));
    show("current of device 99", hipDeviceGetMemPool(&again, 99));
    show("current of device -1", hipDeviceGetMemPool(&again, -1));
    show("current into null", hipDeviceGetMemPool(nullptr, 0));

    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    NEED(hipMemPoolCreate(&made, &props));
    show("another pool", made != first);
    show("create leaves the current one", hipDeviceGetMemPool(&current, 0) == hipSuccess && current == first);
    show("set", hipDeviceSetMemPool(0, made));
    show("get", hipDeviceGetMemPool(&current, 0));
    show("it is", current == made);
    show("the default stays", hipDeviceGetDefaultMemPool(&again, 0) == hipSuccess && again == first);
    show("set null", hipDeviceSetMemPool(0, nullptr));
    show("set for device 99", hipDeviceSetMemPool(99, made));
    show("still", hipDeviceGetMemPool(&current, 0) == hipSuccess && current == made);
    show("set the default", hipDeviceSetMemPool(0, first));
    show("is the default again", hipDeviceGetMemPool(&current, 0) == hipSuccess && current == first);

    NEED(hipDeviceSetMemPool(0, made));
    show("destroy the current one", hipMemPoolDestroy(made));
    show("get", hipDeviceGetMemPool(&current, 0));
    show("the default takes over", current == first);
}
