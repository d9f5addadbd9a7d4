// An executable outlives its graph, and a launch its executable.
// proves: hipGraphAddHostNode, hipGraphDestroy, hipGraphExecDestroy, hipGraphHostNodeSetParams
#include "graph.h"

int main() {
    hipGraph_t graph;
    hipStream_t stream;
    Trace trace;
    NEED(hipStreamCreate(&stream));
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    auto b = host(trace, graph, "b", {a});
    hipGraphExec_t exec = instantiate(graph);
    host(trace, graph, "late", {b});
    run(exec, stream);
    trace.show_order("a node that was added later does not run");
    hipHostNodeParams changed = trace.step("changed");
    NEED(hipGraphHostNodeSetParams(a, &changed));
    run(exec, stream);
    trace.show_order("parameters that were set later do not count");
    hipGraphExec_t second = instantiate(graph);
    run(second, stream);
    trace.show_order("a second executable has both");
    show("destroy the first executable", hipGraphExecDestroy(exec));
    run(second, stream);
    trace.show_order("the second runs on");
    show("destroy the graph", hipGraphDestroy(graph));
    run(second, stream);
    trace.show_order("the second runs without the graph");
    NEED(hipGraphLaunch(second, stream));
    NEED(hipGraphLaunch(second, stream));
    NEED(hipStreamSynchronize(stream));
    show("destroy the second", hipGraphExecDestroy(second));
    trace.show_order("two launches before that");
    NEED(hipStreamDestroy(stream));
}
