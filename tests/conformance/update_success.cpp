// hipGraphExecUpdate with graphs of the same shape.
// DIFFERS node of a success is null: 5.2.3 leaves the place for the node as it was; there is none then
//     (HIP 7 documentation of hipGraphExecUpdate)
// proves: hipGraphAddHostNode, hipGraphClone, hipGraphExecUpdate, hipGraphHostNodeSetParams
#include "graph.h"

int main() {
    hipGraph_t graph, same, clone;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    host(trace, graph, "b", {a});
    hipGraphExec_t exec = instantiate(graph);
    auto node = reinterpret_cast<hipGraphNode_t>(&trace);
    hipGraphExecUpdateResult result;
    NEED(hipGraphExecUpdate(exec, graph, &node, &result));
    show("node of a success is null", node == nullptr);
    show_update("with its own graph", exec, graph);
    run(exec, nullptr);
    trace.show_order("runs");
    hipHostNodeParams changed = trace.step("changed");
    NEED(hipGraphHostNodeSetParams(a, &changed));
    show_update("with its own graph after a change", exec, graph);
    run(exec, nullptr);
    trace.show_order("runs the change");
    NEED(hipGraphCreate(&same, 0));
    auto c = host(trace, same, "c");
    host(trace, same, "d", {c});
    show_update("with another graph of the same shape", exec, same);
    run(exec, nullptr);
    trace.show_order("runs what the other graph does");
    NEED(hipGraphClone(&clone, graph));
    show_update("with a clone", exec, clone);
    run(exec, nullptr);
    trace.show_order("runs what the clone does");
    hipGraph_t empty1, empty2;
    NEED(hipGraphCreate(&empty1, 0));
    NEED(hipGraphCreate(&empty2, 0));
    auto e = empty(empty1, "e");
    empty(empty1, "f", {e});
    auto g = empty(empty2, "g");
    empty(empty2, "h", {g});
    hipGraphExec_t nothing = instantiate(empty1);
    show_update("empty nodes", nothing, empty2);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphExecDestroy(nothing));
    for (auto each : {graph, same, clone, empty1, empty2}) NEED(hipGraphDestroy(each));
}
