// A clone and its original do not see each other's changes.
// proves: hipGraphAddHostNode, hipGraphClone, hipGraphDestroyNode, hipGraphGetEdges, hipGraphGetNodes
// proves: hipGraphHostNodeSetParams, hipGraphNodeFindInClone, hipGraphRemoveDependencies
#include "graph.h"

int main() {
    hipGraph_t graph, clone;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    NEED(hipGraphClone(&clone, graph));
    hipGraphNode_t a2, b2;
    NEED(hipGraphNodeFindInClone(&a2, a, clone));
    NEED(hipGraphNodeFindInClone(&b2, b, clone));
    names().add("a'", a2);
    names().add("b'", b2);

    host(trace, graph, "c", {b});
    show_nodes("original with c", graph);
    show_nodes("clone", clone);
    host(trace, clone, "d", {b2});
    show_nodes("clone with d", clone);
    show_nodes("original", graph);
    hipHostNodeParams changed = trace.step("changed");
    show("change a in the original", hipGraphHostNodeSetParams(a, &changed));
    hipHostNodeParams other = trace.step("other");
    show("change b' in the clone", hipGraphHostNodeSetParams(b2, &other));
    run(instantiate(graph), nullptr);
    trace.show_order("original runs");
    run(instantiate(clone), nullptr);
    trace.show_order("clone runs");
    show("remove an edge of the original", hipGraphRemoveDependencies(graph, &a, &b, 1));
    show_edges("edges of the original", graph);
    show_edges("edges of the clone", clone);
    show("destroy a node of the original", hipGraphDestroyNode(a));
    show_nodes("nodes of the clone", clone);
    NEED(hipGraphDestroy(graph));
    run(instantiate(clone), nullptr);
    trace.show_order("clone runs alone");
    NEED(hipGraphDestroy(clone));
}
