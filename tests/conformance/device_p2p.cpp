// Peers of one device alone: attributes of links, access to itself and to devices that are not there.
#include "observe.h"

int main() {
    int value = 77;
    for (int attribute = 0; attribute < 5; ++attribute) {
        auto asked = static_cast<hipDeviceP2PAttr>(attribute);
        line("attribute %d, device with itself: %s", attribute,
             observe::name_of(hipDeviceGetP2PAttribute(&value, asked, 0, 0)).c_str());
        line("attribute %d, no such device: %s", attribute,
             observe::name_of(hipDeviceGetP2PAttribute(&value, asked, 0, 9)).c_str());
    }
    show("into null", hipDeviceGetP2PAttribute(nullptr, hipDevP2PAttrAccessSupported, 0, 0));
    show("can it access itself", hipDeviceCanAccessPeer(&value, 0, 0));
    show("value", value);
    show("no such peer", hipDeviceCanAccessPeer(&value, 0, 4));
    show("no such device", hipDeviceCanAccessPeer(&value, -1, 0));
    show("enable for itself", hipDeviceEnablePeerAccess(0, 0));
    show("enable for none", hipDeviceEnablePeerAccess(3, 0));
    show("enable with flags", hipDeviceEnablePeerAccess(0, 1));
    show("disable for itself", hipDeviceDisablePeerAccess(0));
    show("disable for none", hipDeviceDisablePeerAccess(3));
}
