// Event record and wait nodes: adding them, and hipGraphEvent*NodeGetEvent and SetEvent.
// proves: hipGraphAddEmptyNode, hipGraphAddEventRecordNode, hipGraphAddEventWaitNode
// proves: hipGraphEventRecordNodeGetEvent, hipGraphEventRecordNodeSetEvent, hipGraphEventWaitNodeGetEvent
// proves: hipGraphEventWaitNodeSetEvent, hipGraphGetEdges, hipGraphNodeGetType
#include "graph.h"

int main() {
    hipGraph_t graph;
    hipEvent_t event, other, got = nullptr;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipEventCreate(&event));
    NEED(hipEventCreate(&other));
    auto a = empty(graph, "a");
    hipGraphNode_t record = nullptr, wait = nullptr, node = nullptr;
    show("add record", hipGraphAddEventRecordNode(&record, graph, &a, 1, event));
    show("add wait", hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    names().add("record", record);
    names().add("wait", wait);
    show("kind of record", kind_of(record));
    show("kind of wait", kind_of(wait));
    show_edges("edges", graph);
    show("event of record", hipGraphEventRecordNodeGetEvent(record, &got));
    show("is the event given", got == event);
    got = nullptr;
    show("event of wait", hipGraphEventWaitNodeGetEvent(wait, &got));
    show("is the event given too", got == event);
    show("set record", hipGraphEventRecordNodeSetEvent(record, other));
    show("set wait", hipGraphEventWaitNodeSetEvent(wait, other));
    NEED(hipGraphEventRecordNodeGetEvent(record, &got));
    show("record has the other", got == other);
    NEED(hipGraphEventWaitNodeGetEvent(wait, &got));
    show("wait has the other", got == other);

    show("record, no place for the node", hipGraphAddEventRecordNode(nullptr, graph, nullptr, 0, event));
    show("record, null graph", hipGraphAddEventRecordNode(&node, nullptr, nullptr, 0, event));
    show("record, null event", hipGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
    show("record, count alone", hipGraphAddEventRecordNode(&node, graph, nullptr, 1, event));
    show("wait, no place for the node", hipGraphAddEventWaitNode(nullptr, graph, nullptr, 0, event));
    show("wait, null graph", hipGraphAddEventWaitNode(&node, nullptr, nullptr, 0, event));
    show("wait, null event", hipGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
    show("wait, count alone", hipGraphAddEventWaitNode(&node, graph, nullptr, 1, event));
    show("get record, null node", hipGraphEventRecordNodeGetEvent(nullptr, &got));
    show("get record, no place", hipGraphEventRecordNodeGetEvent(record, nullptr));
    show("get wait, null node", hipGraphEventWaitNodeGetEvent(nullptr, &got));
    show("get wait, no place", hipGraphEventWaitNodeGetEvent(wait, nullptr));
    show("set record, null node", hipGraphEventRecordNodeSetEvent(nullptr, event));
    show("set record, null event", hipGraphEventRecordNodeSetEvent(record, nullptr));
    show("set wait, null node", hipGraphEventWaitNodeSetEvent(nullptr, event));
    show("set wait, null event", hipGraphEventWaitNodeSetEvent(wait, nullptr));
    show("nodes", node_count(graph));
    NEED(hipGraphDestroy(graph));
    NEED(hipEventDestroy(event));
    NEED(hipEventDestroy(other));
}
