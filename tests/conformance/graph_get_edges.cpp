// hipGraphGetEdges: counts, missing arrays, arrays that are too small or too large.
// proves: hipGraphAddEmptyNode, hipGraphDestroyNode, hipGraphGetEdges
#include "graph.h"

static void ask(const char* label, hipGraph_t graph, size_t room) {
    hipGraphNode_t untouched = reinterpret_cast<hipGraphNode_t>(&room);
    names().add("untouched", untouched);
    std::vector<hipGraphNode_t> from(6, untouched), to(6, untouched);
    size_t count = room;
    std::string at = label;
    show(label, hipGraphGetEdges(graph, from.data(), to.data(), &count));
    show((at + ", count").c_str(), count);
    size_t written = 0;
    for (size_t i = 0; i < 6; ++i) written += from[i] != untouched || to[i] != untouched;
    show((at + ", entries written").c_str(), written);
    size_t nulls = 0;
    for (size_t i = 0; i < 6; ++i) nulls += from[i] == nullptr && to[i] == nullptr;
    show((at + ", entries null").c_str(), nulls);
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    size_t count = 77;
    show("empty graph", hipGraphGetEdges(graph, nullptr, nullptr, &count));
    show("empty graph, count", count);
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a});
    auto c = empty(graph, "c", {a});
    empty(graph, "d", {b, c});
    show_edges("diamond", graph);
    count = 77;
    show("count only", hipGraphGetEdges(graph, nullptr, nullptr, &count));
    show("count only, count", count);
    ask("exact arrays", graph, 4);
    ask("arrays of 2", graph, 2);
    ask("arrays of 6", graph, 6);
    hipGraphNode_t array[6];
    count = 4;
    show("no array of starts", hipGraphGetEdges(graph, nullptr, array, &count));
    count = 4;
    show("no array of ends", hipGraphGetEdges(graph, array, nullptr, &count));
    show("no count", hipGraphGetEdges(graph, array, array, nullptr));
    show("null graph", hipGraphGetEdges(nullptr, nullptr, nullptr, &count));
    NEED(hipGraphDestroyNode(b));
    show_edges("without b", graph);
    NEED(hipGraphDestroy(graph));
}
