// Grids and blocks that no device takes.
// proves: hipGraphAddKernelNode
#include "kernels.h"

int main() {
    int* data = device_memory<int>(64, 1);
    int shared_memory = 0;
    NEED(hipDeviceGetAttribute(&shared_memory, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
    auto attempt = [&](const char* label, dim3 grid, dim3 block, unsigned shared) {
        hipGraph_t graph;
        hipGraphNode_t node;
        NEED(hipGraphCreate(&graph, 0));
        Launch<int*, int, int> launch(add, grid, block, data, 1, 64);
        launch.params.sharedMemBytes = shared;
        show(label, hipGraphAddKernelNode(&node, graph, nullptr, 0, &launch.params));
        NEED(hipGraphDestroy(graph));
    };
    attempt("1 block of 1024", dim3(1), dim3(1024), 0);
    attempt("1 block of 1025", dim3(1), dim3(1025), 0);
    attempt("1 block of 32 x 33", dim3(1), dim3(32, 33), 0);
    attempt("no blocks", dim3(0), dim3(64), 0);
    attempt("no threads", dim3(1), dim3(0), 0);
    attempt("a block of 0 in y", dim3(1), dim3(64, 0), 0);
    attempt("64 KiB of shared memory", dim3(1), dim3(64), 65536);
    attempt("more shared memory than there is", dim3(1), dim3(64), shared_memory + 1);
    NEED(hipFree(data));
}
