// What a launch leaves allocated stays valid until it is freed: by hipFree, hipFreeAsync or a node of another graph.
#include "graph_memory.h"

int main() {
    constexpr size_t bytes = MiB;
    void* address;
    hipGraph_t graph = graph_of(bytes, true, &address), freeing = new_graph();
    hipGraphExec_t exec = instantiate(graph);
    hipStream_t stream = new_stream(), other = new_stream();
    show("hipFree before the first launch", hipFree(address));
    show("hipFreeAsync before the first launch", hipFreeAsync(address, stream));

    run(exec, stream);
    show_filled("valid behind the launch", address, 4096, 5);
    NEED(hipMemset(address, 9, bytes));
    show_filled("written by others", address, bytes, 9);
    show("hipFree", hipFree(address));
    show("hipFree again", hipFree(address));

    show("launch", hipGraphLaunch(exec, stream));
    show("hipFreeAsync on the stream", hipFreeAsync(address, stream));
    show("hipFreeAsync again", hipFreeAsync(address, stream));

    show("launch", hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    show("hipFreeAsync on another stream", hipFreeAsync(address, other));
    NEED(hipStreamSynchronize(other));

    add_free(freeing, {}, address);
    hipGraphExec_t free_exec = instantiate(freeing);
    show("freeing graph with nothing to free", hipGraphLaunch(free_exec, stream));
    show("launch", hipGraphLaunch(exec, stream));
    show("freeing graph", hipGraphLaunch(free_exec, stream));
    show("freeing graph again", hipGraphLaunch(free_exec, stream));
    show("hipFree behind it", hipFree(address));
    show("launch", hipGraphLaunch(exec, stream));
    show("hipFree at last", hipFree(address));
    NEED(hipStreamSynchronize(stream));
    NEED(hipGraphExecDestroy(free_exec));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(freeing));
    NEED(hipGraphDestroy(graph));
}
