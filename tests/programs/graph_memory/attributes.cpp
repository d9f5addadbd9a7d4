// The attributes of a device's graph memory, and what they refuse.
#include "graph_memory.h"

#include <climits>

int main() {
    int supported = 0, devices;
    // hipDeviceAttributeMemoryPoolsSupported
    NEED(hipGetDeviceCount(&devices));
    NEED(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
    show("pools are supported", supported == 1);
    const hipGraphMemAttributeType used = hipGraphMemAttrUsedMemCurrent, used_high = hipGraphMemAttrUsedMemHigh;
    const hipGraphMemAttributeType reserved = hipGraphMemAttrReservedMemCurrent, reserved_high = hipGraphMemAttrReservedMemHigh;
    unsigned long long value = 0;
    for (auto attribute : {used, used_high, reserved, reserved_high}) {
        value = ~0ull;
        show("get", hipDeviceGetGraphMemAttribute(0, attribute, &value));
        show("value", value);
        show("get to nowhere", hipDeviceGetGraphMemAttribute(0, attribute, nullptr));
        value = 0;
        show("set 0", hipDeviceSetGraphMemAttribute(0, attribute, &value));
        value = 1;
        show("set 1", hipDeviceSetGraphMemAttribute(0, attribute, &value));
        show("set from nowhere", hipDeviceSetGraphMemAttribute(0, attribute, nullptr));
    }
    void* const garbage = reinterpret_cast<void*>(-1);
    show("used, from garbage", hipDeviceSetGraphMemAttribute(0, used, garbage));
    show("reserved, from garbage", hipDeviceSetGraphMemAttribute(0, reserved, garbage));
    for (int device : {-1, -3, INT_MAX, devices}) {
        value = 0;
        show("get of no device", hipDeviceGetGraphMemAttribute(device, used, &value));
        show("set of no device", hipDeviceSetGraphMemAttribute(device, used_high, &value));
        show("trim of no device", hipDeviceGraphMemTrim(device));
    }
    for (int unknown : {4, 7, 99, -1}) {
        show("get of no attribute", hipDeviceGetGraphMemAttribute(0, static_cast<hipGraphMemAttributeType>(unknown), &value));
        show("set of no attribute", hipDeviceSetGraphMemAttribute(0, static_cast<hipGraphMemAttributeType>(unknown), &value));
    }
    show("trim", hipDeviceGraphMemTrim(0));

    void* address;
    hipGraph_t graph = graph_of(16 * MiB, true, &address);
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    show_footprint("in use");
    NEED(hipFree(address));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipDeviceGraphMemTrim(0));
    show_footprint("given up");
    NEED(hipDeviceSetGraphMemAttribute(0, used_high, &(value = 0)));
    show_footprint("one mark is reset");
    NEED(hipDeviceSetGraphMemAttribute(0, reserved_high, &(value = 0)));
    show_footprint("both marks are reset");
}
