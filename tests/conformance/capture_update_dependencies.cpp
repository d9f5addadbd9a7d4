// hipStreamUpdateCaptureDependencies: adding to and replacing what the next node depends on.
// DIFFERS flags 2: 5.2.3 does not look at the flags; HIP documentation of hipStreamUpdateCaptureDependencies
#include "captured.h"

static size_t dependencies_of(hipStream_t stream) {
    hipStreamCaptureStatus state;
    const hipGraphNode_t* nodes = nullptr;
    size_t count = 0;
    NEED(hipStreamGetCaptureInfo_v2(stream, &state, nullptr, nullptr, &nodes, &count));
    return count;
}

int main() {
    hipStream_t stream;
    void* data;
    NEED(hipStreamCreate(&stream));
    NEED(hipMalloc(&data, 64));
    show("not capturing",
         hipStreamUpdateCaptureDependencies(stream, nullptr, 0, hipStreamAddCaptureDependencies));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        NEED(hipStreamBeginCapture(stream, mode.value));
        NEED(hipMemsetAsync(data, 1, 64, stream));
        hipStreamCaptureStatus state;
        hipGraph_t graph;
        NEED(hipStreamGetCaptureInfo_v2(stream, &state, nullptr, &graph, nullptr, nullptr));
        hipGraphNode_t added[2];
        for (hipGraphNode_t& node : added) NEED(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
        show("flags 2, " + name, hipStreamUpdateCaptureDependencies(stream, added, 2, 2));
        show("null nodes, " + name, hipStreamUpdateCaptureDependencies(stream, nullptr, 1, 0));
        show("dependencies before, " + name, dependencies_of(stream));
        show("add, " + name,
             hipStreamUpdateCaptureDependencies(stream, added, 2, hipStreamAddCaptureDependencies));
        show("dependencies, " + name, dependencies_of(stream));
        NEED(hipMemsetAsync(data, 2, 64, stream));
        show("dependencies behind a node, " + name, dependencies_of(stream));
        show("set, " + name,
             hipStreamUpdateCaptureDependencies(stream, added, 1, hipStreamSetCaptureDependencies));
        show("dependencies, " + name, dependencies_of(stream));
        NEED(hipMemcpyAsync(data, static_cast<char*>(data) + 32, 32, hipMemcpyDeviceToDevice, stream));
        show(name + ", set to nothing",
             hipStreamUpdateCaptureDependencies(stream, nullptr, 0, hipStreamSetCaptureDependencies));
        show("dependencies, " + name, dependencies_of(stream));
        NEED(hipMemsetAsync(data, 3, 64, stream));
        show_end(name, stream);
    }
    return 0;
}
