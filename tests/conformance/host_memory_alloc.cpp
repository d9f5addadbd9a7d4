// Pinned host memory: flags, sizes and errors of its five allocation functions.
#include "observe.h"

static void one(const char* label, unsigned flags, size_t bytes = 4096) {
    void* p = nullptr;
    hipError_t error = hipHostMalloc(&p, bytes, flags);
    if (!p) {
        line("%s: %s, nothing", label, observe::name_of(error).c_str());
        return;
    }
    unsigned got = 0xdead;
    hipError_t asked = hipHostGetFlags(&got, p);
    std::memset(p, 1, bytes);
    void* device = nullptr;
    hipError_t mapped = hipHostGetDevicePointer(&device, p, 0);
    line("%s: %s, flags %s %#x, device pointer %s, the same %d", label, observe::name_of(error).c_str(),
         observe::name_of(asked).c_str(), got, observe::name_of(mapped).c_str(), device == p);
    NEED(hipHostFree(p));
}

// DIFFERS flag of: 5.2.3 answers hipHostGetFlags without these flags; its documentation returns those of the
//     allocation
// DIFFERS hipHostAlloc with an unknown flag: 5.2.3 takes any flag; CUDA refuses what is none (cudaHostAlloc)
int main() {
    one("default", hipHostMallocDefault);
    one("portable", hipHostMallocPortable);
    one("mapped", hipHostMallocMapped);
    one("write-combined", hipHostMallocWriteCombined);
    one("flag of NUMA by user", hipHostMallocNumaUser);
    one("flag of coherent", hipHostMallocCoherent);
    one("flag of not coherent", hipHostMallocNonCoherent);
    one("portable and mapped", hipHostMallocPortable | hipHostMallocMapped);
    one("coherent and not", hipHostMallocCoherent | hipHostMallocNonCoherent);
    one("flag of coherent and mapped", hipHostMallocCoherent | hipHostMallocMapped);
    one("unknown flag 0x8", 0x8);
    one("unknown flag 0x100", 0x100);
    one("unknown flag 0x10000000", 0x10000000);
    one("0 bytes", hipHostMallocDefault, 0);
    one("1 byte", hipHostMallocDefault, 1);
    one("0 bytes, unknown flag", 0x100, 0);
    one("SIZE_MAX", hipHostMallocDefault, SIZE_MAX);
    show("into null", hipHostMalloc(static_cast<void**>(nullptr), 16, 0));

    void* p = nullptr;
    show("hipMallocHost", hipMallocHost(&p, 100));
    show("freed by hipHostFree", hipHostFree(p));
    show("hipMemAllocHost", hipMemAllocHost(&p, 100));
    show("freed by hipFreeHost", hipFreeHost(p));
    show("hipHostAlloc", hipHostAlloc(&p, 100, hipHostMallocMapped));
    show("freed by hipFreeHost", hipFreeHost(p));
    show("hipMallocHost of 0 bytes", hipMallocHost(&p, 0));
    show("null", p == nullptr);
    show("hipMallocHost into null", hipMallocHost(nullptr, 16));
    show("hipMemAllocHost into null", hipMemAllocHost(nullptr, 16));
    show("hipHostAlloc into null", hipHostAlloc(nullptr, 16, 0));
    show("hipHostAlloc with an unknown flag", hipHostAlloc(&p, 100, 0x100));
}
