// What the library knows of a pointer into pool memory, and what hipFree does with one.
#include "observe.h"

static void describe(const char* label, const void* pointer) {
    hipPointerAttribute_t attributes = {};
    hipError_t error = hipPointerGetAttributes(&attributes, pointer);
    show(label, error);
    if (error != hipSuccess) return;
    line("%s: device %d, managed %d, host %s, same %s", label, attributes.device, attributes.isManaged,
         attributes.hostPointer ? "yes" : "no", attributes.devicePointer == pointer ? "yes" : "no");
}

// DIFFERS used after hipFree: 5.2.3 goes on counting it; memory that is freed is not in use (HIP 7 documentation of
//     hipMemPoolAttrUsedMemCurrent)
int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    char* memory = nullptr;
    NEED(hipMallocAsync(reinterpret_cast<void**>(&memory), 5000, stream));
    describe("start", memory);
    describe("inside", memory + 4999);
    hipDeviceptr_t base = nullptr;
    size_t bytes = 0;
    show("range", hipMemGetAddressRange(&base, &bytes, memory + 100));
    line("range: %zu bytes, at the start %s", bytes, base == memory ? "yes" : "no");
    std::vector<char> host(5000, 3), back(5000);
    show("copy there", hipMemcpy(memory, host.data(), 5000, hipMemcpyHostToDevice));
    show("copy back", hipMemcpy(back.data(), memory, 5000, hipMemcpyDefault));
    show("the same", back == host);
    show("fill", hipMemset(memory + 1, 4, 4998));
    show("copy back", hipMemcpy(back.data(), memory, 5000, hipMemcpyDeviceToHost));
    line("bytes: %d %d %d", back[0], back[2500], back[4999]);
    show("beyond", hipMemcpy(memory + 1, host.data(), 5000, hipMemcpyHostToDevice));
    show("hipFree", hipFree(memory));
    hipMemPool_t pool = nullptr;
    NEED(hipDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long used = 77;
    NEED(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    show("used after hipFree", used);
}
