// An event wait node holds back what follows it until its event has been reached.
#include "graph.h"

static Trace trace;
static void callback(hipStream_t, hipError_t, void* name) { trace.note(static_cast<const char*>(name)); }

int main() {
    hipGraph_t graph;
    hipStream_t stream, other;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t wait;
    NEED(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
    host(trace, graph, "after", {wait});
    hipGraphExec_t exec = instantiate(graph);
    show("launch with an event never recorded", hipGraphLaunch(exec, stream));
    show("synchronize", hipStreamSynchronize(stream));
    trace.show_order("nothing held it back");
    static char before[] = "before";
    NEED(hipStreamAddCallback(other, callback, before, 0));
    NEED(hipEventRecord(event, other));
    show("launch behind work of another stream", hipGraphLaunch(exec, stream));
    show("synchronize again", hipStreamSynchronize(stream));
    trace.show_order("in order");
    NEED(hipStreamSynchronize(other));

    hipGraph_t both;
    NEED(hipGraphCreate(&both, 0));
    auto a = host(trace, both, "a");
    hipGraphNode_t record;
    NEED(hipGraphAddEventRecordNode(&record, both, &a, 1, event));
    hipGraphExec_t first = instantiate(both);
    NEED(hipGraphLaunch(first, other));
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    trace.show_order("one graph records, another waits");
    NEED(hipStreamSynchronize(other));
    NEED(hipGraphExecDestroy(first));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(both));
    NEED(hipGraphDestroy(graph));
    NEED(hipEventDestroy(event));
}
