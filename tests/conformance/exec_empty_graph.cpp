// Graphs in which nothing happens: no nodes, or only empty ones.
// proves: hipGraphAddEmptyNode, hipGraphInstantiate
#include "graph.h"

int main() {
    hipGraph_t graph;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipGraphCreate(&graph, 0));
    hipGraphExec_t exec = nullptr;
    show("no nodes, instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    show("no nodes, launch", hipGraphLaunch(exec, stream));
    show("no nodes, synchronize", hipStreamSynchronize(stream));
    show("no nodes, destroy", hipGraphExecDestroy(exec));
    auto a = empty(graph, "a");
    auto b = empty(graph, "b", {a});
    show("two empty nodes, instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    show("two empty nodes, launch", hipGraphLaunch(exec, stream));
    show("two empty nodes, launch again", hipGraphLaunch(exec, stream));
    show("two empty nodes, synchronize", hipStreamSynchronize(stream));
    show("two empty nodes, query", hipStreamQuery(stream));
    Trace trace;
    host(trace, graph, "h", {b});
    NEED(hipGraphExecDestroy(exec));
    exec = instantiate(graph);
    run(exec, stream);
    trace.show_order("a host node behind them");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipStreamDestroy(stream));
}
