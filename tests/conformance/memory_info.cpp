// hipMemGetInfo: free and total memory while allocations come and go.
#include "observe.h"

int main() {
    size_t free0 = 0, total0 = 0;
    show("info", hipMemGetInfo(&free0, &total0));
    hipDeviceProp_t properties;
    NEED(hipGetDeviceProperties(&properties, 0));
    show("total is the property", total0 == properties.totalGlobalMem);
    size_t total_by_driver = 0;
    show("driver's total", hipDeviceTotalMem(&total_by_driver, 0));
    show("total is the driver's", total0 == total_by_driver);
    show("free is at most total", free0 <= total0);
    show("free is not 0", free0 > 0);

    const size_t bytes = 64 << 20;
    void* p = nullptr;
    NEED(hipMalloc(&p, bytes));
    size_t free1 = 0, total1 = 0;
    NEED(hipMemGetInfo(&free1, &total1));
    show("total stays", total1 == total0);
    show("free falls by at least as much", free0 - free1 >= bytes);
    show("free falls by less than twice", free0 - free1 < 2 * bytes);
    NEED(hipFree(p));
    size_t free2 = 0;
    NEED(hipMemGetInfo(&free2, &total1));
    show("free comes back", free2 == free0);

    void* host = nullptr;
    NEED(hipHostMalloc(&host, bytes, hipHostMallocDefault));
    size_t free3 = 0;
    NEED(hipMemGetInfo(&free3, &total1));
    show("pinned host memory is not the device's", free3 == free2);
    NEED(hipHostFree(host));

    // HIP: 5.2.3 crashes on a null result of hipMemGetInfo.
    show("total of no device", hipDeviceTotalMem(&total1, 99));
    show("total into null", hipDeviceTotalMem(nullptr, 0));
}
