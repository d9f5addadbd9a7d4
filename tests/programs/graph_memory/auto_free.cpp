// hipGraphInstantiateFlagAutoFreeOnLaunch: a launch frees what earlier ones have left, as hipFreeAsync would.
#include "graph_memory.h"

constexpr unsigned AUTO_FREE = 1, DEVICE_LAUNCH = 4;

int main() {
    void* address;
    hipGraph_t graph = graph_of(MiB, true, &address);
    hipGraphExec_t exec;
    show("with device launch", hipGraphInstantiateWithFlags(&exec, graph, AUTO_FREE | DEVICE_LAUNCH));
    show("instantiate", hipGraphInstantiateWithFlags(&exec, graph, AUTO_FREE));
    hipStream_t stream = new_stream();
    for (int launch = 0; launch < 3; ++launch) {
        show("launch", hipGraphLaunch(exec, stream));
        NEED(hipMemsetAsync(address, 9, 4096, stream));
    }
    NEED(hipStreamSynchronize(stream));
    show_filled("behind the last", address, 4096, 9);
    show_footprint("one allocation");
    show("hipFree", hipFree(address));
    show("hipFree again", hipFree(address));
    show("launch with nothing to free", hipGraphLaunch(exec, stream));
    show("hipFreeAsync", hipFreeAsync(address, stream));
    show("launch", hipGraphLaunch(exec, stream));
    // The flag frees before a launch, not when the executable goes.
    show("destroy", hipGraphExecDestroy(exec));
    NEED(hipStreamSynchronize(stream));
    show_filled("left behind", address, 4096, 5);
    show("hipFree", hipFree(address));
}
