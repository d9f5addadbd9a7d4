// What a graph frees itself is nobody else's to free, before a launch and behind it.
#include "graph_memory.h"

int main() {
    void* address;
    hipGraph_t graph = graph_of(4096, false, &address);
    hipStream_t stream = new_stream();
    show("hipFree before a launch", hipFree(address));
    show("hipFreeAsync before a launch", hipFreeAsync(address, stream));
    hipGraphExec_t exec = instantiate(graph);
    for (int launch = 0; launch < 2; ++launch) {
        run(exec, stream);
        show("hipFree behind a launch", hipFree(address));
        show("hipFreeAsync behind a launch", hipFreeAsync(address, stream));
    }
    show("launch", hipGraphLaunch(exec, stream));
    show("synchronize", hipStreamSynchronize(stream));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
