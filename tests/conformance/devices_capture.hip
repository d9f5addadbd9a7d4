// Two devices: a capture that goes on in a stream of the other device, and comes back.
// DEVICES: 2
#include "captured.h"
#include "kernels.h"

int main() {
    const int count = 256;
    int *memory[2];
    hipStream_t stream[2];
    hipEvent_t event[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], count * sizeof(int)));
        NEED(hipMemset(memory[device], 0, count * sizeof(int)));
        NEED(hipStreamCreateWithFlags(&stream[device], hipStreamNonBlocking));
        NEED(hipEventCreateWithFlags(&event[device], hipEventDisableTiming));
        NEED(hipDeviceEnablePeerAccess(1 - device, 0));
        NEED(hipDeviceSynchronize());
    }
    const int *first = memory[0], *second = memory[1];

    NEED(hipSetDevice(0));
    show("begin", hipStreamBeginCapture(stream[0], hipStreamCaptureModeGlobal));
    add<<<count / 64, 64, 0, stream[0]>>>(memory[0], 10, count);
    show("record on the first", hipEventRecord(event[0], stream[0]));
    NEED(hipSetDevice(1));
    show("wait on the second", hipStreamWaitEvent(stream[1], event[0], 0));
    sum<<<count / 64, 64, 0, stream[1]>>>(memory[1], first, second, count);
    show("launch on the second", hipGetLastError());
    show("record on the second", hipEventRecord(event[1], stream[1]));
    NEED(hipSetDevice(0));
    show("wait on the first", hipStreamWaitEvent(stream[0], event[1], 0));
    show("copy from the second to the first",
         hipMemcpyAsync(memory[0], memory[1], count * sizeof(int), hipMemcpyDeviceToDevice, stream[0]));
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(stream[0], &graph));
    if (!graph) return 0;
    show("nodes", node_count(graph));
    show("edges", edge_count(graph));
    for (hipGraphNode_t node : nodes_of(graph)) show("kind", work_of(node));
    // AMD's 5.2.3 crashes where such a graph is launched: tests/programs/device_graphs.hip does that with ours.
    NEED(hipGraphDestroy(graph));
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipEventDestroy(event[device]));
        NEED(hipStreamDestroy(stream[device]));
        NEED(hipFree(memory[device]));
    }
}
