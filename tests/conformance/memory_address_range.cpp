// hipMemGetAddressRange and hipMemPtrGetInfo: start and size of what a pointer lies in.
#include "observe.h"

static void range(const char* label, void* pointer, void* start) {
    hipDeviceptr_t base = nullptr;
    size_t bytes = 0;
    hipError_t error = hipMemGetAddressRange(&base, &bytes, pointer);
    if (error != hipSuccess) {
        line("range of %s: %s", label, observe::name_of(error).c_str());
        return;
    }
    line("range of %s: starts where it should %d, bytes %zu", label, base == start, bytes);
}

static void size(const char* label, void* pointer) {
    size_t bytes = 0;
    hipError_t error = hipMemPtrGetInfo(pointer, &bytes);
    line("size of %s: %s, %zu", label, observe::name_of(error).c_str(), bytes);
}

int main() {
    char *p = nullptr, *host = nullptr, *managed = nullptr;
    NEED(hipMalloc(&p, 1000));
    NEED(hipHostMalloc(&host, 3000, hipHostMallocDefault));
    NEED(hipMallocManaged(&managed, 5000));
    std::vector<char> pageable(4096);

    range("device memory", p, p);
    range("its interior", p + 500, p);
    range("its last byte", p + 999, p);
    range("pinned memory", host, host);
    range("pinned interior", host + 1234, host);
    range("managed memory", managed, managed);
    range("managed interior", managed + 4321, managed);
    range("pageable memory", pageable.data(), nullptr);
    range("null", nullptr, nullptr);

    // HIP: 5.2.3 crashes on a null result of either function.
    size("device memory", p);
    size("pinned memory", host);
    size("managed memory", managed);
    size("pageable memory", pageable.data());
    size("an interior pointer", p + 4);

    NEED(hipFree(p));
    NEED(hipHostFree(host));
    NEED(hipFree(managed));
    range("freed memory", p, p);
    size("freed memory", p);
}
