// hipGraphChildGraphNodeGetGraph: the embedded graph is the node's own.
// proves: hipGraphAddChildGraphNode, hipGraphAddHostNode, hipGraphChildGraphNodeGetGraph, hipGraphGetEdges
// proves: hipGraphHostNodeSetParams, hipGraphNodeFindInClone
#include "graph.h"

int main() {
    hipGraph_t graph, child, embedded = nullptr, again = nullptr;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&child, 0));
    auto c1 = host(trace, child, "c1");
    auto c2 = host(trace, child, "c2", {c1});
    hipGraphNode_t node;
    NEED(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    show("get", hipGraphChildGraphNodeGetGraph(node, &embedded));
    show("not null", embedded != nullptr);
    show("not the graph that was added", embedded != child);
    show("not the graph around it", embedded != graph);
    show("get again", hipGraphChildGraphNodeGetGraph(node, &again));
    show("the same handle", again == embedded);
    show("nodes", node_count(embedded));
    show("edges", edge_count(embedded));
    auto nodes = nodes_of(embedded);
    show("nodes of its own", nodes[0] != c1 && nodes[1] != c2);
    names().add("c1'", nodes[0]);
    names().add("c2'", nodes[1]);
    show_edges("edges by name", embedded);
    hipGraphNode_t found = nullptr;
    show("find c1 in the embedded graph", hipGraphNodeFindInClone(&found, c1, embedded));
    show("found", names().of(found));

    host(trace, embedded, "added", {nodes[1]});
    show("nodes after adding one", node_count(embedded));
    show("nodes of the graph that was added", node_count(child));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    trace.show_order("runs with the added node");
    hipHostNodeParams changed = trace.step("changed");
    show("change a node inside", hipGraphHostNodeSetParams(nodes[0], &changed));
    run(exec, nullptr);
    trace.show_order("the executable made before");
    run(instantiate(graph), nullptr);
    trace.show_order("an executable made after");
    show("no place for the graph", hipGraphChildGraphNodeGetGraph(node, nullptr));
    show("null node", hipGraphChildGraphNodeGetGraph(nullptr, &again));
    show("destroy the added graph", hipGraphDestroy(child));
    show("nodes inside still", node_count(embedded));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
