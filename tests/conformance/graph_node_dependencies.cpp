// hipGraphNodeGetDependencies: order, and arrays that are too small or too large.
// proves: hipGraphAddDependencies, hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphNodeGetDependencies
// proves: hipGraphRemoveDependencies
#include "graph.h"

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
    show_array("exact array", hipGraphNodeGetDependencies, d, 3);
    show_array("array of 2", hipGraphNodeGetDependencies, d, 2);
    show_array("array of 5", hipGraphNodeGetDependencies, d, 5);
    NEED(hipGraphRemoveDependencies(graph, &a, &d, 1));
    show_dependencies("without a > d", d);
    NEED(hipGraphAddDependencies(graph, &a, &d, 1));
    show_array("with a > d again", hipGraphNodeGetDependencies, d, 3);
    show("no count", hipGraphNodeGetDependencies(d, nullptr, nullptr));
    show("null node", hipGraphNodeGetDependencies(nullptr, nullptr, &count));
    NEED(hipGraphDestroyNode(c));
    show_dependencies("after removing c", d);
    NEED(hipGraphDestroy(graph));
}
