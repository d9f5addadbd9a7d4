// hipGraphHostNodeGetParams and SetParams.
// proves: hipGraphAddHostNode, hipGraphHostNodeGetParams, hipGraphHostNodeSetParams
#include "graph.h"

static int calls[2];
static void first(void* by) { calls[0] += static_cast<int>(reinterpret_cast<size_t>(by)); }
static void second(void* by) { calls[1] += static_cast<int>(reinterpret_cast<size_t>(by)); }

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t node = nullptr;
    hipHostNodeParams given = {first, reinterpret_cast<void*>(3)}, got = {};
    show("add", hipGraphAddHostNode(&node, graph, nullptr, 0, &given));
    given = {nullptr, nullptr};
    show("get", hipGraphHostNodeGetParams(node, &got));
    show("the function given", got.fn == first);
    show("the data given", got.userData == reinterpret_cast<void*>(3));
    hipHostNodeParams other = {second, reinterpret_cast<void*>(5)}, none = {nullptr, nullptr};
    show("set", hipGraphHostNodeSetParams(node, &other));
    show("get after set", hipGraphHostNodeGetParams(node, &got));
    show("the function set", got.fn == second);
    show("the data set", got.userData == reinterpret_cast<void*>(5));
    show("set without a function", hipGraphHostNodeSetParams(node, &none));
    show("set without parameters", hipGraphHostNodeSetParams(node, nullptr));
    show("set on null", hipGraphHostNodeSetParams(nullptr, &other));
    show("get without a place", hipGraphHostNodeGetParams(node, nullptr));
    show("get of null", hipGraphHostNodeGetParams(nullptr, &got));
    NEED(hipGraphHostNodeGetParams(node, &got));
    show("unchanged by errors", got.fn == second);
    show("add without a function", hipGraphAddHostNode(&node, graph, nullptr, 0, &none));
    show("add without parameters", hipGraphAddHostNode(&node, graph, nullptr, 0, nullptr));
    show("add without a place", hipGraphAddHostNode(nullptr, graph, nullptr, 0, &other));
    show("add to null", hipGraphAddHostNode(&node, nullptr, nullptr, 0, &other));
    show("add with a count alone", hipGraphAddHostNode(&node, graph, nullptr, 2, &other));
    show("nodes", node_count(graph));
    run(instantiate(graph), nullptr);
    line("calls: %d %d", calls[0], calls[1]);
    NEED(hipGraphDestroy(graph));
}
