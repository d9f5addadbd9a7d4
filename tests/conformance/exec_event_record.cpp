// An event record node marks its event in every launch.
// proves: hipGraphAddEventRecordNode, hipGraphAddHostNode
#include "graph.h"

int main() {
    hipGraph_t graph;
    hipStream_t stream, other;
    hipEvent_t start, stop, never;
    Trace trace;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&other));
    NEED(hipEventCreate(&start));
    NEED(hipEventCreate(&stop));
    NEED(hipEventCreate(&never));
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t first, last;
    NEED(hipGraphAddEventRecordNode(&first, graph, nullptr, 0, start));
    auto a = host(trace, graph, "a", {first});
    auto b = host(trace, graph, "b", {a});
    NEED(hipGraphAddEventRecordNode(&last, graph, &b, 1, stop));
    hipGraphExec_t exec = instantiate(graph);
    show("query before any launch", hipEventQuery(stop));
    show("synchronize before any launch", hipEventSynchronize(stop));
    float time = -1;
    show("time before any launch", hipEventElapsedTime(&time, start, stop));
    show("launch", hipGraphLaunch(exec, stream));
    show("synchronize the event", hipEventSynchronize(stop));
    trace.show_order("what it waited for");
    show("query", hipEventQuery(stop));
    NEED(hipStreamSynchronize(stream));
    show("time", hipEventElapsedTime(&time, start, stop));
    show("time is not negative", time >= 0);
    show("time is below a minute", time < 60000);
    NEED(hipGraphLaunch(exec, stream));
    show("another stream waits", hipStreamWaitEvent(other, stop, 0));
    show("synchronize that stream", hipStreamSynchronize(other));
    trace.show_order("what it waited for again");
    NEED(hipStreamSynchronize(stream));
    show("an event without a node", hipEventElapsedTime(&time, start, never));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipEventDestroy(start));
    NEED(hipEventDestroy(stop));
    NEED(hipEventDestroy(never));
}
