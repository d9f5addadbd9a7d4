// The identity of a device: it is the same on every call, and errors of asking for it.
#include "observe.h"

int main() {
    hipUUID first, second;
    std::memset(&first, 0x11, sizeof first);
    std::memset(&second, 0x22, sizeof second);
    show("ask", hipDeviceGetUuid(&first, 0));
    show("ask again", hipDeviceGetUuid(&second, 0));
    show("the same", std::memcmp(&first, &second, sizeof first) == 0);
    show("device 1 of 1", hipDeviceGetUuid(&first, 1));
    show("device -1", hipDeviceGetUuid(&first, -1));
    show("null", hipDeviceGetUuid(nullptr, 0));
    char address[64] = {}, again[64] = {};
    int device = -1;
    show("address", hipDeviceGetPCIBusId(address, sizeof address, 0));
    show("device at the address", hipDeviceGetByPCIBusId(&device, address));
    show("is", device);
    show("address again", hipDeviceGetPCIBusId(again, sizeof again, 0));
    show("the same address", std::strcmp(address, again) == 0);
    show("no address", hipDeviceGetByPCIBusId(&device, "ffff:ff:1f.7"));
    show("no text", hipDeviceGetByPCIBusId(&device, nullptr));
    show("into null", hipDeviceGetByPCIBusId(nullptr, address));
    show("address of device 7", hipDeviceGetPCIBusId(address, sizeof address, 7));
}
