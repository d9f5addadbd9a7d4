// Access of devices to each other where there is only one.
#include "observe.h"

int main() {
    int can = -1;
    show("can access itself", hipDeviceCanAccessPeer(&can, 0, 0));
    show("can", can);
    can = -1;
    show("can access device 1", hipDeviceCanAccessPeer(&can, 0, 1));
    show("can", can);
    show("device 1 can access", hipDeviceCanAccessPeer(&can, 1, 0));
    show("can access device -1", hipDeviceCanAccessPeer(&can, 0, -1));
    show("can access to null", hipDeviceCanAccessPeer(nullptr, 0, 0));

    show("enable itself", hipDeviceEnablePeerAccess(0, 0));
    show("enable itself again", hipDeviceEnablePeerAccess(0, 0));
    show("enable with flags", hipDeviceEnablePeerAccess(0, 1));
    show("enable device 1", hipDeviceEnablePeerAccess(1, 0));
    show("enable device -1", hipDeviceEnablePeerAccess(-1, 0));
    show("disable itself", hipDeviceDisablePeerAccess(0));
    show("disable itself again", hipDeviceDisablePeerAccess(0));
    show("disable device 1", hipDeviceDisablePeerAccess(1));
    show("disable device -1", hipDeviceDisablePeerAccess(-1));

    int value = -1;
    show("attribute to null", hipDeviceGetP2PAttribute(nullptr, hipDevP2PAttrAccessSupported, 0, 0));
    for (int attribute = 0; attribute < 5; ++attribute) {
        value = -1;
        hipError_t result = hipDeviceGetP2PAttribute(&value, static_cast<hipDeviceP2PAttr>(attribute), 0, 0);
        line("attribute %d of itself: %s, %d", attribute, observe::name_of(result).c_str(), value);
    }
    show("attribute of device 1", hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 1));
    show("attribute of device -1", hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, -1, 0));

    // Copies from device to device within one.
    char* from = nullptr;
    char* to = nullptr;
    NEED(hipMalloc(&from, 256));
    NEED(hipMalloc(&to, 256));
    show("copy", hipMemcpyPeer(to, 0, from, 0, 256));
    show("copy nothing", hipMemcpyPeer(to, 0, from, 0, 0));
    show("copy to device 1", hipMemcpyPeer(to, 1, from, 0, 256));
    show("copy from device 1", hipMemcpyPeer(to, 0, from, 1, 256));
    show("copy from device -1", hipMemcpyPeer(to, 0, from, -1, 256));
    show("copy asynchronously", hipMemcpyPeerAsync(to, 0, from, 0, 256, nullptr));
    NEED(hipDeviceSynchronize());
    NEED(hipFree(from));
    NEED(hipFree(to));
}
