// How long arrays are answered by the queries for roots, dependencies and dependents.
// proves: hipGraphGetRootNodes, hipGraphNodeGetDependencies, hipGraphNodeGetDependentNodes
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a"), b = empty(graph, "b"), c = empty(graph, "c");
    auto end = empty(graph, "end", {a, b, c});
    size_t count = 99;
    show("count of roots", hipGraphGetRootNodes(graph, nullptr, &count));
    show("roots", count);
    count = 99;
    show("count of dependencies", hipGraphNodeGetDependencies(end, nullptr, &count));
    show("dependencies", count);
    count = 99;
    show("count of dependents", hipGraphNodeGetDependentNodes(a, nullptr, &count));
    show("dependents", count);
    for (size_t room : {3, 5}) {
        std::string label = "room for " + std::to_string(room);
        show_array((label + ", roots").c_str(), hipGraphGetRootNodes, graph, room);
        show_array((label + ", dependencies").c_str(), hipGraphNodeGetDependencies, end, room);
        show_array((label + ", dependents").c_str(), hipGraphNodeGetDependentNodes, a, room);
    }
    show_dependencies("a root", a);
    show_dependents("the end", end);
    NEED(hipGraphDestroy(graph));
}
