// hipStreamGetCaptureInfo_v2: the graph under construction and the dependencies of the next node.
#include "captured.h"

struct Info {
    hipStreamCaptureStatus state = static_cast<hipStreamCaptureStatus>(7);
    unsigned long long id = 0;
    hipGraph_t graph = nullptr;
    const hipGraphNode_t* dependencies = nullptr;
    size_t count = 99;

    hipError_t of(hipStream_t stream) {
        return hipStreamGetCaptureInfo_v2(stream, &state, &id, &graph, &dependencies, &count);
    }
};

int main() {
    hipStream_t origin, other;
    hipEvent_t fork, join;
    void* data;
    NEED(hipStreamCreate(&origin));
    NEED(hipStreamCreate(&other));
    NEED(hipEventCreate(&fork));
    NEED(hipEventCreate(&join));
    NEED(hipMalloc(&data, 64));

    Info idle;
    show("not capturing", idle.of(origin));
    show("not capturing, state", state_name(idle.state));
    NEED(hipStreamBeginCapture(origin, hipStreamCaptureModeRelaxed));
    Info begun, first, second, forked, joined;
    show("begun", begun.of(origin));
    show("begun, state", state_name(begun.state));
    show("begun, a graph", begun.graph != nullptr);
    show("begun, dependencies", begun.count);
    show("begun, null state",
         hipStreamGetCaptureInfo_v2(origin, nullptr, nullptr, nullptr, nullptr, nullptr));
    hipStreamCaptureStatus state;
    show("begun, state only", hipStreamGetCaptureInfo_v2(origin, &state, nullptr, nullptr, nullptr, nullptr));
    NEED(hipMemsetAsync(data, 1, 64, origin));
    NEED(first.of(origin));
    show("one node, dependencies", first.count);
    show("one node, type", work_of(first.dependencies[0]));
    show("one node, same graph", first.graph == begun.graph);
    show("one node, same id", first.id == begun.id);
    show("one node, graph so far", shape_of(first.graph));
    hipGraphNode_t node = first.dependencies[0];
    NEED(hipEventRecord(fork, origin));
    NEED(hipStreamWaitEvent(other, fork, 0));
    NEED(forked.of(other));
    show("forked, dependencies", forked.count);
    show("forked, depends on that node", forked.dependencies[0] == node);
    show("forked, same graph", forked.graph == begun.graph);
    NEED(hipMemcpyAsync(data, static_cast<char*>(data) + 32, 32, hipMemcpyDeviceToDevice, other));
    NEED(hipMemsetAsync(data, 2, 64, origin));
    NEED(second.of(origin));
    show("second node, dependencies", second.count);
    show("second node, type", work_of(second.dependencies[0]));
    NEED(hipEventRecord(join, other));
    NEED(hipStreamWaitEvent(origin, join, 0));
    NEED(joined.of(origin));
    show("joined, dependencies", joined.count);
    std::vector<std::string> types;
    for (size_t i = 0; i < joined.count; ++i) types.push_back(work_of(joined.dependencies[i]));
    std::sort(types.begin(), types.end());
    for (const std::string& type : types) show("joined, depends on", type);
    NEED(hipMemsetAsync(data, 3, 64, origin));
    hipGraph_t graph;
    NEED(hipStreamEndCapture(origin, &graph));
    show("the graph at the end is the one shown", graph == begun.graph);
    show("at the end", shape_of(graph));
    Info after;
    show("after", after.of(origin));
    show("after, state", state_name(after.state));
    NEED(hipGraphDestroy(graph));
    return 0;
}
