// Memory that launches leave allocated counts from the launch until it is freed and trimmed.
#include "graph_memory.h"

int main() {
    constexpr size_t bytes = 64 * MiB;
    void *first, *second;
    hipGraph_t graphs[2] = {graph_of(bytes, true, &first), graph_of(bytes, true, &second)};
    show_footprint("nodes");
    hipGraphExec_t execs[2] = {instantiate(graphs[0]), instantiate(graphs[1])};
    show_footprint("executables");
    run(execs[0], nullptr);
    show_footprint("one is launched");
    run(execs[1], nullptr);
    show_footprint("both are launched");
    NEED(hipDeviceGraphMemTrim(0));
    show_footprint("trimmed, but in use");
    NEED(hipFree(first));
    NEED(hipFree(second));
    NEED(hipGraphExecDestroy(execs[0]));
    NEED(hipGraphExecDestroy(execs[1]));
    NEED(hipDeviceGraphMemTrim(0));
    show_footprint("freed, destroyed, trimmed");
}
