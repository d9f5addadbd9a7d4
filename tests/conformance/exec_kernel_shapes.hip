// hipGraphExecKernelNodeSetParams with other grids, blocks and kernels, launch after launch.
// proves: hipGraphExecKernelNodeSetParams
#include "kernels.h"

int main() {
    const int count = 512;
    int* data = device_memory<int>(count, 1);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto node = kernel(graph, {}, add, count, data, 1);
    hipGraphExec_t exec = instantiate(graph);
    auto show_data = [&](const char* label) {
        run(exec, nullptr);
        auto now = contents(data, count);
        line("%s: %d %d %d %d", label, now[0], now[64], now[255], now[511]);
    };
    show_data("as it was made");
    for (unsigned blocks : {1, 2, 4, 8}) {
        Launch<int*, int, int> launch(add, dim3(blocks), dim3(64), data, 10, count);
        show("another grid", hipGraphExecKernelNodeSetParams(exec, node, &launch.params));
        show_data("ran");
    }
    for (unsigned threads : {32, 128, 256}) {
        Launch<int*, int, int> launch(add, dim3(2), dim3(threads), data, 100, count);
        show("another block", hipGraphExecKernelNodeSetParams(exec, node, &launch.params));
        show_data("ran");
    }
    Launch<int*, int, int> other(multiply, dim3(8), dim3(64), data, 2, count);
    show("another kernel", hipGraphExecKernelNodeSetParams(exec, node, &other.params));
    show_data("ran");
    hipKernelNodeParams told = {};
    NEED(hipGraphKernelNodeGetParams(node, &told));
    line("the graph's node: %u blocks of %u", told.gridDim.x, told.blockDim.x);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(data));
}
