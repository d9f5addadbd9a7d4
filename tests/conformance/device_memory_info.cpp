// Free and total memory of the device, before and after allocations.
#include "observe.h"

int main() {
    size_t free = 0, total = 0;
    show("info", hipMemGetInfo(&free, &total));
    size_t bytes = 0;
    NEED(hipDeviceTotalMem(&bytes, 0));
    show("total is the device's", total == bytes);
    show("free is at most total", free <= total);
    show("free is most of it", free > total / 2);
    // 5.2.3 crashes if either pointer is null.

    size_t before = 0, during = 0, after = 0;
    NEED(hipMemGetInfo(&before, &total));
    void* memory = nullptr;
    NEED(hipMalloc(&memory, 64 << 20));
    NEED(hipMemGetInfo(&during, &total));
    show("an allocation takes its size", before - during == 64 << 20);
    NEED(hipFree(memory));
    NEED(hipMemGetInfo(&after, &total));
    show("a free gives it back", after == before);

    void* pinned = nullptr;
    NEED(hipHostMalloc(&pinned, 64 << 20, hipHostMallocDefault));
    NEED(hipMemGetInfo(&during, &total));
    show("pinned memory takes none", before == during);
    NEED(hipHostFree(pinned));

    // More than there is.
    show("allocate everything twice", hipMalloc(&memory, total * 2));
    show("error stays", hipGetLastError());
    show("allocate the largest number", hipMalloc(&memory, ~size_t{0}));
    NEED(hipMemGetInfo(&after, &total));
    show("failures take nothing", after == before);
}
