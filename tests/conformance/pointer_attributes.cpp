// What the attributes of pointers say of device, pinned, registered, interior and foreign memory.
#include "observe.h"

static const char* relation(const void* found, const void* pointer, const void* base) {
    return found == nullptr ? "null" : found == pointer ? "itself" : found == base ? "its base" : "another";
}

static void describe(const char* what, const void* pointer, const void* base, const void* host) {
    hipPointerAttribute_t a;
    std::memset(&a, 0, sizeof a);
    hipError_t result = hipPointerGetAttributes(&a, pointer);
    if (result != hipSuccess) {
        show(what, result);
        return;
    }
    const char* type = a.memoryType == hipMemoryTypeHost ? "host" : a.memoryType == hipMemoryTypeDevice ? "device" : "other";
    line("%s: type %s, device %d, managed %d, flags %#x", what, type, a.device, a.isManaged, a.allocationFlags);
    line("%s, device pointer: %s", what, relation(a.devicePointer, pointer, base));
    line("%s, host pointer: %s", what, relation(a.hostPointer, pointer, host));
}

int main() {
    char* device = nullptr;
    NEED(hipMalloc(&device, 4096));
    describe("device memory", device, device, nullptr);
    describe("inside device memory", device + 100, device, nullptr);
    describe("the last byte", device + 4095, device, nullptr);

    char* pinned = nullptr;
    NEED(hipHostMalloc(&pinned, 4096, hipHostMallocDefault));
    describe("pinned memory", pinned, pinned, pinned);
    describe("inside pinned memory", pinned + 100, pinned, pinned);
    void* mapped = nullptr;
    show("device pointer of pinned memory", hipHostGetDevicePointer(&mapped, pinned, 0));
    show("it is the same", mapped == pinned);
    NEED(hipHostFree(pinned));

    char* own = static_cast<char*>(std::aligned_alloc(4096, 8192));
    describe("memory of malloc", own, nullptr, own);
    NEED(hipHostRegister(own, 8192, hipHostRegisterDefault));
    describe("registered memory", own, own, own);
    describe("inside registered memory", own + 5000, own, own);
    NEED(hipHostUnregister(own));
    describe("memory no longer registered", own, nullptr, own);
    std::free(own);

    hipPointerAttribute_t a;
    show("null", hipPointerGetAttributes(&a, nullptr));
    show("to null", hipPointerGetAttributes(nullptr, device));
    NEED(hipFree(device));
    describe("freed memory", device, device, nullptr);

    NEED(hipMalloc(&device, 4096));
    void* base = nullptr;
    size_t bytes = 0;
    show("address range", hipMemGetAddressRange(&base, &bytes, device + 100));
    line("address range: base %s, %zu bytes", base == device ? "right" : "wrong", bytes);
    show("address range without base", hipMemGetAddressRange(nullptr, &bytes, device));
    show("address range without size", hipMemGetAddressRange(&base, nullptr, device));
    show("address range of null", hipMemGetAddressRange(&base, &bytes, nullptr));
    show("size", hipMemPtrGetInfo(device, &bytes));
    show("size is", bytes);
    NEED(hipFree(device));
}
