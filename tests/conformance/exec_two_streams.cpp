// Two executables in two streams, alone and ordered by an event.
// proves: hipGraphAddHostNode, hipGraphLaunch
#include "graph.h"

int main() {
    hipGraph_t graphs[2];
    hipGraphExec_t execs[2];
    hipStream_t streams[2];
    hipEvent_t event;
    Trace trace;
    NEED(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    for (int i = 0; i < 2; ++i) {
        NEED(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
        NEED(hipGraphCreate(&graphs[i], 0));
        auto first = host(trace, graphs[i], i ? "b1" : "a1");
        host(trace, graphs[i], i ? "b2" : "a2", {first});
        execs[i] = instantiate(graphs[i]);
    }
    NEED(hipGraphLaunch(execs[0], streams[0]));
    NEED(hipGraphLaunch(execs[1], streams[1]));
    show("synchronize the first", hipStreamSynchronize(streams[0]));
    show("synchronize the second", hipStreamSynchronize(streams[1]));
    trace.show_set("both ran");
    NEED(hipGraphLaunch(execs[0], streams[0]));
    show("record behind the first", hipEventRecord(event, streams[0]));
    show("let the second wait", hipStreamWaitEvent(streams[1], event, 0));
    NEED(hipGraphLaunch(execs[1], streams[1]));
    show("synchronize the second alone", hipStreamSynchronize(streams[1]));
    trace.show_order("in order");
    show("query the event", hipEventQuery(event));
    NEED(hipGraphLaunch(execs[1], streams[0]));
    NEED(hipGraphLaunch(execs[0], streams[0]));
    show("both in one stream", hipStreamSynchronize(streams[0]));
    trace.show_order("in the order of launching");
    for (int i = 0; i < 2; ++i) {
        NEED(hipGraphExecDestroy(execs[i]));
        NEED(hipGraphDestroy(graphs[i]));
        NEED(hipStreamDestroy(streams[i]));
    }
}
