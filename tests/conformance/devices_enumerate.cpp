// Two devices: counting, selecting and telling them apart.
// DEVICES: 2
// CARD: architecture
#include "observe.h"

#include <set>

int main() {
    int count = -1;
    show("count", hipGetDeviceCount(&count));
    show("devices", count);

    int current = -1;
    NEED(hipGetDevice(&current));
    show("first current device", current);
    for (int device : {1, 0, 1, 2, -1, 1000}) {
        line("set %d: %s", device, observe::name_of(hipSetDevice(device)).c_str());
        NEED(hipGetDevice(&current));
        line("current after %d: %d", device, current);
    }

    std::set<std::string> places;
    for (int device = 0; device < count; ++device) {
        std::string at = "device " + std::to_string(device);
        hipDevice_t handle = -1;
        show((at + ", handle").c_str(), hipDeviceGet(&handle, device));
        show((at + ", handle is the ordinal").c_str(), handle == device);

        hipDeviceProp_t properties;
        NEED(hipGetDeviceProperties(&properties, device));
        show((at + ", architecture").c_str(), properties.gcnArchName);
        show((at + ", on several boards").c_str(), properties.isMultiGpuBoard);
        int compute_units = -1;
        NEED(hipDeviceGetAttribute(&compute_units, hipDeviceAttributeMultiprocessorCount, device));
        show((at + ", attribute and property agree").c_str(), compute_units == properties.multiProcessorCount);

        char place[64] = "";
        show((at + ", bus id").c_str(), hipDeviceGetPCIBusId(place, sizeof place, device));
        places.insert(place);
        int found = -1;
        show((at + ", by its bus id").c_str(), hipDeviceGetByPCIBusId(&found, place));
        show((at + ", is found").c_str(), found == device);

        size_t total = 0, free = 0, whole = 0;
        NEED(hipSetDevice(device));
        NEED(hipMemGetInfo(&free, &whole));
        NEED(hipDeviceTotalMem(&total, device));
        show((at + ", memory info is its own").c_str(), whole == total && total == properties.totalGlobalMem);
    }
    show("different places", places.size());

    // Both are alike, so either would do; which one it is, is told by the call.
    hipDeviceProp_t wanted;
    NEED(hipGetDeviceProperties(&wanted, 1));
    int chosen = -1;
    show("choose what device 1 is", hipChooseDevice(&chosen, &wanted));
    show("chosen", chosen);

    int value = -1;
    show("attribute of device 2", hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 2));
    show("properties of device 2", hipGetDeviceProperties(&wanted, 2));
    hipDevice_t handle = -1;
    show("handle of device 2", hipDeviceGet(&handle, 2));
}
