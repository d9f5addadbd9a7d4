// Each thread's own stream: captures and work of threads do not meet.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 2 * 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 2 * 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    NEED(hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeRelaxed));
    set<<<1, 64, 0, hipStreamPerThread>>>(data, 1);
    std::string there;
    hipError_t synchronised = hipErrorUnknown;
    std::thread([&] {
        there = state_of(hipStreamPerThread);
        set<<<1, 64, 0, hipStreamPerThread>>>(data + 64, 2);
        synchronised = hipStreamSynchronize(hipStreamPerThread);
    }).join();
    show("state of another thread's own stream", there);
    show("synchronise there", synchronised);
    show("state here", state_of(hipStreamPerThread));
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(hipStreamPerThread, &graph));
    show("graph", shape_of(graph));
    int host[128];
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("captured, before the launch", host, 64, 0);
    show_all("the other thread's", host + 64, 64, 2);
    run_once(graph, hipStreamPerThread);
    NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
    show_all("captured, after the launch", host, 64, 1);
    return 0;
}
