// Name, memory, capability, bus address and identity of the device, and buffers too small for them.
// CARD: capability and name
#include "observe.h"

int main() {
    hipDeviceProp_t properties;
    NEED(hipGetDeviceProperties(&properties, 0));
    hipDevice_t device;
    NEED(hipDeviceGet(&device, 0));

    char name[256];
    show("name", hipDeviceGetName(name, sizeof name, device));
    show("it is the name of the properties", std::strcmp(name, properties.name) == 0);
    const int length = static_cast<int>(std::strlen(name));
    char small[256];
    for (int room : {length - 1, length, length + 1}) {
        std::memset(small, '#', sizeof small);
        show("name without room or with just enough", hipDeviceGetName(small, room, device));
        const char* written = std::strcmp(small, name) == 0 ? "whole" : "not whole";
        line("the name is written: %s, the byte behind: %s", written,
             small[room] == '#' ? "untouched" : "written");
    }
    show("name in 0 bytes", hipDeviceGetName(small, 0, device));
    show("name in -1 bytes", hipDeviceGetName(small, -1, device));
    show("name to null", hipDeviceGetName(nullptr, 16, device));
    show("name of device 1", hipDeviceGetName(name, sizeof name, 1));
    show("name of device -1", hipDeviceGetName(name, sizeof name, -1));

    size_t bytes = 0;
    show("total memory", hipDeviceTotalMem(&bytes, device));
    show("it is that of the properties", bytes == properties.totalGlobalMem);
    show("total memory to null", hipDeviceTotalMem(nullptr, device));
    show("total memory of device 1", hipDeviceTotalMem(&bytes, 1));

    int major = -1, minor = -1;
    show("capability", hipDeviceComputeCapability(&major, &minor, device));
    line("capability: %d.%d", major, minor);
    show("it is that of the properties", major == properties.major && minor == properties.minor);
    show("capability without major", hipDeviceComputeCapability(nullptr, &minor, device));
    show("capability without minor", hipDeviceComputeCapability(&major, nullptr, device));
    show("capability of device 1", hipDeviceComputeCapability(&major, &minor, 1));

    char bus[32];
    show("bus address", hipDeviceGetPCIBusId(bus, sizeof bus, 0));
    char expected[32];
    std::snprintf(expected, sizeof expected, "%04x:%02x:%02x.0", properties.pciDomainID, properties.pciBusID,
                  properties.pciDeviceID);
    show("it is that of the properties", std::strcmp(bus, expected) == 0);
    show("bus address in 13 bytes", hipDeviceGetPCIBusId(bus, 13, 0));
    // DIFFERS bus address in 12 bytes: 5.2.3 leaves out the function; the buffer must hold 13 bytes;
    //     CUDA Runtime API (cudaDeviceGetPCIBusId)
    show("bus address in 12 bytes", hipDeviceGetPCIBusId(bus, 12, 0));
    show("bus address in -1 bytes", hipDeviceGetPCIBusId(bus, -1, 0));
    show("bus address to null", hipDeviceGetPCIBusId(nullptr, 13, 0));
    show("bus address of device 1", hipDeviceGetPCIBusId(bus, sizeof bus, 1));

    int found = -1;
    show("device at its address", hipDeviceGetByPCIBusId(&found, expected));
    show("found", found);
    show("device at another address", hipDeviceGetByPCIBusId(&found, "7fff:1f:1e.0"));
    show("device at no address", hipDeviceGetByPCIBusId(&found, "nonsense"));
    show("device at an empty address", hipDeviceGetByPCIBusId(&found, ""));
    show("device at null", hipDeviceGetByPCIBusId(&found, nullptr));
    show("device to null", hipDeviceGetByPCIBusId(nullptr, expected));

    hipUUID uuid, again;
    show("uuid", hipDeviceGetUuid(&uuid, device));
    NEED(hipDeviceGetUuid(&again, device));
    show("it stays", std::memcmp(&uuid, &again, sizeof uuid) == 0);
    const char zero[sizeof uuid] = {};
    show("it is zero", std::memcmp(&uuid, zero, sizeof uuid) == 0);
    show("uuid to null", hipDeviceGetUuid(nullptr, device));
    show("uuid of device 1", hipDeviceGetUuid(&uuid, 1));
}
