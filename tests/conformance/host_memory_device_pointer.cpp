// hipHostGetDevicePointer and hipHostGetFlags of every kind of pointer.
#include "observe.h"

static void ask(const char* label, void* pointer) {
    void* device = nullptr;
    hipError_t error = hipHostGetDevicePointer(&device, pointer, 0);
    line("device pointer of %s: %s, the same %d", label, observe::name_of(error).c_str(),
         error == hipSuccess && device == pointer);
    unsigned flags = 0;
    error = hipHostGetFlags(&flags, pointer);
    line("flags of %s: %s %#x", label, observe::name_of(error).c_str(), error == hipSuccess ? flags : 0);
}

// DIFFERS flags of device memory: 5.2.3 takes it for the host's; hipHostGetFlags is for memory of
//     hipHostMalloc
// DIFFERS device pointer with flags: 5.2.3 ignores them; they must be 0 (cudaHostGetDevicePointer)
int main() {
    char *pinned = nullptr, *device = nullptr, *managed = nullptr;
    NEED(hipHostMalloc(&pinned, 4096, hipHostMallocMapped));
    NEED(hipMalloc(&device, 4096));
    NEED(hipMallocManaged(&managed, 4096));
    std::vector<char> pageable(8192);
    ask("pinned memory", pinned);
    ask("pinned interior", pinned + 77);
    ask("device memory", device);
    ask("managed memory", managed);
    ask("pageable memory", pageable.data());
    ask("null", nullptr);
    void* out = nullptr;
    show("device pointer into null", hipHostGetDevicePointer(nullptr, pinned, 0));
    show("device pointer with flags", hipHostGetDevicePointer(&out, pinned, 1));
    show("flags into null", hipHostGetFlags(nullptr, pinned));
    show("flags of nothing into nothing", hipHostGetFlags(nullptr, nullptr));
    NEED(hipHostFree(pinned));
    NEED(hipFree(device));
    NEED(hipFree(managed));
}
