// Two devices: a kernel launched on a stream of the device that is not current.
// DEVICES: 2
#include "hold.h"

int main() {
    const int count = 256;
    int* memory;
    hipStream_t stream;
    NEED(hipSetDevice(1));
    NEED(hipMalloc(&memory, count * sizeof(int)));
    NEED(hipMemset(memory, 0, count * sizeof(int)));
    NEED(hipStreamCreate(&stream));
    NEED(hipSetDevice(0));
    set<<<count / 64, 64, 0, stream>>>(memory, 6);
    show("launch", hipGetLastError());
    show("synchronize", hipStreamSynchronize(stream));
    std::vector<int> host(count);
    NEED(hipMemcpy(host.data(), memory, count * sizeof(int), hipMemcpyDeviceToHost));
    show("element", host[0]);
    show("last", host[count - 1]);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(memory));
}
