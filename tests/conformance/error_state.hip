// The last error behind failing and succeeding calls of many kinds, launches included.
#include "observe.h"

__global__ void nothing() {}

static void state(const char* label) {
    hipError_t peeked = hipPeekAtLastError(), got = hipGetLastError(), after = hipGetLastError();
    line("%s: peek %s, get %s, then %s", label, observe::name_of(peeked).c_str(), observe::name_of(got).c_str(),
         observe::name_of(after).c_str());
}

// DIFFERS no graph: 6.3 does not keep what hipGraphInstantiate returned; every other call's error is kept
int main() {
    void* p = nullptr;
    state("at first");
    (void)hipMalloc(nullptr, 16);
    state("allocation into null");
    (void)hipMemcpy(nullptr, nullptr, 16, hipMemcpyHostToDevice);
    state("copy to null");
    (void)hipSetDevice(99);
    state("no such device");
    nothing<<<1, 4096>>>();
    state("block too large");
    (void)hipFree(reinterpret_cast<void*>(0x1234));
    state("free of nothing");
    (void)hipStreamQuery(nullptr);
    state("a query of the idle stream");
    (void)hipEventRecord(nullptr, nullptr);
    state("no event");
    (void)hipHostUnregister(&p);
    state("memory that is not registered");
    (void)hipGraphInstantiate(nullptr, nullptr, nullptr, nullptr, 0);
    state("no graph");
    nothing<<<1, 64>>>();
    NEED(hipDeviceSynchronize());
    state("a kernel that runs");
}
