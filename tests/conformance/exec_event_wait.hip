// An event wait node holds back what follows it until its event has been reached.
// HIP: 5.2.3 does not hold host nodes back behind an event of host work: kernels do the work here.
// proves: hipGraphAddEventRecordNode, hipGraphAddEventWaitNode, hipGraphAddKernelNode
#include "kernels.h"

// Writes `value` behind enough work for anything that does not wait to be seen.
__global__ void slow(int* to, int value, int rounds) {
    int x = value;
    for (int i = 0; i < rounds; ++i) x = x * 1664525 + 1013904223;
    *to = x == 1 ? 0 : value;
}

__global__ void copy(int* to, const int* from) { *to = *from; }

int main() {
    int* source = device_memory<int>(1, 0);
    int* seen = device_memory<int>(1, -1);
    hipStream_t stream, other;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    hipGraph_t waits, records;
    NEED(hipGraphCreate(&waits, 0));
    hipGraphNode_t wait, node;
    NEED(hipGraphAddEventWaitNode(&wait, waits, nullptr, 0, event));
    Launch<int*, const int*> read(copy, dim3(1), dim3(1), seen, source);
    NEED(hipGraphAddKernelNode(&node, waits, &wait, 1, &read.params));
    hipGraphExec_t waiting = instantiate(waits);
    show("launch with an event never recorded", hipGraphLaunch(waiting, stream));
    show("synchronize", hipStreamSynchronize(stream));
    show("read", contents(seen, 1)[0]);

    const int rounds = 200000;
    hipLaunchKernelGGL(slow, dim3(1), dim3(1), 0, other, source, 7, rounds);
    NEED(hipEventRecord(event, other));
    show("launch behind a kernel of another stream", hipGraphLaunch(waiting, stream));
    NEED(hipStreamSynchronize(stream));
    show("read behind it", contents(seen, 1)[0]);

    NEED(hipGraphCreate(&records, 0));
    Launch<int*, int, int> write(slow, dim3(1), dim3(1), source, 8, rounds);
    hipGraphNode_t writer, record;
    NEED(hipGraphAddKernelNode(&writer, records, nullptr, 0, &write.params));
    NEED(hipGraphAddEventRecordNode(&record, records, &writer, 1, event));
    hipGraphExec_t recording = instantiate(records);
    NEED(hipGraphLaunch(recording, other));
    show("launch behind a graph that records", hipGraphLaunch(waiting, stream));
    NEED(hipStreamSynchronize(stream));
    show("read behind the graph", contents(seen, 1)[0]);
    NEED(hipMemset(source, 0, sizeof(int)));
    NEED(hipDeviceSynchronize());
    NEED(hipGraphLaunch(recording, other));
    NEED(hipStreamWaitEvent(stream, event, 0));
    hipLaunchKernelGGL(copy, dim3(1), dim3(1), 0, stream, seen, source);
    NEED(hipStreamSynchronize(stream));
    show("a kernel of a stream that waits", contents(seen, 1)[0]);
    NEED(hipGraphExecDestroy(recording));
    NEED(hipGraphExecDestroy(waiting));
    NEED(hipGraphDestroy(records));
    NEED(hipGraphDestroy(waits));
    NEED(hipEventDestroy(event));
}
