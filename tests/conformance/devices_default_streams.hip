// Two devices: each has a default stream of its own, and is synchronized alone.
// DEVICES: 2
#include "hold.h"

int main() {
    const int count = 256;
    int *memory[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], count * sizeof(int)));
    }
    std::vector<int> host(count);
    Hold hold;

    NEED(hipSetDevice(0));
    wait_until_open<<<1, 1>>>(hold.flag);
    set<<<count / 64, 64>>>(memory[0], 30);
    show("default stream of the first while it is held", hipStreamQuery(nullptr));

    // The second is not held.
    NEED(hipSetDevice(1));
    show("default stream of the second", hipStreamQuery(nullptr));
    (void)hipGetLastError();
    set<<<count / 64, 64>>>(memory[1], 31);
    show("launch on the second", hipGetLastError());
    show("synchronize the second's default stream", hipStreamSynchronize(nullptr));
    show("synchronize the second", hipDeviceSynchronize());
    NEED(hipMemcpy(host.data(), memory[1], count * sizeof(int), hipMemcpyDeviceToHost));
    show_all("the second's memory", host.data(), count, 31);

    NEED(hipSetDevice(0));
    show("the first is still held", hipStreamQuery(nullptr));
    hold.open();
    show("synchronize the first", hipDeviceSynchronize());
    NEED(hipMemcpy(host.data(), memory[0], count * sizeof(int), hipMemcpyDeviceToHost));
    show_all("the first's memory", host.data(), count, 30);

    // A blocking stream waits for the default stream of its own device.
    hipStream_t blocking;
    NEED(hipStreamCreate(&blocking));
    set_slowly<<<count / 64, 64>>>(memory[0], 40, 2000);
    multiply<<<count / 64, 64, 0, blocking>>>(memory[0], 2);
    NEED(hipStreamSynchronize(blocking));
    NEED(hipMemcpy(host.data(), memory[0], count * sizeof(int), hipMemcpyDeviceToHost));
    show_all("behind the default stream", host.data(), count, 80);
    NEED(hipStreamDestroy(blocking));
    for (int device : {0, 1}) NEED(hipFree(memory[device]));
}
