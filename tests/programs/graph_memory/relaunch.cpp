// A launch is refused while an allocation of an earlier one is not freed.
#include "graph_memory.h"

int main() {
    void *left, *inside;
    hipGraph_t leaving = graph_of(4096, true, &left), whole = graph_of(4096, false, &inside);
    hipGraphExec_t exec = instantiate(leaving), free_exec = instantiate(whole);
    hipStream_t stream = new_stream(), other = new_stream();
    show("launch", hipGraphLaunch(exec, stream));
    show("again", hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    show("again, when the first is over", hipGraphLaunch(exec, stream));
    show("again on another stream", hipGraphLaunch(exec, other));
    show_filled("the allocation", left, 4096, 5);
    show("free", hipFreeAsync(left, stream));
    show("launch behind the free", hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    // It is the graph's allocation, whichever executable made it.
    NEED(hipGraphExecDestroy(exec));
    exec = instantiate(leaving);
    show("launch of another executable", hipGraphLaunch(exec, stream));
    show("free", hipFree(left));
    show("launch of another executable", hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipFree(left));
    for (int launch = 0; launch < 3; ++launch) show("a graph that frees its memory", hipGraphLaunch(free_exec, stream));
    NEED(hipStreamSynchronize(stream));
}
