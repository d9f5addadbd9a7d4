// Graphs of one size that are launched one behind the other on a stream have the same memory.
#include "graph_memory.h"

int main() {
    hipStream_t stream = new_stream();
    hipGraphExec_t execs[3];
    for (auto& exec : execs) {
        void* address;
        exec = instantiate(graph_of(64 * MiB, false, &address));
    }
    for (auto exec : execs) NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    show_footprint("three graphs");
    NEED(hipDeviceGraphMemTrim(0));
    show_footprint("trimmed");
    for (auto exec : execs) NEED(hipGraphExecDestroy(exec));
    show_footprint("destroyed");
}
