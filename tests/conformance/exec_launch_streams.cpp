// Launches on every kind of stream.
// proves: hipGraphAddHostNode, hipGraphLaunch
#include "graph.h"

int main() {
    hipGraph_t graph;
    hipStream_t created, free, urgent;
    Trace trace;
    NEED(hipStreamCreate(&created));
    NEED(hipStreamCreateWithFlags(&free, hipStreamNonBlocking));
    int least, greatest;
    NEED(hipDeviceGetStreamPriorityRange(&least, &greatest));
    NEED(hipStreamCreateWithPriority(&urgent, hipStreamDefault, greatest));
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    host(trace, graph, "b", {a});
    hipGraphExec_t exec = instantiate(graph);
    show("null stream", hipGraphLaunch(exec, nullptr));
    show("null stream, synchronize", hipStreamSynchronize(nullptr));
    trace.show_order("null stream, order");
    show("created stream", hipGraphLaunch(exec, created));
    show("created stream, synchronize", hipStreamSynchronize(created));
    trace.show_order("created stream, order");
    show("stream that does not block", hipGraphLaunch(exec, free));
    show("stream that does not block, synchronize", hipStreamSynchronize(free));
    trace.show_order("stream that does not block, order");
    show("urgent stream", hipGraphLaunch(exec, urgent));
    show("urgent stream, synchronize", hipStreamSynchronize(urgent));
    trace.show_order("urgent stream, order");
    show("stream of the thread", hipGraphLaunch(exec, hipStreamPerThread));
    show("stream of the thread, synchronize", hipStreamSynchronize(hipStreamPerThread));
    trace.show_order("stream of the thread, order");
    show("device synchronize after a launch", hipGraphLaunch(exec, created));
    show("device synchronize", hipDeviceSynchronize());
    trace.show_order("device synchronize, order");
    show("null executable", hipGraphLaunch(nullptr, created));
    show("null executable and stream", hipGraphLaunch(nullptr, nullptr));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
