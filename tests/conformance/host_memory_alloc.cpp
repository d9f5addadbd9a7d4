// Pinned host memory: flags, sizes and errors of its five allocation functions.
#include "observe.h"

static void one(const char* label, unsigned flags, size_t bytes = 4096) {
    void* p = reinterpret_cast<void*>(0x10);
    hipError_t error = hipHostMalloc(&p, bytes, flags);
    line("%s: %s", label, observe::name_of(error).c_str());
    if (error != hipSuccess) return;
    line("%s, null: %d", label, p == nullptr);
    if (!p) return;
    unsigned got = 0xdead;
    hipError_t asked = hipHostGetFlags(&got, p);
    line("%s, flags: %s %#x", label, observe::name_of(asked).c_str(), got);
    std::memset(p, 1, bytes);
    void* device = nullptr;
    hipError_t mapped = hipHostGetDevicePointer(&device, p, 0);
    line("%s, device pointer: %s, the same %d", label, observe::name_of(mapped).c_str(), device == p);
    NEED(hipHostFree(p));
}

int main() {
    one("default", hipHostMallocDefault);
    one("portable", hipHostMallocPortable);
    one("mapped", hipHostMallocMapped);
    one("write-combined", hipHostMallocWriteCombined);
    one("NUMA by user", hipHostMallocNumaUser);
    one("coherent", hipHostMallocCoherent);
    one("not coherent", hipHostMallocNonCoherent);
    one("portable and mapped", hipHostMallocPortable | hipHostMallocMapped);
    one("coherent and not", hipHostMallocCoherent | hipHostMallocNonCoherent);
    one("coherent and mapped", hipHostMallocCoherent | hipHostMallocMapped);
    one("unknown flag 0x8", 0x8);
    one("unknown flag 0x100", 0x100);
    one("unknown high flag", 0x10000000);
    one("0 bytes", hipHostMallocDefault, 0);
    one("1 byte", hipHostMallocDefault, 1);
    one("0 bytes, bad flag", 0x100, 0);
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
    show("hipHostAlloc with a bad flag", hipHostAlloc(&p, 100, 0x100));
}
