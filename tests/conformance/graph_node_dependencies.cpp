// hipGraphNodeGetDependencies: order, and arrays that are too small or too large.
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphNodeGetDependencies
// proves: hipGraphRemoveDependencies
#include "graph.h"

static void ask(const char* label, hipGraphNode_t node, size_t room) {
    hipGraphNode_t untouched = reinterpret_cast<hipGraphNode_t>(&room);
    names().add("untouched", untouched);
    std::vector<hipGraphNode_t> array(6, untouched);
    size_t count = room;
    std::string at = label;
    show(label, hipGraphNodeGetDependencies(node, array.data(), &count));
    show((at + ", count").c_str(), count);
    show((at + ", array").c_str(), names().of(array.data(), array.size()));
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b");
    auto c = empty(graph, "c");
    auto d = empty(graph, "d", {c, a});
    NEED(hipGraphAddDependencies(graph, &b, &d, 1));
    size_t count = 77;
    show("of a root", hipGraphNodeGetDependencies(a, nullptr, &count));
    show("of a root, count", count);
    count = 77;
    show("count only", hipGraphNodeGetDependencies(d, nullptr, &count));
    show("count only, count", count);
    ask("exact array", d, 3);
    ask("array of 2", d, 2);
    ask("array of 5", d, 5);
    NEED(hipGraphRemoveDependencies(graph, &a, &d, 1));
    show_dependencies("without a > d", d);
    NEED(hipGraphAddDependencies(graph, &a, &d, 1));
    ask("with a > d again", d, 3);
    show("no count", hipGraphNodeGetDependencies(d, nullptr, nullptr));
    show("null node", hipGraphNodeGetDependencies(nullptr, nullptr, &count));
    NEED(hipGraphDestroyNode(c));
    show_dependencies("after removing c", d);
    NEED(hipGraphDestroy(graph));
}
