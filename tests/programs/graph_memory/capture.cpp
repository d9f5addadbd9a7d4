// Captured allocations are the graph's, with the properties of the pool; captured frees want allocations of graphs.
#include "graph_memory.h"

static void show_kinds(hipGraph_t graph) {
    size_t count = 0;
    NEED(hipGraphGetNodes(graph, nullptr, &count));
    std::vector<hipGraphNode_t> nodes(count);
    NEED(hipGraphGetNodes(graph, nodes.data(), &count));
    int allocations = 0, frees = 0;
    size_t bytes = 0;
    for (hipGraphNode_t node : nodes) {
        hipGraphNodeType kind;
        NEED(hipGraphNodeGetType(node, &kind));
        frees += static_cast<int>(kind) == 11;
        if (static_cast<int>(kind) != 10) continue;
        hipMemAllocNodeParams params{};
        NEED(hipGraphMemAllocNodeGetParams(node, &params));
        ++allocations;
        bytes += params.bytesize;
        line("an allocation: type %d, location %d", params.poolProps.allocType, params.poolProps.location.id);
    }
    line("%zu nodes, %d allocations of %zu bytes, %d frees", count, allocations, bytes, frees);
}

int main() {
    hipStream_t stream = new_stream();
    hipMemPoolProps props{};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool;
    NEED(hipMemPoolCreate(&pool, &props));
    void *before, *first, *second;
    NEED(hipMallocAsync(&before, 4096, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    show("hipMallocAsync", hipMallocAsync(&first, 1000, stream));
    show("hipMallocFromPoolAsync", hipMallocFromPoolAsync(&second, 3000, pool, stream));
    NEED(hipMemsetAsync(first, 4, 1000, stream));
    show("hipFreeAsync", hipFreeAsync(first, stream));
    show("hipFreeAsync again", hipFreeAsync(first, stream));
    hipGraph_t graph;
    show("end, behind a refusal", hipStreamEndCapture(stream, &graph));

    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    NEED(hipMallocAsync(&first, 1000, stream));
    NEED(hipMallocFromPoolAsync(&second, 3000, pool, stream));
    NEED(hipMemsetAsync(second, 6, 3000, stream));
    NEED(hipFreeAsync(first, stream));
    show("end", hipStreamEndCapture(stream, &graph));
    show_kinds(graph);
    unsigned long long used = 1;
    NEED(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    show("bytes of the pool", used);
    // The pool may go.
    NEED(hipMemPoolDestroy(pool));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, stream);
    show_filled("what the graph left", second, 3000, 6);
    show("hipFree of what the graph freed", hipFree(first));
    show("hipFree of what it left", hipFree(second));

    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    show("free of what no graph allocated", hipFreeAsync(before, stream));
    show("end", hipStreamEndCapture(stream, &graph));
    show("free outside", hipFreeAsync(before, stream));
    NEED(hipStreamSynchronize(stream));
}
