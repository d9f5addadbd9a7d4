// hipHostGetDevicePointer and hipHostGetFlags of every kind of pointer.
#include "observe.h"

static void ask(const char* label, void* pointer) {
    void* device = reinterpret_cast<void*>(0x10);
    hipError_t error = hipHostGetDevicePointer(&device, pointer, 0);
    line("device pointer of %s: %s", label, observe::name_of(error).c_str());
    if (error == hipSuccess) line("device pointer of %s, the same: %d", label, device == pointer);
    unsigned flags = 0xdead;
    error = hipHostGetFlags(&flags, pointer);
    line("flags of %s: %s", label, observe::name_of(error).c_str());
    if (error == hipSuccess) line("flags of %s, value: %#x", label, flags);
}

int main() {
    char *pinned = nullptr, *device = nullptr, *managed = nullptr, *freed = nullptr;
    NEED(hipHostMalloc(&pinned, 4096, hipHostMallocMapped));
    NEED(hipHostMalloc(&freed, 4096, 0));
    NEED(hipHostFree(freed));
    NEED(hipMalloc(&device, 4096));
    NEED(hipMallocManaged(&managed, 4096));
    std::vector<char> pageable(8192);
    ask("pinned memory", pinned);
    ask("pinned interior", pinned + 77);
    ask("the byte behind pinned memory", pinned + 4096);
    ask("device memory", device);
    ask("managed memory", managed);
    ask("pageable memory", pageable.data());
    ask("freed pinned memory", freed);
    ask("null", nullptr);
    void* out = nullptr;
    unsigned flags = 0;
    show("device pointer into null", hipHostGetDevicePointer(nullptr, pinned, 0));
    show("device pointer with flags", hipHostGetDevicePointer(&out, pinned, 1));
    show("flags into null", hipHostGetFlags(nullptr, pinned));
    show("flags of nothing into nothing", hipHostGetFlags(nullptr, nullptr));
    (void)flags;
    NEED(hipHostFree(pinned));
    NEED(hipFree(device));
    NEED(hipFree(managed));
}
