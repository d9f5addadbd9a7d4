// hipGraphExecUpdate of a graph with many nodes, again and again.
// proves: hipGraphExecUpdate
#include "graph.h"

static long long sum;
static void add_up(void* value) { sum += *static_cast<int*>(value); }

int main() {
    const int count = 400;
    std::vector<std::vector<int>> values;
    std::vector<hipGraph_t> graphs;
    for (int round = 0; round < 4; ++round) {
        values.emplace_back(count, round * 1000 + 1);
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        hipGraphNode_t last = nullptr;
        for (auto& value : values.back()) {
            hipHostNodeParams params = {add_up, &value};
            hipGraphNode_t node;
            NEED(hipGraphAddHostNode(&node, graph, last ? &last : nullptr, last ? 1 : 0, &params));
            last = node;
        }
        graphs.push_back(graph);
    }
    hipGraphExec_t exec = instantiate(graphs[0]);
    for (int pass = 0; pass < 3; ++pass) {
        for (auto graph : graphs) {
            hipGraphNode_t node = nullptr;
            hipGraphExecUpdateResult result;
            NEED(hipGraphExecUpdate(exec, graph, &node, &result));
            sum = 0;
            run(exec, nullptr);
            line("sum: %lld", sum);
        }
    }
    NEED(hipGraphExecDestroy(exec));
    for (auto graph : graphs) NEED(hipGraphDestroy(graph));
}
