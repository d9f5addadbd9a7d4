// hipGraphClone: the copy's nodes and edges, and clones of clones.
// proves: hipGraphAddHostNode, hipGraphClone
#include "graph.h"

int main() {
    hipGraph_t graph, clone = nullptr;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    host(trace, graph, "c", {b});
    show("clone", hipGraphClone(&clone, graph));
    show("the clone has a handle of its own", clone != nullptr && clone != graph);
    show("nodes", node_count(clone));
    show("edges", edge_count(clone));
    auto originals = nodes_of(graph), copies = nodes_of(clone);
    bool shared = false;
    for (auto node : copies) shared |= std::count(originals.begin(), originals.end(), node) > 0;
    show("a node is in both", shared);
    run(instantiate(clone), nullptr);
    trace.show_order("the clone runs");
    hipGraph_t second = nullptr;
    hipError_t again = hipGraphClone(&second, clone);
    show("clone of a clone", again);
    if (again == hipSuccess) {
        show("clone of a clone, nodes", node_count(second));
        NEED(hipGraphDestroy(second));
    }
    show("second clone of the original", hipGraphClone(&second, graph));
    show("second clone, nodes", node_count(second));
    show("no place for the clone", hipGraphClone(nullptr, graph));
    show("clone of null", hipGraphClone(&second, nullptr));
    hipGraph_t nothing;
    NEED(hipGraphCreate(&nothing, 0));
    show("clone of an empty graph", hipGraphClone(&second, nothing));
    show("clone of an empty graph, nodes", node_count(second));
    NEED(hipGraphDestroy(graph));
    show("nodes of the clone when the original is gone", node_count(clone));
    run(instantiate(clone), nullptr);
    trace.show_order("the clone runs without the original");
    NEED(hipGraphDestroy(clone));
}
