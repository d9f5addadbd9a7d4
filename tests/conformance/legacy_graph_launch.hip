// A graph on the legacy stream and on blocking streams is ordered as other work there is.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    hipStream_t blocking, capture;
    NEED(hipStreamCreate(&blocking));
    NEED(hipStreamCreate(&capture));
    NEED(hipStreamBeginCapture(capture, hipStreamCaptureModeGlobal));
    multiply<<<1, 64, 0, capture>>>(data, 2);
    add<<<1, 64, 0, capture>>>(data, data, 1);
    hipGraph_t graph;
    NEED(hipStreamEndCapture(capture, &graph));
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    set_slowly<<<1, 64, 0, blocking>>>(data, 5, 300);
    show("launch on null", hipGraphLaunch(exec, nullptr));
    multiply<<<1, 64, 0, blocking>>>(data, 3);
    int host[64];
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("a graph on the legacy stream", host, 64, 33);
    set_slowly<<<1, 64>>>(data, 7, 300);
    show("launch on a blocking stream", hipGraphLaunch(exec, blocking));
    multiply<<<1, 64>>>(data, 3);
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("a graph on a blocking stream", host, 64, 45);
    show("launch on the thread's own stream", hipGraphLaunch(exec, hipStreamPerThread));
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("a graph on the thread's own stream", host, 64, 91);
    return 0;
}
