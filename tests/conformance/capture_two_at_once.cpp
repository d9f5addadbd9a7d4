// Two captures of one thread go on beside each other and have ids of their own.
#include "captured.h"

int main() {
    hipStream_t a, b;
    char* data;
    NEED(hipStreamCreate(&a));
    NEED(hipStreamCreate(&b));
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    NEED(hipMemset(data, 0, 64));
    NEED(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    NEED(hipStreamBeginCapture(b, hipStreamCaptureModeThreadLocal));
    NEED(hipMemsetAsync(data, 1, 32, a));
    NEED(hipMemsetAsync(data + 32, 2, 32, b));
    NEED(hipMemsetAsync(data + 48, 3, 16, b));
    hipStreamCaptureStatus state;
    unsigned long long first = 0, second = 0;
    NEED(hipStreamGetCaptureInfo(a, &state, &first));
    NEED(hipStreamGetCaptureInfo(b, &state, &second));
    show("ids differ", first != second);
    show("ids are not zero", first != 0 && second != 0);
    hipGraph_t graph_a, graph_b;
    show("end of the first begun", hipStreamEndCapture(a, &graph_a));
    show("state of the second", state_of(b));
    show("end of the second begun", hipStreamEndCapture(b, &graph_b));
    show("first graph", shape_of(graph_a));
    show("second graph", shape_of(graph_b));
    run_once(graph_a, b);
    run_once(graph_b, a);
    char host[64];
    NEED(hipMemcpy(host, data, 64, hipMemcpyDeviceToHost));
    show_all("first half", host, 32, static_cast<char>(1));
    show_all("third quarter", host + 32, 16, static_cast<char>(2));
    show_all("last quarter", host + 48, 16, static_cast<char>(3));
    return 0;
}
