// hipGraphExecUpdate between launches that are all in flight.
// proves: hipGraphExecUpdate, hipGraphLaunch
#include "kernels.h"

int main() {
    const int count = 64;
    int* data = device_memory<int>(count, 1);
    std::vector<hipGraph_t> graphs;
    for (int by = 1; by <= 4; ++by) {
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        auto first = kernel(graph, {}, multiply, count, data, 3);
        kernel(graph, {first}, add, count, data, by);
        graphs.push_back(graph);
    }
    hipGraphExec_t exec = instantiate(graphs[0]);
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    unsigned expected = 1;
    for (unsigned round = 0; round < 16; ++round) {
        hipGraphNode_t node = nullptr;
        hipGraphExecUpdateResult result;
        NEED(hipGraphExecUpdate(exec, graphs[round % 4], &node, &result));
        NEED(hipGraphLaunch(exec, stream));
        expected = expected * 3 + 1 + round % 4;
    }
    NEED(hipStreamSynchronize(stream));
    show("as if one had waited for each", static_cast<unsigned>(contents(data, 1)[0]) == expected);
    NEED(hipStreamDestroy(stream));
    NEED(hipGraphExecDestroy(exec));
    for (auto graph : graphs) NEED(hipGraphDestroy(graph));
    NEED(hipFree(data));
}
