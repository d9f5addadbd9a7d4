// hipGraphDestroyNode: a node goes with its edges.
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a}), c = empty(graph, "c", {a});
    auto d = empty(graph, "d", {b, c});
    show_edges("edges", graph);
    show("destroy b", hipGraphDestroyNode(b));
    show_nodes("nodes", graph);
    show_edges("edges without b", graph);
    show_dependencies("dependencies of d", d);
    show_dependents("dependents of a", a);
    show("destroy a", hipGraphDestroyNode(a));
    show_roots("roots without a", graph);
    show("destroy null", hipGraphDestroyNode(nullptr));
    Trace trace;
    auto h = host(trace, graph, "h", {d});
    auto g = host(trace, graph, "g", {h});
    hipGraphExec_t before = instantiate(graph);
    show("destroy h between two", hipGraphDestroyNode(h));
    show_roots("g is a root now", graph);
    hipGraphExec_t after = instantiate(graph);
    run(before, nullptr);
    trace.show_order("the executable made before");
    run(after, nullptr);
    trace.show_order("the executable made after");
    show("destroy g", hipGraphDestroyNode(g));
    show("destroy d", hipGraphDestroyNode(d));
    show("destroy c", hipGraphDestroyNode(c));
    show("nodes left", node_count(graph));
    show("edges left", edge_count(graph));
    NEED(hipGraphExecDestroy(before));
    NEED(hipGraphExecDestroy(after));
    show("destroy the graph", hipGraphDestroy(graph));
}
