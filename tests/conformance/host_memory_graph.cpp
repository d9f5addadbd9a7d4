// Pinned and registered memory in graphs: copies between it and the device, from addresses inside it, relaunched.
#include "graph.h"

constexpr size_t BYTES = 4096;

int main() {
    // HIP: 5.2.3 aborts in hipHostUnregister where the device's address of the memory is the host's, so it stays
    // registered.
    static std::vector<unsigned char> own(BYTES * 2, 1);
    unsigned char* pinned = nullptr;
    void* device = nullptr;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), BYTES, hipHostMallocPortable));
    NEED(hipMalloc(&device, BYTES));
    NEED(hipHostRegister(own.data(), own.size(), hipHostRegisterDefault));

    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    hipGraphNode_t in = nullptr, fill = nullptr, out = nullptr, host = nullptr;
    NEED(hipGraphCreate(&graph, 0));
    show("from registered memory", hipGraphAddMemcpyNode1D(&in, graph, nullptr, 0, device, own.data() + 100, 2000,
                                                           hipMemcpyHostToDevice));
    hipMemsetParams set{};
    set.dst = static_cast<char*>(device) + 1000;
    set.elementSize = 1;
    set.width = 500;
    set.height = 1;
    set.value = 9;
    show("a fill", hipGraphAddMemsetNode(&fill, graph, &in, 1, &set));
    show("to pinned memory",
         hipGraphAddMemcpyNode1D(&out, graph, &fill, 1, pinned, device, 2000, hipMemcpyDeviceToHost));
    show("from pinned to registered memory", hipGraphAddMemcpyNode1D(&host, graph, &out, 1, own.data() + BYTES,
                                                                     pinned, 2000, hipMemcpyDefault));
    show("instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (unsigned char round = 3; round < 6; ++round) {
        std::memset(own.data(), round, BYTES);
        std::memset(pinned, 0, BYTES);
        show("launch", hipGraphLaunch(exec, nullptr));
        show("synchronise", hipStreamSynchronize(nullptr));
        line("pinned: %d %d %d %d", pinned[0], pinned[1000], pinned[1999], pinned[2000]);
        line("registered: %d %d %d %d", own[BYTES], own[BYTES + 1499], own[BYTES + 1500], own[BYTES + 2000]);
    }
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipHostFree(pinned));
    NEED(hipFree(device));
}
