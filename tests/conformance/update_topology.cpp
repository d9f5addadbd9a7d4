// hipGraphExecUpdate with graphs of another shape.
// DIFFERS one edge: 5.2.3 compares the number of nodes only; other edges are TopologyChanged (HIP 7
//     documentation of hipGraphExecUpdate)
// DIFFERS runs as before: follows from that; HIP 7 documentation of hipGraphExecUpdate
// proves: hipGraphAddHostNode, hipGraphExecUpdate
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph, more, fewer, unlinked, other_edges;
    for (auto each : {&graph, &more, &fewer, &unlinked, &other_edges}) NEED(hipGraphCreate(each, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    host(trace, graph, "c", {b});
    hipGraphExec_t exec = instantiate(graph);

    auto m1 = host(trace, more, "m1");
    auto m2 = host(trace, more, "m2", {m1});
    auto m3 = host(trace, more, "m3", {m2});
    host(trace, more, "m4", {m3});
    show_update("one node more", exec, more);
    auto f1 = host(trace, fewer, "f1");
    host(trace, fewer, "f2", {f1});
    show_update("one node fewer", exec, fewer);
    auto u1 = host(trace, unlinked, "u1");
    host(trace, unlinked, "u2", {u1});
    host(trace, unlinked, "u3");
    show_update("one edge fewer", exec, unlinked);
    auto o1 = host(trace, other_edges, "o1");
    host(trace, other_edges, "o2", {o1});
    host(trace, other_edges, "o3", {o1});
    show_update("one edge elsewhere", exec, other_edges);
    run(exec, nullptr);
    trace.show_order("runs as before");
    host(trace, graph, "late");
    show_update("with its own graph and a node more", exec, graph);
    NEED(hipGraphExecDestroy(exec));
    for (auto each : {graph, more, fewer, unlinked, other_edges}) NEED(hipGraphDestroy(each));
}
