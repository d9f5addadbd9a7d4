// A launch stands in its stream like any other work: behind copies and fills, before what follows.
// HIP: 5.2.3 does not hold the host nodes of a launch back behind a callback of the stream: there is none.
// proves: hipGraphAddMemcpyNode1D, hipGraphLaunch
#include "graph.h"

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    int* device = device_memory(16, 1);
    int value = 0;
    hipGraph_t copies;
    NEED(hipGraphCreate(&copies, 0));
    hipGraphNode_t node;
    NEED(hipGraphAddMemcpyNode1D(&node, copies, nullptr, 0, &value, device, 4, hipMemcpyDeviceToHost));
    hipGraphExec_t copy = instantiate(copies);
    int seven = 7, nine = 9, seen = 0;
    NEED(hipMemcpyAsync(device, &seven, 4, hipMemcpyHostToDevice, stream));
    run(copy, stream);
    show("a graph reads what a copy before it wrote", value);
    NEED(hipMemcpyAsync(device, &nine, 4, hipMemcpyHostToDevice, stream));
    NEED(hipGraphLaunch(copy, stream));
    NEED(hipMemcpyAsync(&seen, device, 4, hipMemcpyDeviceToHost, stream));
    NEED(hipStreamSynchronize(stream));
    show("again", value);
    show("a copy behind the graph", seen);
    NEED(hipMemsetAsync(device, 1, 4, stream));
    run(copy, stream);
    show("behind a fill", value);
    NEED(hipGraphExecDestroy(copy));
    NEED(hipGraphDestroy(copies));
    NEED(hipStreamDestroy(stream));
}
