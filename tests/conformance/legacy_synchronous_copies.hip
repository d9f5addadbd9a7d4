// Copies and fills without a stream come behind the work of blocking streams, and have been done on return.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b;
    NEED(hipMalloc(reinterpret_cast<void**>(&a), 64 * sizeof(int)));
    NEED(hipMalloc(reinterpret_cast<void**>(&b), 64 * sizeof(int)));
    int host[64], from[64];
    hipStream_t blocking;
    NEED(hipStreamCreate(&blocking));
    set_slowly<<<1, 64, 0, blocking>>>(a, 5, 400);
    show("to the host", hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost));
    show_all("data to the host", host, 64, 5);

    for (int& x : from) x = 9;
    set_slowly<<<1, 64, 0, blocking>>>(a, 6, 400);
    show("to the device", hipMemcpy(a, from, sizeof from, hipMemcpyHostToDevice));
    for (int& x : from) x = 1;
    multiply<<<1, 64, 0, blocking>>>(a, 2);
    show("between devices", hipMemcpy(b, a, sizeof host, hipMemcpyDeviceToDevice));
    show("to the host", hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("data through the device", host, 64, 18);

    set_slowly<<<1, 64, 0, blocking>>>(a, 6, 400);
    show("fill", hipMemset(a, 1, sizeof host));
    add<<<1, 64, 0, blocking>>>(a, a, 1);
    show("to the host", hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost));
    show_all("data of the fill", host, 64, 0x01010102);

    // hipMemcpyWithStream waits for its stream only.
    for (int& x : from) x = 30;
    show("copy with a stream", hipMemcpyWithStream(a, from, sizeof from, hipMemcpyHostToDevice, blocking));
    for (int& x : from) x = 1;
    show("and back", hipMemcpyWithStream(host, a, sizeof host, hipMemcpyDeviceToHost, blocking));
    show_all("data with a stream", host, 64, 30);
    return 0;
}
