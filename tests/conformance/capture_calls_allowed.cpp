// Calls that no capture mode forbids.
#include "captured.h"

int main() {
    int device, count;
    size_t nodes;
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        hipStream_t stream, fresh;
        hipEvent_t event;
        hipGraph_t graph;
        hipGraphNode_t node;
        hipGraphExec_t exec;
        unsigned flags;
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, mode.value));
        show("hipStreamCreate, " + name, hipStreamCreate(&fresh));
        show("hipStreamDestroy, " + name, hipStreamDestroy(fresh));
        show("hipStreamGetFlags, " + name, hipStreamGetFlags(stream, &flags));
        show("hipEventCreate, " + name, hipEventCreate(&event));
        show("hipEventDestroy, " + name, hipEventDestroy(event));
        show("hipGetDevice, " + name, hipGetDevice(&device));
        show("hipSetDevice, " + name, hipSetDevice(device));
        show("hipGetDeviceCount, " + name, hipGetDeviceCount(&count));
        show("hipGraphCreate, " + name, hipGraphCreate(&graph, 0));
        show("hipGraphAddEmptyNode, " + name, hipGraphAddEmptyNode(&node, graph, nullptr, 0));
        show("hipGraphGetNodes, " + name, hipGraphGetNodes(graph, nullptr, &nodes));
        show("hipGraphInstantiate, " + name, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
        show("hipGraphExecDestroy, " + name, hipGraphExecDestroy(exec));
        show("hipGraphDestroy, " + name, hipGraphDestroy(graph));
        show("state during them, " + name, state_of(stream));
        show_end("the capture, " + name, stream);
    }
    return 0;
}
