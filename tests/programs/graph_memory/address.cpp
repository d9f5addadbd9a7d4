// The address of an allocation is there when its node is, and stays through executables and launches.
#include "graph_memory.h"

int main() {
    hipGraph_t graph = new_graph();
    auto params = allocation_of(4096);
    hipGraphNode_t alloc;
    show("add", hipGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
    show("address at creation", params.dptr != nullptr);
    void* const address = params.dptr;
    hipGraphNode_t fill = add_fill(graph, alloc, address, 4096, 7);
    std::vector<unsigned char> host(4096);
    hipGraphNode_t copy;
    NEED(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, host.data(), address, 4096, hipMemcpyDeviceToHost));
    add_free(graph, {copy}, address);
    hipStream_t stream = new_stream();
    for (int round = 0; round < 2; ++round) {
        hipGraphExec_t exec = instantiate(graph);
        for (int launch = 0; launch < 3; ++launch) {
            std::fill(host.begin(), host.end(), 0);
            run(exec, stream);
            show_all("what a launch wrote there", host.data(), host.size(), static_cast<unsigned char>(7));
        }
        hipMemAllocNodeParams found{};
        NEED(hipGraphMemAllocNodeGetParams(alloc, &found));
        show("same address", found.dptr == address);
        NEED(hipGraphExecDestroy(exec));
    }
    NEED(hipGraphDestroy(graph));
}
