// hipLaunchKernel and <<<...>>>: configurations that are refused, and the error that stays behind.
#include "resources.h"

static void one(const char* label, const void* f, dim3 grid, dim3 block, void** args, size_t lds) {
    (void)hipGetLastError();
    show(label, hipLaunchKernel(f, grid, block, args, lds, nullptr));
    line("%s, synchronized: %s", label, observe::name_of(hipDeviceSynchronize()).c_str());
}

// DIFFERS block of: 6.3 says hipErrorInvalidValue, as of a dimension of 0; recorded/hip-6.3.tsv (error_state)
// DIFFERS peeked: as block of 1025; recorded/hip-6.3.tsv (error_state)
// DIFFERS read: as block of 1025; recorded/hip-6.3.tsv (error_state)
// DIFFERS beyond, all LDS: 6.3 says hipErrorInvalidValue; recorded/hip-6.3.tsv (module_launch)
// DIFFERS beyond, static and dynamic LDS: 5.2.3 says hipErrorOutOfMemory, 6.3 launches what no unit can run; as all LDS
int main() {
    int* device = nullptr;
    NEED(hipMalloc(&device, 4096));
    void* args[] = {&device};
    const void* k = reinterpret_cast<const void*>(small);
    int host = 0, lds = 0;
    NEED(hipDeviceGetAttribute(&lds, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
    one("plain", k, dim3(1), dim3(64), args, 0);
    one("null function", nullptr, dim3(1), dim3(64), args, 0);
    one("no kernel", &host, dim3(1), dim3(64), args, 0);
    one("zero, grid x", k, dim3(0), dim3(64), args, 0);
    one("zero, grid y", k, dim3(1, 0), dim3(64), args, 0);
    one("zero, grid z", k, dim3(1, 1, 0), dim3(64), args, 0);
    one("zero, block x", k, dim3(1), dim3(0), args, 0);
    one("zero, block y", k, dim3(1), dim3(64, 0), args, 0);
    one("block of 1024", k, dim3(1), dim3(1024), args, 0);
    one("block of 1025", k, dim3(1), dim3(1025), args, 0);
    one("block of 32 x 33", k, dim3(1), dim3(32, 33), args, 0);
    one("block of 1 x 1 x 1025", k, dim3(1), dim3(1, 1, 1025), args, 0);
    one("within the bounds", reinterpret_cast<const void*>(bounds128), dim3(1), dim3(128), args, 0);
    one("beyond, the bounds", reinterpret_cast<const void*>(bounds128), dim3(1), dim3(129), args, 0);
    one("all LDS", k, dim3(1), dim3(64), args, lds);
    one("beyond, all LDS", k, dim3(1), dim3(64), args, lds + 1);
    one("static and dynamic LDS", reinterpret_cast<const void*>(lds20k), dim3(1), dim3(64), args,
        lds - 20480);
    one("beyond, static and dynamic LDS", reinterpret_cast<const void*>(lds20k), dim3(1), dim3(64), args,
        lds - 20479);
    one("grid beyond 32 bits", k, dim3(0x40000000), dim3(64), args, 0);

    (void)hipGetLastError();
    small<<<1, 2048>>>(device);
    show("peeked", hipPeekAtLastError());
    show("peeked again", hipPeekAtLastError());
    show("read", hipGetLastError());
    show("read again", hipGetLastError());
    small<<<0, 64>>>(device);
    show("zero, grid by <<<>>>", hipGetLastError());
    small<<<1, 64>>>(device);
    show("a good one", hipGetLastError());
    show("synchronize", hipDeviceSynchronize());
    NEED(hipFree(device));
}
