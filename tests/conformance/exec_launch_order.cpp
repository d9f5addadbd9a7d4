// A launch stands in its stream like any other work: behind copies and callbacks, before what follows.
#include "graph.h"

static Trace trace;

static void callback(hipStream_t, hipError_t, void* name) { trace.note(static_cast<const char*>(name)); }

int main() {
    hipGraph_t graph;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    host(trace, graph, "b", {a});
    hipGraphExec_t exec = instantiate(graph);
    static char before[] = "before", between[] = "between", after[] = "after";
    NEED(hipStreamAddCallback(stream, callback, before, 0));
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamAddCallback(stream, callback, between, 0));
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamAddCallback(stream, callback, after, 0));
    show("synchronize", hipStreamSynchronize(stream));
    trace.show_order("callbacks and launches");
    int* device = device_memory(16, 1);
    int value = 0;
    hipGraph_t copies;
    NEED(hipGraphCreate(&copies, 0));
    hipGraphNode_t node;
    NEED(hipGraphAddMemcpyNode1D(&node, copies, nullptr, 0, &value, device, 4, hipMemcpyDeviceToHost));
    hipGraphExec_t copy = instantiate(copies);
    int seven = 7, nine = 9, seen = 0;
    NEED(hipMemcpyAsync(device, &seven, 4, hipMemcpyHostToDevice, stream));
    run(copy, stream);
    show("a graph reads what a copy before it wrote", value);
    NEED(hipMemcpyAsync(device, &nine, 4, hipMemcpyHostToDevice, stream));
    NEED(hipGraphLaunch(copy, stream));
    NEED(hipMemcpyAsync(&seen, device, 4, hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    show("again", value);
    show("a copy behind the graph", seen);
    NEED(hipGraphExecDestroy(copy));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(copies));
    NEED(hipGraphDestroy(graph));
}
