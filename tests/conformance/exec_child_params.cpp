// hipGraphExecChildGraphNodeSetParams.
// DIFFERS a child of the same shape: 5.2.3 refuses every child, even the one that the node was made of;
//     parameters of the nodes inside may change (HIP 7 documentation of hipGraphExecUpdate)
// DIFFERS runs: follows from that; HIP 7 documentation of hipGraphExecChildGraphNodeSetParams
// DIFFERS node of another graph: follows from that; HIP 7 documentation of
//     hipGraphExecChildGraphNodeSetParams
// DIFFERS unchanged by errors: follows from that; HIP 7 documentation of hipGraphExecChildGraphNodeSetParams
// proves: hipGraphAddChildGraphNode, hipGraphAddHostNode, hipGraphExecChildGraphNodeSetParams
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, child, other, longer, foreign;
    for (auto each : {&graph, &child, &other, &longer, &foreign}) NEED(hipGraphCreate(each, 0));
    auto c = host(trace, child, "c1");
    host(trace, child, "c2", {c});
    hipGraphNode_t node, elsewhere;
    NEED(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    NEED(hipGraphAddChildGraphNode(&elsewhere, foreign, nullptr, 0, child));
    auto h = host(trace, graph, "h", {node});
    hipGraphExec_t exec = instantiate(graph);
    auto o = host(trace, other, "o1");
    host(trace, other, "o2", {o});
    show("a child of the same shape", hipGraphExecChildGraphNodeSetParams(exec, node, other));
    run(exec, nullptr);
    trace.show_order("runs");
    auto l = host(trace, longer, "l1");
    auto m = host(trace, longer, "l2", {l});
    host(trace, longer, "l3", {m});
    show("a longer child is refused", hipGraphExecChildGraphNodeSetParams(exec, node, longer) != hipSuccess);
    show("the graph around it is refused", hipGraphExecChildGraphNodeSetParams(exec, node,
        graph) != hipSuccess);
    show("null executable", hipGraphExecChildGraphNodeSetParams(nullptr, node, other));
    show("null node", hipGraphExecChildGraphNodeSetParams(exec, nullptr, other));
    show("null child", hipGraphExecChildGraphNodeSetParams(exec, node, nullptr));
    show("node of another graph", hipGraphExecChildGraphNodeSetParams(exec, elsewhere, other));
    (void)h;
    run(exec, nullptr);
    trace.show_order("unchanged by errors");
    run(instantiate(graph), nullptr);
    trace.show_order("the graph has its own child");
    NEED(hipGraphExecDestroy(exec));
    for (auto each : {graph, child, other, longer, foreign}) NEED(hipGraphDestroy(each));
}
