// What fills refuse: null, ranges that leave their allocation, pageable memory; fills of host memory.
#include "observe.h"

// DIFFERS too far in: 5.2.3 writes behind the allocation; cudaMemset
int main() {
    const size_t bytes = 4096;
    unsigned char *device = nullptr, *pinned = nullptr, *managed = nullptr;
    NEED(hipMalloc(&device, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    NEED(hipMallocManaged(&managed, bytes));
    std::vector<unsigned char> pageable(bytes, 1);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    show("null", hipMemset(nullptr, 0, 16));
    show("null, 0 bytes", hipMemset(nullptr, 0, 0));
    show("0 bytes", hipMemset(device, 0, 0));
    show("one byte too many", hipMemset(device, 0, bytes + 1));
    show("too far in", hipMemset(device + 1, 0, bytes));
    show("SIZE_MAX", hipMemset(device, 0, SIZE_MAX));
    show("pageable", hipMemset(pageable.data(), 0, 16));
    show("a small number", hipMemset(reinterpret_cast<void*>(0x1000), 0, 16));
    show("D8, null", hipMemsetD8(nullptr, 0, 16));
    show("D8, 0 elements", hipMemsetD8(device, 0, 0));
    show("D8, too many", hipMemsetD8(device, 0, bytes + 1));
    show("D16, null", hipMemsetD16(nullptr, 0, 16));
    show("D16, 0 elements", hipMemsetD16(device, 0, 0));
    show("D16, too many", hipMemsetD16(device, 0, bytes / 2 + 1));
    show("D32, null", hipMemsetD32(nullptr, 0, 16));
    show("D32, 0 elements", hipMemsetD32(device, 0, 0));
    show("D32, too many", hipMemsetD32(device, 0, bytes / 4 + 1));
    show("async, null", hipMemsetAsync(nullptr, 0, 16, stream));
    show("async, 0 bytes", hipMemsetAsync(device, 0, 0, stream));
    show("async, too many", hipMemsetAsync(device, 0, bytes + 1, stream));
    show("D8 async, null", hipMemsetD8Async(nullptr, 0, 16, stream));
    show("D16 async, null", hipMemsetD16Async(nullptr, 0, 16, stream));
    show("D32 async, null", hipMemsetD32Async(nullptr, 0, 16, stream));
    show("D32 async, too many", hipMemsetD32Async(device, 0, bytes / 4 + 1, stream));
    show("pinned", hipMemset(pinned, 0x21, bytes));
    NEED(hipDeviceSynchronize());
    line("pinned bytes: %#x %#x", pinned[0], pinned[bytes - 1]);
    show("managed", hipMemset(managed, 0x22, bytes));
    NEED(hipDeviceSynchronize());
    line("managed bytes: %#x %#x", managed[0], managed[bytes - 1]);
    show("pinned D32 async", hipMemsetD32Async(pinned, 0x01020304, bytes / 4, stream));
    show("synchronize", hipStreamSynchronize(stream));
    line("pinned words: %#x %#x", pinned[0], pinned[bytes - 1]);
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
    NEED(hipFree(managed));
}
