// hipMallocAsync and hipFreeAsync: results, errors, copies in between.
#include "observe.h"

int main() {
    int supported = -1;
    show("attribute", hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    void* p = reinterpret_cast<void*>(0x10);
    hipError_t error = hipMallocAsync(&p, 4096, stream);
    show("allocate", error);
    if (error == hipSuccess) {
        std::vector<char> host(4096, 5), back(4096, 0);
        show("copy there", hipMemcpyAsync(p, host.data(), 4096, hipMemcpyHostToDevice, stream));
        show("copy back", hipMemcpyAsync(back.data(), p, 4096, hipMemcpyDeviceToHost, stream));
        show("free", hipFreeAsync(p, stream));
        show("synchronize", hipStreamSynchronize(stream));
        show("the same", back == host);
    }
    show("into null", hipMallocAsync(nullptr, 4096, stream));
    show("0 bytes", hipMallocAsync(&p, 0, stream));
    show("free of null", hipFreeAsync(nullptr, stream));
    // HIP: 5.2.3 crashes where hipFreeAsync gets what hipMallocAsync did not give.
    // HIP: 5.2.3 does not come back from destroying a stream that has allocated.
}
