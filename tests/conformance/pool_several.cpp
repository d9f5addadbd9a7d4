// Several memory pools of one device: allocations count in the pool that they come from, and hold their data.
#include "observe.h"

static unsigned long long used(hipMemPool_t pool) {
    unsigned long long value = 77;
    NEED(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &value));
    return value;
}

int main() {
    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    hipMemPool_t standard = nullptr, first = nullptr, second = nullptr;
    NEED(hipDeviceGetDefaultMemPool(&standard, 0));
    NEED(hipMemPoolCreate(&first, &props));
    NEED(hipMemPoolCreate(&second, &props));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    void* memory[4] = {};
    show("from the first", hipMallocFromPoolAsync(&memory[0], 4096, first, stream));
    show("from the second", hipMallocFromPoolAsync(&memory[1], 8192, second, stream));
    show("from none", hipMallocAsync(&memory[2], 100, stream));
    line("used: %llu %llu %llu", used(first), used(second), used(standard));
    NEED(hipDeviceSetMemPool(0, second));
    show("from the current one", hipMallocAsync(&memory[3], 1, stream));
    line("used: %llu %llu %llu", used(first), used(second), used(standard));

    const size_t sizes[4] = {4096, 8192, 100, 1};
    for (int n = 0; n < 4; ++n) show("fill", hipMemsetAsync(memory[n], n + 1, sizes[n], stream));
    for (int n = 0; n < 4; ++n) {
        std::vector<unsigned char> back(sizes[n]);
        show("copy", hipMemcpyAsync(back.data(), memory[n], sizes[n], hipMemcpyDeviceToHost, stream));
        NEED(hipStreamSynchronize(stream));
        show_all("bytes", back.data(), back.size(), static_cast<unsigned char>(n + 1));
    }
    for (int n : {1, 0, 3, 2}) {
        show("free", hipFreeAsync(memory[n], stream));
        NEED(hipStreamSynchronize(stream));
        line("used: %llu %llu %llu", used(first), used(second), used(standard));
    }
    NEED(hipDeviceSetMemPool(0, standard));
    show("into null", hipMallocFromPoolAsync(nullptr, 64, first, stream));
    show("from a null pool", hipMallocFromPoolAsync(&memory[0], 64, nullptr, stream));
    show("0 bytes", hipMallocFromPoolAsync(&memory[0], 0, first, stream));
}
