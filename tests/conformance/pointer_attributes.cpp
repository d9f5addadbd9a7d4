// hipPointerGetAttributes of every kind of pointer.
#include "observe.h"

static void ask(const char* label, void* pointer, void* host) {
    hipPointerAttribute_t got;
    std::memset(&got, 0x5a, sizeof got);
    hipError_t error = hipPointerGetAttributes(&got, pointer);
    line("%s: %s", label, observe::name_of(error).c_str());
    // Up to HIP 5 pageable memory was an error.
    if (error != hipSuccess) return;
    line("%s, kind: %d", label, int(got.memoryType));
    line("%s, device: %d", label, got.device);
    line("%s, device pointer: %s", label,
         !got.devicePointer             ? "null"
         : got.devicePointer == pointer ? "the same"
                                        : "another");
    line("%s, host pointer: %s", label,
         !got.hostPointer          ? "null"
         : got.hostPointer == host ? "the same"
                                   : "another");
    line("%s, managed: %d", label, got.isManaged);
    line("%s, flags: %u", label, got.allocationFlags);
}

// DIFFERS managed memory, kind: a program of HIP 5 has no number for managed memory; header of HIP 5, hipMemoryType
// DIFFERS managed interior, kind: as for managed memory; header of HIP 5, hipMemoryType
// DIFFERS pageable memory: a program of HIP 5 has no number for memory that no device reaches, and would take the
//     6.3 answer for host memory that is pinned; header of HIP 5, hipMemoryType
// DIFFERS freed memory: as for pageable memory; header of HIP 5, hipMemoryType
// DIFFERS stack memory: as for pageable memory; header of HIP 5, hipMemoryType
// DIFFERS coherent pinned memory, flags: 5.2.3 drops this flag; the header has the flags of the allocation
//     here
int main() {
    char *device = nullptr, *pinned = nullptr, *coherent = nullptr, *managed = nullptr, *freed = nullptr;
    NEED(hipMalloc(&device, 4096));
    NEED(hipHostMalloc(&pinned, 4096, hipHostMallocDefault));
    NEED(hipHostMalloc(&coherent, 4096, hipHostMallocCoherent | hipHostMallocPortable));
    NEED(hipMallocManaged(&managed, 4096));
    NEED(hipMalloc(&freed, 1 << 20));
    NEED(hipFree(freed));
    std::vector<char> pageable(8192), registered(8192);
    NEED(hipHostRegister(registered.data(), registered.size(), hipHostRegisterDefault));

    ask("device memory", device, nullptr);
    ask("device interior", device + 100, nullptr);
    ask("pinned memory", pinned, pinned);
    ask("pinned interior", pinned + 100, pinned + 100);
    ask("coherent pinned memory", coherent, coherent);
    ask("managed memory", managed, managed);
    ask("managed interior", managed + 100, managed + 100);
    ask("registered memory", registered.data(), registered.data());
    ask("registered interior", registered.data() + 100, registered.data() + 100);
    // HIP: 5.2.3 aborts in hipHostUnregister where the device's address of the memory is the host's.
    ask("pageable memory", pageable.data(), pageable.data());
    ask("freed memory", freed, nullptr);
    int local = 0;
    ask("stack memory", &local, &local);
    ask("null", nullptr, nullptr);
    show("last error", hipGetLastError());
    show("into null", hipPointerGetAttributes(nullptr, device));
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
    NEED(hipHostFree(coherent));
    NEED(hipFree(managed));
}
