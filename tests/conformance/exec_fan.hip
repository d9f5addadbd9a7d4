// A wide fan: a hundred kernels beside each other on one buffer, then one that reads all of it.
// proves: hipGraphAddKernelNode, hipGraphAddMemsetNode
#include "kernels.h"

__global__ void set_one(int* data, int at, int value) { data[at] = value; }

__global__ void total(int* to, const int* data, int count) {
    int result = 0;
    for (int i = 0; i < count; ++i) result += data[i];
    *to = result;
}

int main() {
    const int width = 100;
    int* data = device_memory<int>(width, 0);
    int* result = device_memory<int>(1, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipMemsetParams clear = fill_params(data, 0, width);
    hipGraphNode_t root;
    NEED(hipGraphAddMemsetNode(&root, graph, nullptr, 0, &clear));
    std::vector<hipGraphNode_t> leaves(width);
    for (int i = 0; i < width; ++i) {
        Launch<int*, int, int> launch(set_one, dim3(1), dim3(1), data, i, i * i);
        NEED(hipGraphAddKernelNode(&leaves[i], graph, &root, 1, &launch.params));
    }
    Launch<int*, const int*, int> join(total, dim3(1), dim3(1), result, data, width);
    hipGraphNode_t node;
    NEED(hipGraphAddKernelNode(&node, graph, leaves.data(), leaves.size(), &join.params));
    show("edges", edge_count(graph));
    hipGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 3; ++i) {
        run(exec, nullptr);
        show("sum of squares", contents(result, 1)[0]);
    }
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
