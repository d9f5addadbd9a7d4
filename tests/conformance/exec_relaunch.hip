// Many launches of one executable, some in flight together, in one stream and in several that events order.
// proves: hipGraphAddKernelNode, hipGraphLaunch
#include "kernels.h"

int main() {
    const int count = 256;
    int* data = device_memory<int>(count, 0);
    hipStream_t one, two;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
    NEED(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto first = kernel(graph, {}, add, count, data, 1);
    kernel(graph, {first}, add, count, data, 2);
    hipGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 50; ++i) NEED(hipGraphLaunch(exec, one));
    NEED(hipStreamSynchronize(one));
    auto values = contents(data, count);
    show_all("50 launches", values.data(), count, 150);
    for (int i = 0; i < 10; ++i) {
        NEED(hipGraphLaunch(exec, one));
        NEED(hipEventRecord(event, one));
        NEED(hipStreamWaitEvent(two, event, 0));
        NEED(hipGraphLaunch(exec, two));
        NEED(hipEventRecord(event, two));
        NEED(hipStreamWaitEvent(one, event, 0));
    }
    NEED(hipDeviceSynchronize());
    values = contents(data, count);
    show_all("20 launches in two streams", values.data(), count, 210);
    NEED(hipGraphLaunch(exec, nullptr));
    values = contents(data, count);
    show_all("a copy behind a launch on the null stream", values.data(), count, 213);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
