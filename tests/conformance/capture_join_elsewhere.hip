// A branch that is joined to another branch, which is joined to the origin.
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 3 * 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 3 * 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    int *a = data, *b = data + 64, *c = data + 128;
    hipStream_t origin, left, right, launch;
    hipEvent_t fork, right_done, left_done;
    for (hipStream_t* stream : {&origin, &left, &right, &launch}) NEED(hipStreamCreate(stream));
    for (hipEvent_t* event : {&fork, &right_done, &left_done}) NEED(hipEventCreate(event));
    NEED(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
    set<<<1, 64, 0, origin>>>(a, 1);
    NEED(hipEventRecord(fork, origin));
    NEED(hipStreamWaitEvent(left, fork, 0));
    NEED(hipStreamWaitEvent(right, fork, 0));
    add<<<1, 64, 0, left>>>(b, a, 10);
    add<<<1, 64, 0, right>>>(c, a, 100);
    NEED(hipEventRecord(right_done, right));
    NEED(hipStreamWaitEvent(left, right_done, 0));
    sum<<<1, 64, 0, left>>>(b, b, c);
    NEED(hipEventRecord(left_done, left));
    NEED(hipStreamWaitEvent(origin, left_done, 0));
    sum<<<1, 64, 0, origin>>>(a, a, b);
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(origin, &graph));
    show("graph", shape_of(graph));
    run_once(graph, launch);
    int host[64];
    NEED(hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 113);
    return 0;
}
