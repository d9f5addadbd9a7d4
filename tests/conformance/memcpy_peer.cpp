// hipMemcpyPeer and hipMemcpyPeerAsync on one device: ordinals and operands.
#include "observe.h"

int main() {
    const int count = 1000;
    int *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, count * sizeof(int)));
    NEED(hipMalloc(&b, count * sizeof(int)));
    std::vector<int> host(count), back(count, -1);
    for (int i = 0; i < count; ++i) host[i] = i ^ 0x55;
    NEED(hipMemcpy(a, host.data(), count * sizeof(int), hipMemcpyHostToDevice));
    show("peer copy to itself", hipMemcpyPeer(b, 0, a, 0, count * sizeof(int)));
    NEED(hipMemcpy(back.data(), b, count * sizeof(int), hipMemcpyDeviceToHost));
    show("the same", back == host);
    show("0 bytes", hipMemcpyPeer(b, 0, a, 0, 0));
    show("null destination", hipMemcpyPeer(nullptr, 0, a, 0, 16));
    show("null source", hipMemcpyPeer(b, 0, nullptr, 0, 16));
    show("no such destination device", hipMemcpyPeer(b, 7, a, 0, 16));
    show("no such source device", hipMemcpyPeer(b, 0, a, 7, 16));
    show("negative device", hipMemcpyPeer(b, -1, a, 0, 16));
    show("too many bytes", hipMemcpyPeer(b, 0, a, 0, count * sizeof(int) + 4));

    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    std::vector<int> zero(count, 0);
    NEED(hipMemcpy(b, zero.data(), count * sizeof(int), hipMemcpyHostToDevice));
    show("async", hipMemcpyPeerAsync(b, 0, a, 0, count * sizeof(int), stream));
    show("synchronize", hipStreamSynchronize(stream));
    NEED(hipMemcpy(back.data(), b, count * sizeof(int), hipMemcpyDeviceToHost));
    show("the same again", back == host);
    show("async, null source", hipMemcpyPeerAsync(b, 0, nullptr, 0, 16, stream));
    show("async, no such device", hipMemcpyPeerAsync(b, 0, a, 7, 16, stream));
    int can = -1;
    show("access to itself", hipDeviceCanAccessPeer(&can, 0, 0));
    show("can", can);
    show("enable access to itself", hipDeviceEnablePeerAccess(0, 0));
    show("disable access to itself", hipDeviceDisablePeerAccess(0));
    show("enable with flags", hipDeviceEnablePeerAccess(0, 1));
    show("enable no such device", hipDeviceEnablePeerAccess(7, 0));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
