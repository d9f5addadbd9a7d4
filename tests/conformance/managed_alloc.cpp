// hipMallocManaged and hipStreamAttachMemAsync: sizes, flags, and what host and device copies see.
#include "observe.h"

// DIFFERS attach without a size: 5.2.3 refuses; a length of 0 is the whole allocation
//     (cudaStreamAttachMemAsync)
int main() {
    int* p = nullptr;
    show("global", hipMallocManaged(&p, 4096, hipMemAttachGlobal));
    show("free", hipFree(p));
    show("host", hipMallocManaged(&p, 4096, hipMemAttachHost));
    show("free", hipFree(p));
    show("flags 0", hipMallocManaged(reinterpret_cast<void**>(&p), 4096, 0));
    show("single", hipMallocManaged(&p, 4096, hipMemAttachSingle));
    show("global and host", hipMallocManaged(&p, 4096, hipMemAttachGlobal | hipMemAttachHost));
    show("unknown flag", hipMallocManaged(&p, 4096, 0x100));
    show("0 bytes", hipMallocManaged(&p, 0, hipMemAttachGlobal));
    show("null", hipMallocManaged(static_cast<void**>(nullptr), 4096, hipMemAttachGlobal));
    show("SIZE_MAX", hipMallocManaged(&p, SIZE_MAX, hipMemAttachGlobal));

    NEED(hipMallocManaged(&p, 4096, hipMemAttachGlobal));
    for (int i = 0; i < 1024; ++i) p[i] = i;
    int* device = nullptr;
    NEED(hipMalloc(&device, 4096));
    show("to the device", hipMemcpy(device, p, 4096, hipMemcpyDefault));
    for (int i = 0; i < 1024; ++i) p[i] = -1;
    show("and back", hipMemcpy(p, device, 4096, hipMemcpyDefault));
    NEED(hipDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 1024; ++i) wrong += p[i] != i;
    show("wrong", wrong);

    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("attach without a size", hipStreamAttachMemAsync(stream, p, 0, hipMemAttachSingle));
    show("attach with its size", hipStreamAttachMemAsync(stream, p, 4096, hipMemAttachGlobal));
    show("attach a part", hipStreamAttachMemAsync(stream, p, 100, hipMemAttachSingle));
    show("attach with unknown flags", hipStreamAttachMemAsync(stream, p, 0, 0x40));
    show("attach null", hipStreamAttachMemAsync(stream, nullptr, 0, hipMemAttachSingle));
    show("attach device memory", hipStreamAttachMemAsync(stream, device, 0, hipMemAttachSingle));
    show("synchronize", hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
    NEED(hipFree(p));
}
