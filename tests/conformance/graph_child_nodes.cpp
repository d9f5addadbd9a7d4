// Child graphs: they run where their node stands, and are copied when they are added.
// proves: hipGraphAddChildGraphNode, hipGraphAddHostNode, hipGraphDestroyNode, hipGraphGetEdges
#include "graph.h"

int main() {
    hipGraph_t graph, child;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    auto c1 = host(trace, child, "c1");
    host(trace, child, "c2", {c1});
    auto a = host(trace, graph, "a");
    hipGraphNode_t node = nullptr;
    show("add behind a", hipGraphAddChildGraphNode(&node, graph, &a, 1, child));
    names().add("child", node);
    host(trace, graph, "b", {node});
    show("nodes of the parent", node_count(graph));
    show_edges("edges of the parent", graph);
    run(instantiate(graph), nullptr);
    trace.show_order("runs in place");

    host(trace, child, "late", {c1});
    show("nodes of the child after a change", node_count(child));
    run(instantiate(graph), nullptr);
    trace.show_order("a node that the child got later");
    hipGraphNode_t second;
    show("the same child again", hipGraphAddChildGraphNode(&second, graph, &node, 1, child));
    names().add("child again", second);
    // HIP: 5.2.3 does not wait for all leaves of a child graph that ends a launch: something follows it.
    host(trace, graph, "last", {second});
    show("destroy the child's graph", hipGraphDestroy(child));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    trace.show_set("two children, set");
    hipGraph_t nothing;
    NEED(hipGraphCreate(&nothing, 0));
    auto d = host(trace, nothing, "only");
    NEED(hipGraphDestroyNode(d));
    show("an empty child", hipGraphAddChildGraphNode(&second, graph, nullptr, 0, nothing));
    show("no place for the node", hipGraphAddChildGraphNode(nullptr, graph, nullptr, 0, nothing));
    show("null graph", hipGraphAddChildGraphNode(&second, nullptr, nullptr, 0, nothing));
    show("null child", hipGraphAddChildGraphNode(&second, graph, nullptr, 0, nullptr));
    show("count without dependencies", hipGraphAddChildGraphNode(&second, graph, nullptr, 1, nothing));
    show("nodes at last", node_count(graph));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
