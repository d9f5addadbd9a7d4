// Memory of graphs has nothing to do with stream-ordered pools, nor they with it.
#include "graph_memory.h"

static unsigned long long pool_attribute(hipMemPool_t pool, hipMemPoolAttr attribute) {
    unsigned long long value = ~0ull;
    NEED(hipMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void show_pool(const char* label, hipMemPool_t pool) {
    line("%s: pool: used %llu, high %llu; reserved %llu", label, pool_attribute(pool, hipMemPoolAttrUsedMemCurrent) / MiB,
         pool_attribute(pool, hipMemPoolAttrUsedMemHigh) / MiB, pool_attribute(pool, hipMemPoolAttrReservedMemCurrent) / MiB);
}

static void wait_for(void* gate) {
    while (!__atomic_load_n(static_cast<int*>(gate), __ATOMIC_ACQUIRE)) {
    }
}

int main() {
    hipMemPool_t pool;
    NEED(hipDeviceGetDefaultMemPool(&pool, 0));
    hipStream_t stream = new_stream();
    void *left, *inside, *pooled;
    hipGraphExec_t leaving = instantiate(graph_of(16 * MiB, true, &left));
    hipGraphExec_t whole = instantiate(graph_of(16 * MiB, false, &inside));
    // In this order they cannot share: the first leaves its allocation.
    NEED(hipGraphLaunch(leaving, stream));
    run(whole, stream);
    show_pool("graphs", pool);
    unsigned long long keep = ~0ull;
    NEED(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
    NEED(hipMallocAsync(&pooled, 8 * MiB, stream));
    NEED(hipStreamSynchronize(stream));
    show_pool("and an allocation", pool);
    show_footprint("graphs");
    NEED(hipMemPoolTrimTo(pool, 0));
    show_footprint("the pool is trimmed");
    NEED(hipDeviceGraphMemTrim(0));
    show_pool("the graphs are trimmed", pool);
    show_footprint("the graphs are trimmed");
    NEED(hipFree(left));
    show_pool("the graph's memory is freed", pool);

    // Since HIP 7 hipFree of pooled memory waits for nothing: nobody may use it any more.
    static int gate = 0;
    NEED(hipLaunchHostFunc(stream, wait_for, &gate));
    show("hipFree of pooled memory behind a function that waits", hipFree(pooled));
    show_pool("freed", pool);
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    NEED(hipStreamSynchronize(stream));
}
