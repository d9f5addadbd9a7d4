// Graphs are built, instantiated and launched on other streams while a stream captures.
#include "captured.h"
#include "hold.h"

int main() {
    int *eager, *later;
    for (int** data : {&eager, &later}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    NEED(hipDeviceSynchronize());
    hipStream_t stream, other, launch;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&launch, hipStreamNonBlocking));
    NEED(hipStreamBeginCapture(other, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, other>>>(eager, eager, 3);
    hipGraph_t inner, outer;
    NEED(hipStreamEndCapture(other, &inner));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    set<<<1, 64, 0, stream>>>(later, 4);
    hipGraphExec_t exec;
    show("instantiate", hipGraphInstantiate(&exec, inner, nullptr, nullptr, 0));
    show("launch elsewhere", hipGraphLaunch(exec, launch));
    show("launch again", hipGraphLaunch(exec, launch));
    show("state meanwhile", state_of(stream));
    multiply<<<1, 64, 0, stream>>>(later, 5);
    show("end", hipStreamEndCapture(stream, &outer));
    show("graph", shape_of(outer));
    NEED(hipStreamSynchronize(launch));
    int host[64];
    NEED(hipMemcpy(host, eager, sizeof host, hipMemcpyDeviceToHost));
    show_all("launched meanwhile", host, 64, 6);
    NEED(hipMemcpy(host, later, sizeof host, hipMemcpyDeviceToHost));
    show_all("captured, before its launch", host, 64, 0);
    run_once(outer, launch);
    NEED(hipMemcpy(host, later, sizeof host, hipMemcpyDeviceToHost));
    show_all("captured, behind its launch", host, 64, 20);
    return 0;
}
