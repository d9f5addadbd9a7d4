// hipGraphGetRootNodes: which nodes are roots, and arrays that are too small or too large.
// DIFFERS without a and b: 5.2.3 forgets that the dependents of removed nodes may be roots now; graph_api, hipGraphGetRootNodes
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphGetRootNodes
// proves: hipGraphRemoveDependencies
#include "graph.h"

static void ask(const char* label, hipGraph_t graph, size_t room) {
    hipGraphNode_t untouched = reinterpret_cast<hipGraphNode_t>(&room);
    names().add("untouched", untouched);
    std::vector<hipGraphNode_t> array(6, untouched);
    size_t count = room;
    std::string at = label;
    show(label, hipGraphGetRootNodes(graph, array.data(), &count));
    show((at + ", count").c_str(), count);
    show((at + ", array").c_str(), names().of(array.data(), array.size()));
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    size_t count = 77;
    show("empty graph", hipGraphGetRootNodes(graph, nullptr, &count));
    show("empty graph, count", count);
    auto a = empty(graph, "a");
    auto b = empty(graph, "b");
    auto c = empty(graph, "c", {a, b});
    auto d = empty(graph, "d");
    empty(graph, "e", {c});
    show_roots("roots", graph);
    ask("exact array", graph, 3);
    ask("array of 1", graph, 1);
    ask("array of 5", graph, 5);
    NEED(hipGraphAddDependencies(graph, &d, &b, 1));
    show_roots("b behind d", graph);
    NEED(hipGraphRemoveDependencies(graph, &d, &b, 1));
    show_roots("b free again", graph);
    NEED(hipGraphDestroyNode(a));
    show_roots("without a", graph);
    NEED(hipGraphDestroyNode(b));
    show_roots("without a and b", graph);
    show("no count", hipGraphGetRootNodes(graph, nullptr, nullptr));
    show("null graph", hipGraphGetRootNodes(nullptr, nullptr, &count));
    NEED(hipGraphDestroy(graph));
}
