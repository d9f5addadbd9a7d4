// A graph that is launched into a capturing stream becomes part of the captured graph.
// DIFFERS graph: 5.2.3 launches it at once, ahead of what it should follow; CUDA Programming Guide, stream capture
// DIFFERS data: the inner graph is no part of the outer one on 5.2.3; CUDA Programming Guide, stream capture
#include "captured.h"
#include "hold.h"

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&launch));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, stream>>>(data, data, 1);
    hipGraph_t inner, outer = nullptr;
    NEED(hipStreamEndCapture(stream, &inner));
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, inner, nullptr, nullptr, 0));

    NEED(hipStreamCreate(&stream));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    set<<<1, 64, 0, stream>>>(data, 10);
    show("launch into a capture", hipGraphLaunch(exec, stream));
    multiply<<<1, 64, 0, stream>>>(data, 2);
    show("end", hipStreamEndCapture(stream, &outer));
    show("graph", shape_of(outer));
    int host[64];
    NEED(hipStreamSynchronize(stream));
    if (outer != nullptr) run_once(outer, launch);
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("data", host, 64, 22);
    return 0;
}
