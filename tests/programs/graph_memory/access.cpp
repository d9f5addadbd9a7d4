// Who may access memory of graphs: those of the access descriptors, or of the captured pool at that time.
#include "graph_memory.h"

static hipMemAccessDesc for_device(int device) {
    hipMemAccessDesc desc{};
    desc.location.type = hipMemLocationTypeDevice;
    desc.location.id = device;
    desc.flags = hipMemAccessFlagsProtReadWrite;
    return desc;
}

// Has device 1 set and read back what lies on device 0.
static void visit(const char* label, void* address) {
    NEED(hipSetDevice(1));
    hipStream_t stream = new_stream();
    unsigned char read = 0;
    show(label, hipMemsetAsync(address, 3, 4096, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipSetDevice(0));
    NEED(hipMemcpy(&read, address, 1, hipMemcpyDeviceToHost));
    show("found", static_cast<int>(read));
}

int main() {
    int devices;
    NEED(hipGetDeviceCount(&devices));
    show("devices", devices);
    hipStream_t stream = new_stream();

    hipGraph_t graph = new_graph();
    hipMemAccessDesc both[2] = {for_device(0), for_device(1)};
    auto params = allocation_of(4096);
    params.accessDescs = both;
    params.accessDescCount = 2;
    hipGraphNode_t node;
    show("descriptors of both", hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    run(instantiate(graph), stream);
    visit("by descriptor", params.dptr);

    // On the second device, for the first.
    hipGraph_t remote = new_graph();
    auto there = allocation_of(4096, 1);
    there.accessDescs = both;
    there.accessDescCount = 2;
    show("memory of the second device", hipGraphAddMemAllocNode(&node, remote, nullptr, 0, &there));
    add_fill(remote, node, there.dptr, 4096, 9);
    run(instantiate(remote), stream);
    show_filled("written by the first", there.dptr, 4096, 9);

    hipMemPoolProps props{};
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool;
    NEED(hipMemPoolCreate(&pool, &props));
    NEED(hipMemPoolSetAccess(pool, &both[1], 1));
    void* captured;
    hipGraph_t capture;
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    NEED(hipMallocFromPoolAsync(&captured, 4096, pool, stream));
    NEED(hipStreamEndCapture(stream, &capture));
    // What the pool says later is no matter of the graph's.
    hipMemAccessDesc none = for_device(1);
    none.flags = hipMemAccessFlagsProtNone;
    NEED(hipMemPoolSetAccess(pool, &none, 1));
    NEED(hipMemPoolDestroy(pool));
    size_t nodes = 1;
    NEED(hipGraphGetNodes(capture, &node, &nodes));
    hipMemAllocNodeParams found{};
    NEED(hipGraphMemAllocNodeGetParams(node, &found));
    line("captured: %zu descriptors, device %d", found.accessDescCount,
         found.accessDescCount ? found.accessDescs[0].location.id : -1);
    run(instantiate(capture), stream);
    visit("by the pool's access", captured);
}
