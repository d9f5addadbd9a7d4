// Two devices: which calls let one reach the memory of the other, and what they answer in which order.
// DEVICES: 2
// proves: hipDeviceCanAccessPeer, hipDeviceEnablePeerAccess, hipDeviceDisablePeerAccess
#include "observe.h"

int main() {
    for (int from : {0, 1}) {
        for (int to : {0, 1, 2, -1}) {
            int can = -1;
            hipError_t result = hipDeviceCanAccessPeer(&can, from, to);
            line("device %d, device %d: %s, %d", from, to, observe::name_of(result).c_str(), can);
        }
    }

    show("disable before it is enabled", hipDeviceDisablePeerAccess(1));
    show("enable with flags", hipDeviceEnablePeerAccess(1, 1));
    show("enable", hipDeviceEnablePeerAccess(1, 0));
    show("enable twice", hipDeviceEnablePeerAccess(1, 0));
    show("last error", hipGetLastError());
    show("enable the current device", hipDeviceEnablePeerAccess(0, 0));
    show("enable device 2", hipDeviceEnablePeerAccess(2, 0));

    // The other direction is another permission.
    NEED(hipSetDevice(1));
    show("disable the other direction", hipDeviceDisablePeerAccess(0));
    show("enable the other direction", hipDeviceEnablePeerAccess(0, 0));
    show("enable the other direction twice", hipDeviceEnablePeerAccess(0, 0));
    show("disable it", hipDeviceDisablePeerAccess(0));
    show("disable it twice", hipDeviceDisablePeerAccess(0));
    NEED(hipSetDevice(0));
    show("disable", hipDeviceDisablePeerAccess(1));
    show("disable twice", hipDeviceDisablePeerAccess(1));
    show("enable again", hipDeviceEnablePeerAccess(1, 0));

    for (int attribute = hipDevP2PAttrPerformanceRank; attribute <= hipDevP2PAttrHipArrayAccessSupported; ++attribute) {
        int value = -1;
        hipError_t result = hipDeviceGetP2PAttribute(&value, static_cast<hipDeviceP2PAttr>(attribute), 0, 1);
        line("attribute %d: %s, %d", attribute, observe::name_of(result).c_str(), value != 0);
    }
    int value = -1;
    show("attribute of a device and itself", hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 1, 1));
    show("attribute of device 2", hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 2));
}
