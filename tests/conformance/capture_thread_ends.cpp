// A relaxed capture outlives the thread that began it, and any other may end it.
#include "captured.h"

#include <thread>

int main() {
    hipStream_t stream;
    char* data;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    NEED(hipMemset(data, 0, 64));
    NEED(hipDeviceSynchronize());
    std::thread([&] {
        show("begin", hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        show("fill", hipMemsetAsync(data, 5, 64, stream));
    }).join();
    show("state when the thread is gone", state_of(stream));
    show("fill from here", hipMemsetAsync(data, 6, 32, stream));
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(stream, &graph));
    show("graph", shape_of(graph));
    run_once(graph, stream);
    char host[64];
    NEED(hipMemcpy(host, data, 64, hipMemcpyDeviceToHost));
    show_all("first half", host, 32, static_cast<char>(6));
    show_all("second half", host + 32, 32, static_cast<char>(5));
    return 0;
}
