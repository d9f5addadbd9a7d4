// hipHostRegister: ranges, flags, what the device sees of registered memory, and copies through it.
//
// HIP: 5.2.3 aborts in hipHostUnregister where the device's address of the memory is the host's, so nothing
// that is registered here is unregistered.
#include "observe.h"

static std::vector<char> storage(256 * 1024);
static char* const base =
    reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(storage.data()) + 4095) & ~uintptr_t(4095));

static void one(const char* label, char* p, size_t bytes, unsigned flags) {
    hipError_t error = hipHostRegister(p, bytes, flags);
    if (error != hipSuccess) {
        line("%s: %s", label, observe::name_of(error).c_str());
        return;
    }
    unsigned got = 0xdead;
    hipError_t asked = hipHostGetFlags(&got, p);
    void *device = nullptr, *inside = nullptr;
    NEED(hipHostGetDevicePointer(&device, p, 0));
    NEED(hipHostGetDevicePointer(&inside, p + bytes / 2, 0));
    hipDeviceptr_t start = nullptr;
    size_t size = 0;
    NEED(hipMemGetAddressRange(&start, &size, device));
    line("%s: hipSuccess, flags %s %#x, device pointer %d, the middle %td bytes in, range of %zu bytes",
         label, observe::name_of(asked).c_str(), got, device != nullptr,
         static_cast<char*>(inside) - static_cast<char*>(device), size);
}

// DIFFERS unknown flag: 5.2.3 takes any flag; CUDA refuses what is none (cudaHostRegister)
// DIFFERS no bytes: 5.2.3 says that memory is short; CUDA refuses an empty range (cudaHostRegister)
int main() {
    one("default", base, 16384, hipHostRegisterDefault);
    one("flag of portable", base + 20480, 4096, hipHostRegisterPortable);
    one("flag of mapped", base + 28672, 4096, hipHostRegisterMapped);
    one("flag of I/O memory", base + 36864, 4096, hipHostRegisterIoMemory);
    one("odd range", base + 45056 + 13, 100, hipHostRegisterDefault);
    one("unknown flag", base + 53248, 4096, 0x100);
    one("null", nullptr, 4096, 0);
    one("no bytes", base + 61440, 0, 0);
    one("again, the same", base, 16384, 0);

    char* d = nullptr;
    NEED(hipMalloc(&d, 16384));
    for (int i = 0; i < 16384; ++i) base[i] = char(i * 7);
    show("copy to the device", hipMemcpy(d, base, 16384, hipMemcpyHostToDevice));
    std::vector<char> back(16384);
    show("copy back", hipMemcpy(back.data(), d, 16384, hipMemcpyDeviceToHost));
    show("the same bytes", std::memcmp(back.data(), base, 16384) == 0);
    show("copy between registered ranges", hipMemcpy(base + 20480, base, 4096, hipMemcpyDefault));
    NEED(hipDeviceSynchronize());
    show("the same bytes there", std::memcmp(base + 20480, base, 4096) == 0);
    show("copy beyond the range", hipMemcpy(base + 20480, d, 8192, hipMemcpyDeviceToHost));

    show("unregister what never was", hipHostUnregister(base + 131072));
    show("unregister null", hipHostUnregister(nullptr));
    char* pinned = nullptr;
    NEED(hipHostMalloc(&pinned, 4096, 0));
    show("again, pinned memory", hipHostRegister(pinned, 4096, 0));
    show("again, device memory", hipHostRegister(d, 16384, 0));
}
