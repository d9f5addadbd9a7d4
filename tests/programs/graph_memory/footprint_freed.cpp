// Memory that a graph frees itself is in use while a launch runs, and the mark remembers it.
#include "graph_memory.h"

int main() {
    void* address;
    hipGraph_t graph = graph_of(64 * MiB, false, &address);
    hipGraphExec_t exec = instantiate(graph);
    show_footprint("before the first launch");
    run(exec, nullptr);
    show_footprint("launched");
    for (int launch = 0; launch < 9; ++launch) run(exec, nullptr);
    show_footprint("launched ten times");
    NEED(hipDeviceGraphMemTrim(0));
    show_footprint("trimmed");
    run(exec, nullptr);
    show_footprint("launched again");
    NEED(hipGraphExecDestroy(exec));
    show_footprint("the executable is destroyed");
    NEED(hipGraphDestroy(graph));
}
