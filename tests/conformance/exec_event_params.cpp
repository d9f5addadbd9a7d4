// hipGraphExecEventRecordNodeSetEvent and hipGraphExecEventWaitNodeSetEvent.
// proves: hipGraphAddEventRecordNode, hipGraphAddEventWaitNode, hipGraphAddHostNode
// proves: hipGraphEventRecordNodeGetEvent, hipGraphExecEventRecordNodeSetEvent
// proves: hipGraphExecEventWaitNodeSetEvent
#include "graph.h"

int main() {
    hipGraph_t graph, other;
    hipEvent_t one, two, got;
    Trace trace;
    NEED(hipEventCreate(&one));
    NEED(hipEventCreate(&two));
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&other, 0));
    hipGraphNode_t record, wait, foreign, late;
    auto a = host(trace, graph, "a");
    NEED(hipGraphAddEventRecordNode(&record, graph, &a, 1, one));
    NEED(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, one));
    NEED(hipGraphAddEventRecordNode(&foreign, other, nullptr, 0, one));
    hipGraphExec_t exec = instantiate(graph);
    show("set record", hipGraphExecEventRecordNodeSetEvent(exec, record, two));
    show("set wait", hipGraphExecEventWaitNodeSetEvent(exec, wait, two));
    NEED(hipGraphEventRecordNodeGetEvent(record, &got));
    show("the node of the graph keeps its event", got == one);
    run(exec, nullptr);
    float time;
    show("the first event was not recorded", hipEventElapsedTime(&time, one, one));
    show("the second event was", hipEventElapsedTime(&time, two, two));
    trace.show_order("ran");
    show("record, null executable", hipGraphExecEventRecordNodeSetEvent(nullptr, record, two));
    show("record, null node", hipGraphExecEventRecordNodeSetEvent(exec, nullptr, two));
    show("record, null event", hipGraphExecEventRecordNodeSetEvent(exec, record, nullptr));
    show("wait, null executable", hipGraphExecEventWaitNodeSetEvent(nullptr, wait, two));
    show("wait, null node", hipGraphExecEventWaitNodeSetEvent(exec, nullptr, two));
    show("wait, null event", hipGraphExecEventWaitNodeSetEvent(exec, wait, nullptr));
    show("record of another graph", hipGraphExecEventRecordNodeSetEvent(exec, foreign, two));
    NEED(hipGraphAddEventRecordNode(&late, graph, nullptr, 0, one));
    show("record added later", hipGraphExecEventRecordNodeSetEvent(exec, late, two));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(other));
}
