// An allocation that is not freed outlives the executable and the graph that made it.
#include "graph_memory.h"

int main() {
    constexpr size_t bytes = 2 * MiB;
    hipStream_t stream = new_stream();
    for (bool in_order : {false, true}) {
        void* address;
        hipGraph_t graph = graph_of(bytes, true, &address, 3);
        hipGraphExec_t exec = instantiate(graph);
        NEED(hipGraphLaunch(exec, stream));
        show("hipGraphExecDestroy in flight", hipGraphExecDestroy(exec));
        show("hipGraphDestroy", hipGraphDestroy(graph));
        NEED(hipStreamSynchronize(stream));
        show_filled("what the launch wrote", address, 4096, 3);
        NEED(hipMemsetAsync(address, 8, bytes, stream));
        NEED(hipStreamSynchronize(stream));
        show_filled("what came later", address, bytes, 8);
        // Memory that others allocate meanwhile is other memory.
        void* more;
        NEED(hipMalloc(&more, bytes));
        NEED(hipMemset(more, 1, bytes));
        show_filled("beside other memory", address, bytes, 8);
        NEED(hipFree(more));
        show(in_order ? "hipFreeAsync" : "hipFree", in_order ? hipFreeAsync(address, stream) : hipFree(address));
        NEED(hipStreamSynchronize(stream));
        show("hipFree again", hipFree(address));
    }
}
