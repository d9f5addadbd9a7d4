// Diamonds in a row: each joins what the two branches before it wrote.
// proves: hipGraphAddKernelNode, hipGraphAddMemcpyNode1D
#include "kernels.h"

int main() {
    const int count = 300;
    int* x = device_memory<int>(count, 1);
    int* left = device_memory<int>(count, 0);
    int* right = device_memory<int>(count, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    const size_t bytes = count * sizeof(int);
    hipGraphNode_t last = kernel(graph, {}, add, count, x, 1);
    for (int i = 0; i < 5; ++i) {
        hipGraphNode_t l, r;
        NEED(hipGraphAddMemcpyNode1D(&l, graph, &last, 1, left, x, bytes, hipMemcpyDeviceToDevice));
        NEED(hipGraphAddMemcpyNode1D(&r, graph, &last, 1, right, x, bytes, hipMemcpyDeviceToDevice));
        l = kernel(graph, {l}, multiply, count, left, 2);
        r = kernel(graph, {r}, add, count, right, i);
        Launch<int*, const int*, const int*, int> launch(sum, dim3(5), dim3(64), x, left, right, count);
        hipGraphNode_t both[] = {l, r};
        NEED(hipGraphAddKernelNode(&last, graph, both, 2, &launch.params));
    }
    show("nodes", node_count(graph));
    hipGraphExec_t exec = instantiate(graph);
    int expected = 1;
    for (int launch = 0; launch < 2; ++launch) {
        expected += 1;
        for (int i = 0; i < 5; ++i) expected = 3 * expected + i;
        run(exec, nullptr);
        auto values = contents(x, count);
        show_all("value", values.data(), count, expected);
    }
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
