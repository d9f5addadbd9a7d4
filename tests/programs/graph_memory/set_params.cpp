// Allocation and free nodes keep the parameters that they were made with.
#include "graph_memory.h"

int main() {
    hipGraph_t graph = new_graph();
    void* address;
    hipGraphNode_t alloc = add_alloc(graph, {}, 4096, &address), free = add_free(graph, {alloc}, address);
    hipGraphExec_t exec = instantiate(graph);
    hipGraphNodeParams params{};
    params.type = static_cast<hipGraphNodeType>(10);
    params.alloc = allocation_of(8192);
    show("allocation", hipGraphNodeSetParams(alloc, &params));
    show("allocation of an executable", hipGraphExecNodeSetParams(exec, alloc, &params));
    params = {};
    params.type = static_cast<hipGraphNodeType>(11);
    params.free.dptr = address;
    show("free", hipGraphNodeSetParams(free, &params));
    show("free of an executable", hipGraphExecNodeSetParams(exec, free, &params));
    hipMemAllocNodeParams found{};
    NEED(hipGraphMemAllocNodeGetParams(alloc, &found));
    show("bytes", found.bytesize);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
