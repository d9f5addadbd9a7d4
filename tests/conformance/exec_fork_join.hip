// Fork and join: branches of kernels on separate buffers, summed behind them.
// proves: hipGraphAddKernelNode, hipGraphAddMemcpyNode1D
#include "kernels.h"

int main() {
    const int count = 500, branches = 6;
    int* source = device_memory<int>(count, 1);
    std::vector<int*> parts;
    for (int i = 0; i < branches; ++i) parts.push_back(device_memory<int>(count, 0));
    int* total = device_memory<int>(count, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto root = kernel(graph, {}, add, count, source, 1);
    std::vector<hipGraphNode_t> ends;
    for (int i = 0; i < branches; ++i) {
        hipGraphNode_t copy;
        NEED(hipGraphAddMemcpyNode1D(&copy, graph, &root, 1, parts[i], source, count * sizeof(int),
            hipMemcpyDeviceToDevice));
        auto scaled = kernel(graph, {copy}, multiply, count, parts[i], i + 1);
        ends.push_back(kernel(graph, {scaled}, add, count, parts[i], 100 * i));
    }
    hipGraphNode_t last = nullptr;
    for (int i = 0; i < branches; ++i) {
        std::vector<hipGraphNode_t> after = {ends[i]};
        if (last) after.push_back(last);
        Launch<int*, const int*, const int*, int> launch(sum, dim3(8), dim3(64), total, total, parts[i],
            count);
        NEED(hipGraphAddKernelNode(&last, graph, after.data(), after.size(), &launch.params));
    }
    show("nodes", node_count(graph));
    show("edges", edge_count(graph));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    auto values = contents(total, count);
    show_all("total", values.data(), count, 2 * 21 + 1500);
    run(exec, nullptr);
    values = contents(total, count);
    show_all("total of two launches", values.data(), count, 5 * 21 + 3000);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
