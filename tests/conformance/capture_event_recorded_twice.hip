// An event that is recorded twice in a capture stands for the later place.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b;
    for (int** data : {&a, &b}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    Fork s;
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    set<<<1, 64, 0, s.origin>>>(a, 1);
    NEED(hipEventRecord(s.forked, s.origin));
    multiply<<<1, 64, 0, s.origin>>>(a, 10);
    NEED(hipEventRecord(s.forked, s.origin));
    NEED(hipStreamWaitEvent(s.other, s.forked, 0));
    add<<<1, 64, 0, s.other>>>(b, a, 5);
    s.join();
    hipGraph_t graph;
    NEED(hipStreamEndCapture(s.origin, &graph));
    show("graph", shape_of(graph));
    hipStream_t launch;
    NEED(hipStreamCreate(&launch));
    run_once(graph, launch);
    int host[64];
    NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 15);
    return 0;
}
