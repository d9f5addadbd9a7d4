// Layers of which each node depends on all of the layer before: counts, and order.
// proves: hipGraphAddHostNode, hipGraphGetEdges, hipGraphGetNodes, hipGraphInstantiate
#include "graph.h"

static int layer_now, outside;
struct Step {
    int layer;
};

static void check(void* step) {
    int layer = static_cast<Step*>(step)->layer;
    if (layer < layer_now) ++outside;
    layer_now = layer;
}

int main() {
    const int layers = 20, width = 8;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    std::vector<Step> steps(layers);
    std::vector<hipGraphNode_t> before;
    for (int layer = 0; layer < layers; ++layer) {
        steps[layer].layer = layer;
        std::vector<hipGraphNode_t> now(width);
        for (auto& node : now) {
            hipHostNodeParams params = {check, &steps[layer]};
            NEED(hipGraphAddHostNode(&node, graph, before.data(), before.size(), &params));
        }
        before = now;
    }
    show("nodes", node_count(graph));
    show("edges", edge_count(graph));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    show("last layer", layer_now);
    show("nodes before their time", outside);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
