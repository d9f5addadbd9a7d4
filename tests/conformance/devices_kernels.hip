// Two devices: kernels run on the device whose stream they are on, and reach what they have access to.
// DEVICES: 2
#include "hold.h"

int main() {
    const int count = 256;
    int *memory[2], *result[2];
    hipStream_t stream[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], count * sizeof(int)));
        NEED(hipMalloc(&result[device], count * sizeof(int)));
        NEED(hipStreamCreateWithFlags(&stream[device], hipStreamNonBlocking));
    }
    std::vector<int> host(count);

    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        set<<<count / 64, 64, 0, stream[device]>>>(memory[device], 10 + device);
        show("launch on its own device", hipGetLastError());
        NEED(hipStreamSynchronize(stream[device]));
        NEED(hipMemcpy(host.data(), memory[device], count * sizeof(int), hipMemcpyDeviceToHost));
        show_all("its memory", host.data(), count, 10 + device);
    }

    // Each reads the other's memory.
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipDeviceEnablePeerAccess(1 - device, 0));
    }
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        add<<<count / 64, 64, 0, stream[device]>>>(result[device], memory[1 - device], 5);
        show("launch that reads the other's memory", hipGetLastError());
        NEED(hipStreamSynchronize(stream[device]));
        NEED(hipMemcpy(host.data(), result[device], count * sizeof(int), hipMemcpyDeviceToHost));
        show_all("what it read, and 5", host.data(), count, 16 - device);
    }

    // Each writes the other's memory.
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        set<<<count / 64, 64, 0, stream[device]>>>(memory[1 - device], 100 + device);
        NEED(hipStreamSynchronize(stream[device]));
        NEED(hipMemcpy(host.data(), memory[1 - device], count * sizeof(int), hipMemcpyDeviceToHost));
        show_all("what it wrote", host.data(), count, 100 + device);
    }

    // Memory of the host is everybody's.
    int* pinned = nullptr;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 2 * 64 * sizeof(int), hipHostMallocPortable));
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        set<<<1, 64, 0, stream[device]>>>(pinned + 64 * device, 7 + device);
    }
    for (int device : {0, 1}) NEED(hipStreamSynchronize(stream[device]));
    show_all("pinned, from the first", pinned, 64, 7);
    show_all("pinned, from the second", pinned + 64, 64, 8);

    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipStreamDestroy(stream[device]));
        NEED(hipFree(memory[device]));
        NEED(hipFree(result[device]));
    }
    NEED(hipHostFree(pinned));
}
