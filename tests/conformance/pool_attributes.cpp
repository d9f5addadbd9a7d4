// Attributes of memory pools: first values, what can be set, what is counted.
#include "observe.h"

static unsigned long long bytes(hipMemPool_t pool, hipMemPoolAttr attribute) {
    unsigned long long value = 77;
    NEED(hipMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static int flag(hipMemPool_t pool, hipMemPoolAttr attribute) {
    int value = 77;
    NEED(hipMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static hipError_t set(hipMemPool_t pool, hipMemPoolAttr attribute, unsigned long long value) {
    return hipMemPoolSetAttribute(pool, attribute, &value);
}

static hipError_t allow(hipMemPool_t pool, hipMemPoolAttr attribute, int value) {
    return hipMemPoolSetAttribute(pool, attribute, &value);
}

// DIFFERS reset the reserved high mark: 5.2.3 refuses and yet resets it; high marks can be reset to zero (HIP 7
//     documentation of hipMemPoolAttrReservedMemHigh)
// DIFFERS high mark after a reset in use: 5.2.3 counts from 0; what is in use is in use since the reset (HIP 7
//     documentation of hipMemPoolAttrUsedMemHigh)
int main() {
    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool = nullptr;
    NEED(hipMemPoolCreate(&pool, &props));
    for (auto attribute : {hipMemPoolAttrReleaseThreshold, hipMemPoolAttrReservedMemCurrent,
                           hipMemPoolAttrReservedMemHigh, hipMemPoolAttrUsedMemCurrent, hipMemPoolAttrUsedMemHigh}) {
        line("attribute %d: %llu", static_cast<int>(attribute), bytes(pool, attribute));
    }
    for (auto attribute : {hipMemPoolReuseFollowEventDependencies, hipMemPoolReuseAllowOpportunistic,
                           hipMemPoolReuseAllowInternalDependencies}) {
        line("reuse %d: %d", static_cast<int>(attribute), flag(pool, attribute));
        show("forbid", allow(pool, attribute, 0));
        line("reuse %d: %d", static_cast<int>(attribute), flag(pool, attribute));
        show("allow", allow(pool, attribute, 1));
        line("reuse %d: %d", static_cast<int>(attribute), flag(pool, attribute));
    }
    show("threshold", set(pool, hipMemPoolAttrReleaseThreshold, 1ull << 40));
    show("of so many bytes", bytes(pool, hipMemPoolAttrReleaseThreshold));

    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    void *first = nullptr, *second = nullptr;
    show("allocate", hipMallocFromPoolAsync(&first, 1000, pool, stream));
    show("allocate", hipMallocFromPoolAsync(&second, 3 << 20, pool, stream));
    show("used", bytes(pool, hipMemPoolAttrUsedMemCurrent));
    show("high", bytes(pool, hipMemPoolAttrUsedMemHigh));
    show("reserved for it", bytes(pool, hipMemPoolAttrReservedMemCurrent) >= bytes(pool, hipMemPoolAttrUsedMemCurrent));
    show("free", hipFreeAsync(second, stream));
    NEED(hipStreamSynchronize(stream));
    show("used", bytes(pool, hipMemPoolAttrUsedMemCurrent));
    show("high", bytes(pool, hipMemPoolAttrUsedMemHigh));
    show("retained", bytes(pool, hipMemPoolAttrReservedMemCurrent) >= (3 << 20));
    show("reset the used high mark", set(pool, hipMemPoolAttrUsedMemHigh, 0));
    line("high mark after a reset in use: %llu", bytes(pool, hipMemPoolAttrUsedMemHigh));
    show("free", hipFreeAsync(first, stream));
    NEED(hipStreamSynchronize(stream));
    show("used", bytes(pool, hipMemPoolAttrUsedMemCurrent));
    show("reset the used high mark", set(pool, hipMemPoolAttrUsedMemHigh, 0));
    show("high", bytes(pool, hipMemPoolAttrUsedMemHigh));
    show("reset the reserved high mark", set(pool, hipMemPoolAttrReservedMemHigh, 0));

    show("set high to 1", set(pool, hipMemPoolAttrUsedMemHigh, 1));
    show("set reserved high to 1", set(pool, hipMemPoolAttrReservedMemHigh, 1));
    show("set used", set(pool, hipMemPoolAttrUsedMemCurrent, 0));
    show("set reserved", set(pool, hipMemPoolAttrReservedMemCurrent, 0));
    unsigned long long value = 0;
    for (int unknown : {0, 9, 99}) {
        show("set unknown", set(pool, static_cast<hipMemPoolAttr>(unknown), 0));
        show("get unknown", hipMemPoolGetAttribute(pool, static_cast<hipMemPoolAttr>(unknown), &value));
    }
}
