// hipGraphNodeGetDependentNodes: order, and arrays that are too small or too large.
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphNodeGetDependentNodes
// proves: hipGraphRemoveDependencies
#include "graph.h"

static void ask(const char* label, hipGraphNode_t node, size_t room) {
    hipGraphNode_t untouched = reinterpret_cast<hipGraphNode_t>(&room);
    names().add("untouched", untouched);
    std::vector<hipGraphNode_t> array(6, untouched);
    size_t count = room;
    std::string at = label;
    show(label, hipGraphNodeGetDependentNodes(node, array.data(), &count));
    show((at + ", count").c_str(), count);
    show((at + ", array").c_str(), names().of(array.data(), array.size()));
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a});
    auto c = empty(graph, "c", {a, b});
    auto d = empty(graph, "d");
    NEED(hipGraphAddDependencies(graph, &a, &d, 1));
    size_t count = 77;
    show("of a leaf", hipGraphNodeGetDependentNodes(c, nullptr, &count));
    show("of a leaf, count", count);
    count = 77;
    show("count only", hipGraphNodeGetDependentNodes(a, nullptr, &count));
    show("count only, count", count);
    ask("exact array", a, 3);
    ask("array of 2", a, 2);
    ask("array of 5", a, 5);
    NEED(hipGraphRemoveDependencies(graph, &a, &b, 1));
    show_dependents("without a > b", a);
    NEED(hipGraphAddDependencies(graph, &a, &b, 1));
    ask("with a > b again", a, 3);
    show("no count", hipGraphNodeGetDependentNodes(a, nullptr, nullptr));
    show("null node", hipGraphNodeGetDependentNodes(nullptr, nullptr, &count));
    NEED(hipGraphDestroyNode(d));
    show_dependents("after removing d", a);
    NEED(hipGraphDestroy(graph));
}
