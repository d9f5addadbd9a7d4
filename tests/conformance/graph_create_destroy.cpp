// Creating and destroying graphs.
// proves: hipGraphCreate, hipGraphDestroy, hipGraphGetEdges, hipGraphGetNodes
#include "graph.h"

int main() {
    hipGraph_t graph = nullptr;
    show("create", hipGraphCreate(&graph, 0));
    show("a handle was stored", graph != nullptr);
    show("nodes of a new graph", node_count(graph));
    show("edges of a new graph", edge_count(graph));
    show("create with flags 1", hipGraphCreate(&graph, 1));
    show("create with all flags", hipGraphCreate(&graph, ~0u));
    show("create without a place for the handle", hipGraphCreate(nullptr, 0));
    hipGraph_t other = nullptr;
    show("create another", hipGraphCreate(&other, 0));
    show("two graphs have two handles", graph != other);
    show("destroy", hipGraphDestroy(other));
    show("destroy null", hipGraphDestroy(nullptr));
    empty(graph, "a");
    show("destroy a graph with a node", hipGraphDestroy(graph));

    std::vector<hipGraph_t> graphs(100);
    bool created = true, destroyed = true;
    for (auto& g : graphs) created &= hipGraphCreate(&g, 0) == hipSuccess;
    std::sort(graphs.begin(), graphs.end());
    show("100 graphs created", created);
    show("all handles differ", std::adjacent_find(graphs.begin(), graphs.end()) == graphs.end());
    for (auto& g : graphs) destroyed &= hipGraphDestroy(g) == hipSuccess;
    show("100 graphs destroyed", destroyed);
}
