// A captured graph launched again and again, on one stream and on two that events order.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t stream, other;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, stream>>>(data, data, 1);
    multiply<<<1, 64, 0, stream>>>(data, 2);
    hipGraph_t graph;
    NEED(hipStreamEndCapture(stream, &graph));
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    int host[64];
    for (int i = 0; i < 10; ++i) NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("ten launches", host, 64, 2046);
    for (int i = 0; i < 4; ++i) {
        hipStream_t here = i % 2 ? other : stream, there = i % 2 ? stream : other;
        NEED(hipGraphLaunch(exec, here));
        NEED(hipEventRecord(event, here));
        NEED(hipStreamWaitEvent(there, event, 0));
    }
    NEED(hipStreamSynchronize(stream));
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("four more on two streams", host, 64, 2046 * 16 + 30);
    NEED(hipGraphExecDestroy(exec));
    return 0;
}
