// hipGraphGetNodes: counts, order, and arrays that are too small or too large.
// proves: hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphGetNodes
#include "graph.h"

static void ask(const char* label, hipGraph_t graph, size_t room) {
    hipGraphNode_t untouched = reinterpret_cast<hipGraphNode_t>(&room);
    names().add("untouched", untouched);
    std::vector<hipGraphNode_t> array(8, untouched);
    size_t count = room;
    std::string at = label;
    show(label, hipGraphGetNodes(graph, array.data(), &count));
    show((at + ", count").c_str(), count);
    show((at + ", array").c_str(), names().of(array.data(), array.size()));
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    size_t count = 77;
    show("empty graph", hipGraphGetNodes(graph, nullptr, &count));
    show("empty graph, count", count);
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a});
    empty(graph, "c");
    empty(graph, "d", {b});
    show_nodes("nodes in order", graph);
    count = 77;
    show("count only", hipGraphGetNodes(graph, nullptr, &count));
    show("count only, count", count);
    ask("exact array", graph, 4);
    ask("array of 2", graph, 2);
    ask("array of 7", graph, 7);
    ask("array of 0", graph, 0);
    show("no count", hipGraphGetNodes(graph, nullptr, nullptr));
    hipGraphNode_t array[4];
    show("array, but no count", hipGraphGetNodes(graph, array, nullptr));
    count = 4;
    show("null graph", hipGraphGetNodes(nullptr, array, &count));
    NEED(hipGraphDestroyNode(b));
    show_nodes("after removing b", graph);
    empty(graph, "e");
    show_nodes("after adding e", graph);
    NEED(hipGraphDestroy(graph));
}
