// hipMallocPitch and hipMemAllocPitch: pitches by width, and what they refuse.
#include "observe.h"

// DIFFERS hipMemAllocPitch with elements of odd size: 5.2.3 takes any; 4, 8 and 16 are allowed
//     (hipMemAllocPitch)
int main() {
    for (size_t width :
         {1, 4, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1024, 4096, 5000}) {
        void* p = nullptr;
        size_t pitch = 0;
        hipError_t error = hipMallocPitch(&p, &pitch, width, 3);
        line("hipMallocPitch of %zu x 3: %s, pitch %zu, aligned %d", width, observe::name_of(error).c_str(),
             pitch, reinterpret_cast<uintptr_t>(p) % 128 == 0);
        NEED(hipFree(p));
    }
    for (unsigned element : {0u, 1u, 2u, 3u, 4u, 8u, 12u, 16u, 32u}) {
        hipDeviceptr_t p = nullptr;
        size_t pitch = 0;
        hipError_t error = hipMemAllocPitch(&p, &pitch, 200, 2, element);
        bool allowed = element == 4 || element == 8 || element == 16;
        line("hipMemAllocPitch with elements of %s size, %u: %s, pitch %zu", allowed ? "allowed" : "odd",
             element, observe::name_of(error).c_str(), pitch);
        if (error == hipSuccess) NEED(hipFree(p));
    }

    void* p = reinterpret_cast<void*>(0x10);
    size_t pitch = 77;
    show("width 0", hipMallocPitch(&p, &pitch, 0, 4));
    line("width 0 gives: null %d, pitch %zu", p == nullptr, pitch);
    p = reinterpret_cast<void*>(0x10);
    pitch = 77;
    show("height 0", hipMallocPitch(&p, &pitch, 100, 0));
    line("height 0 gives: null %d, pitch %zu", p == nullptr, pitch);
    p = nullptr;
    show("null pointer", hipMallocPitch(nullptr, &pitch, 16, 4));
    // HIP: 5.2.3 crashes on a null pitch.
    show("width of SIZE_MAX", hipMallocPitch(&p, &pitch, SIZE_MAX, 1));
    show("product beyond the device", hipMallocPitch(&p, &pitch, size_t(1) << 40, size_t(1) << 10));
    show("product beyond 64 bits", hipMallocPitch(&p, &pitch, size_t(1) << 40, size_t(1) << 40));
    hipDeviceptr_t d = nullptr;
    show("driver form, null pointer", hipMemAllocPitch(nullptr, &pitch, 16, 4, 4));
    show("driver form, width 0", hipMemAllocPitch(&d, &pitch, 0, 4, 4));
    show("driver form, height 0", hipMemAllocPitch(&d, &pitch, 16, 0, 4));

    // The rows of such memory are as many as asked for: the last one can be written.
    NEED(hipMallocPitch(&p, &pitch, 100, 7));
    char row[100] = {};
    show("write of the last row",
         hipMemcpy(static_cast<char*>(p) + 6 * pitch, row, 100, hipMemcpyHostToDevice));
    hipDeviceptr_t base = nullptr;
    size_t bytes = 0;
    show("range", hipMemGetAddressRange(&base, &bytes, p));
    show("range is pitch x height", bytes == pitch * 7);
    show("free", hipFree(p));
}
