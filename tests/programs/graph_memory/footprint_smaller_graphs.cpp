// Graphs that are launched one behind the other on a stream, each smaller than the one before, need as much as the first.
#include "graph_memory.h"

int main() {
    hipStream_t stream = new_stream();
    hipGraphExec_t execs[3];
    size_t bytes = 128 * MiB;
    for (auto& exec : execs) {
        void* address;
        exec = instantiate(graph_of(bytes, false, &address));
        bytes /= 2;
    }
    for (auto exec : execs) NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    show_footprint("three graphs");
    NEED(hipDeviceGraphMemTrim(0));
    for (auto exec : execs) NEED(hipGraphExecDestroy(exec));
    show_footprint("trimmed and destroyed");
}
