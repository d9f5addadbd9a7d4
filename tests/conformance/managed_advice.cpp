// hipMemAdvise, hipMemPrefetchAsync and hipMemRangeGetAttribute: operands, and what is remembered.
#include "observe.h"

// DIFFERS unchecked: 5.2.3 takes any memory and advice; both are for managed memory (cudaMemAdvise,
//     cudaMemPrefetchAsync)
// DIFFERS attribute: 5.2.3 refuses all questions where the driver does not manage memory; ours remembers
//     what was said
int main() {
    const size_t bytes = 1 << 16;
    char *managed = nullptr, *device = nullptr, *pinned = nullptr;
    NEED(hipMallocManaged(&managed, bytes));
    NEED(hipMalloc(&device, bytes));
    NEED(hipHostMalloc(&pinned, bytes, 0));
    std::vector<char> pageable(bytes);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));

    show("read mostly", hipMemAdvise(managed, bytes, hipMemAdviseSetReadMostly, 0));
    show("not read mostly", hipMemAdvise(managed, bytes, hipMemAdviseUnsetReadMostly, 0));
    show("preferred location", hipMemAdvise(managed, bytes, hipMemAdviseSetPreferredLocation, 0));
    show("preferred on the host",
         hipMemAdvise(managed, bytes, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    show("no preferred location", hipMemAdvise(managed, bytes, hipMemAdviseUnsetPreferredLocation, 0));
    show("accessed by", hipMemAdvise(managed, bytes, hipMemAdviseSetAccessedBy, 0));
    show("not accessed by", hipMemAdvise(managed, bytes, hipMemAdviseUnsetAccessedBy, 0));
    show("coarse grain", hipMemAdvise(managed, bytes, hipMemAdviseSetCoarseGrain, 0));
    show("fine grain", hipMemAdvise(managed, bytes, hipMemAdviseUnsetCoarseGrain, 0));
    show("of a part", hipMemAdvise(managed + 4096, 4096, hipMemAdviseSetReadMostly, 0));
    show("null", hipMemAdvise(nullptr, bytes, hipMemAdviseSetReadMostly, 0));
    show("0 bytes", hipMemAdvise(managed, 0, hipMemAdviseSetReadMostly, 0));
    show("no such device", hipMemAdvise(managed, bytes, hipMemAdviseSetPreferredLocation, 7));
    show("unchecked, unknown advice", hipMemAdvise(managed, bytes, hipMemoryAdvise(77), 0));
    show("unchecked, device memory", hipMemAdvise(device, bytes, hipMemAdviseSetReadMostly, 0));
    show("unchecked, pinned memory", hipMemAdvise(pinned, bytes, hipMemAdviseSetReadMostly, 0));
    show("unchecked, pageable memory", hipMemAdvise(pageable.data(), bytes, hipMemAdviseSetReadMostly, 0));
    show("unchecked, too many bytes", hipMemAdvise(managed, 2 * bytes, hipMemAdviseSetReadMostly, 0));

    show("prefetch", hipMemPrefetchAsync(managed, bytes, 0, stream));
    show("prefetch to the host", hipMemPrefetchAsync(managed, bytes, hipCpuDeviceId, stream));
    show("prefetch on the default stream", hipMemPrefetchAsync(managed, bytes, 0, nullptr));
    show("prefetch null", hipMemPrefetchAsync(nullptr, bytes, 0, stream));
    show("prefetch 0 bytes", hipMemPrefetchAsync(managed, 0, 0, stream));
    show("prefetch to no such device", hipMemPrefetchAsync(managed, bytes, 7, stream));
    show("unchecked, prefetch of device memory", hipMemPrefetchAsync(device, bytes, 0, stream));
    show("prefetch pageable memory", hipMemPrefetchAsync(pageable.data(), bytes, 0, stream));
    show("synchronize", hipStreamSynchronize(stream));

    int value = 77;
    show("attribute read mostly",
         hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeReadMostly, managed, bytes));
    show("attribute is", value);
    value = 77;
    show(
        "attribute preferred location",
        hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributePreferredLocation, managed, bytes));
    show("attribute is", value);
    value = 77;
    show("attribute last prefetch",
         hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeLastPrefetchLocation, managed,
                                 bytes));
    show("attribute is", value);
    int by[2] = {77, 77};
    show("attribute accessed by",
         hipMemRangeGetAttribute(by, sizeof by, hipMemRangeAttributeAccessedBy, managed, bytes));
    line("attributes are: %d %d", by[0], by[1]);
    show("into null", hipMemRangeGetAttribute(nullptr, 4, hipMemRangeAttributeReadMostly, managed, bytes));
    show("of null", hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly, nullptr, bytes));
    show("of 0 bytes", hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly, managed, 0));
    show("with 3 bytes of room",
         hipMemRangeGetAttribute(&value, 3, hipMemRangeAttributeReadMostly, managed, bytes));
    show("unknown attribute", hipMemRangeGetAttribute(&value, 4, hipMemRangeAttribute(77), managed, bytes));
    show("of device memory",
         hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly, device, bytes));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(managed));
    NEED(hipFree(device));
    NEED(hipHostFree(pinned));
}
