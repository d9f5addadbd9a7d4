// The getters and setters of event nodes on nodes of another kind.
// proves: hipGraphAddEmptyNode, hipGraphAddEventRecordNode, hipGraphAddEventWaitNode
// proves: hipGraphEventRecordNodeGetEvent, hipGraphEventRecordNodeSetEvent, hipGraphEventWaitNodeGetEvent
// proves: hipGraphEventWaitNodeSetEvent, hipGraphExecEventRecordNodeSetEvent
// proves: hipGraphExecEventWaitNodeSetEvent
#include "graph.h"

int main() {
    hipGraph_t graph;
    hipEvent_t event, got = nullptr;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipEventCreate(&event));
    auto plain = empty(graph, "plain");
    hipGraphNode_t record, wait;
    NEED(hipGraphAddEventRecordNode(&record, graph, nullptr, 0, event));
    NEED(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
    show("record's event of a wait", hipGraphEventRecordNodeGetEvent(wait, &got));
    show("wait's event of a record", hipGraphEventWaitNodeGetEvent(record, &got));
    show("record's event of an empty node", hipGraphEventRecordNodeGetEvent(plain, &got));
    show("wait's event of an empty node", hipGraphEventWaitNodeGetEvent(plain, &got));
    show("set record's on a wait", hipGraphEventRecordNodeSetEvent(wait, event));
    show("set wait's on a record", hipGraphEventWaitNodeSetEvent(record, event));
    show("set record's on an empty node", hipGraphEventRecordNodeSetEvent(plain, event));
    show("set wait's on an empty node", hipGraphEventWaitNodeSetEvent(plain, event));
    hipGraphExec_t exec = instantiate(graph);
    show("executable: set record's on a wait", hipGraphExecEventRecordNodeSetEvent(exec, wait, event));
    show("executable: set wait's on a record", hipGraphExecEventWaitNodeSetEvent(exec, record, event));
    show("executable: set record's on an empty node",
        hipGraphExecEventRecordNodeSetEvent(exec, plain, event));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
