// hipExtMallocWithFlags: kinds of device memory by flag.
#include "observe.h"

static void one(const char* label, unsigned flags, size_t bytes) {
    void* p = nullptr;
    hipError_t error = hipExtMallocWithFlags(&p, bytes, flags);
    hipPointerAttribute_t attributes;
    std::memset(&attributes, 0, sizeof attributes);
    if (p) NEED(hipPointerGetAttributes(&attributes, p));
    line("%s: %s, set %d, kind %d, device %d, managed %d", label, observe::name_of(error).c_str(),
         p != nullptr, int(attributes.memoryType), attributes.device, attributes.isManaged);
    if (p) NEED(hipFree(p));
}

// DIFFERS fine-grained memory: the driver that 5.2.3 runs on here has no such pool; the emulated device and newer
//     drivers have one (HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED)
// DIFFERS two flags: together they are hipDeviceMallocUncached, which came after 5.2.3; HIP 6 header
int main() {
    one("default", hipDeviceMallocDefault, 4096);
    one("default of 0 bytes", hipDeviceMallocDefault, 0);
    one("fine-grained memory", hipDeviceMallocFinegrained, 4096);
    one("fine-grained of 0 bytes", hipDeviceMallocFinegrained, 0);
    one("signal memory of 8 bytes", hipMallocSignalMemory, 8);
    one("signal memory of 16 bytes", hipMallocSignalMemory, 16);
    one("signal memory of 0 bytes", hipMallocSignalMemory, 0);
    one("an unknown flag", 0x40, 4096);
    one("two flags", hipDeviceMallocFinegrained | hipMallocSignalMemory, 8);
    show("into null", hipExtMallocWithFlags(nullptr, 16, hipDeviceMallocDefault));
    one("huge", hipDeviceMallocDefault, SIZE_MAX / 2);
}
