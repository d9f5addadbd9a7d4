// Links between devices where there is only one.
// proves: hipExtGetLinkTypeAndHopCount
#include "observe.h"

int main() {
    uint32_t kind = 77, hops = 77;
    show("to itself", hipExtGetLinkTypeAndHopCount(0, 0, &kind, &hops));
    line("kind and hops: %u %u", kind, hops);
    show("from nowhere", hipExtGetLinkTypeAndHopCount(-1, 0, &kind, &hops));
    show("to nowhere", hipExtGetLinkTypeAndHopCount(0, 99, &kind, &hops));
    show("kind into null", hipExtGetLinkTypeAndHopCount(0, 0, nullptr, &hops));
    return 0;
}
