// Creating memory pools: which properties are accepted.
#include "observe.h"

// DIFFERS allocation type: 5.2.3 takes any; only pinned memory is a pool's (HIP 7 documentation of hipMemPoolProps)
// DIFFERS(rocr) handle type: 5.2.3 takes any, though it cannot share pools; where the driver shares no memory, a pool to be
//     shared is refused (HIP 7 documentation of hipMemPoolCreate)
int main() {
    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pools[3] = {};
    for (auto& pool : pools) show("create", hipMemPoolCreate(&pool, &props));
    show("different", pools[0] != pools[1] && pools[1] != pools[2] && pools[0] != pools[2]);
    show("into null", hipMemPoolCreate(nullptr, &props));

    hipMemPool_t pool = nullptr;
    auto changed = props;
    changed.location.type = hipMemLocationTypeInvalid;
    show("no location", hipMemPoolCreate(&pool, &changed));
    for (int id : {-1, 99, 1 << 30}) {
        changed = props;
        changed.location.id = id;
        line("device %d: %s", id, observe::name_of(hipMemPoolCreate(&pool, &changed)).c_str());
    }
    changed = props;
    changed.allocType = hipMemAllocationTypeInvalid;
    show("allocation type 0", hipMemPoolCreate(&pool, &changed));
    changed = props;
    changed.handleTypes = hipMemHandleTypePosixFileDescriptor;
    show("handle type of a file descriptor", hipMemPoolCreate(&pool, &changed));
    changed = props;
    changed.reserved[55] = 1;
    show("reserved byte", hipMemPoolCreate(&pool, &changed));

    // The order does not matter, nor does the use.
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    void* memory = nullptr;
    NEED(hipMallocFromPoolAsync(&memory, 64, pools[1], stream));
    NEED(hipFreeAsync(memory, stream));
    NEED(hipStreamSynchronize(stream));
    for (int n : {2, 0, 1}) line("destroy %d: %s", n, observe::name_of(hipMemPoolDestroy(pools[n])).c_str());
}
