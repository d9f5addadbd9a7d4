// Threads launch executable graphs of their own, and one that they share, at the same time.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    const int THREADS = 3, LAUNCHES = 10;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), (THREADS + 1) * 64 * sizeof(int)));
    NEED(hipMemset(data, 0, (THREADS + 1) * 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    auto made = [&](int part) {
        hipStream_t stream;
        hipGraph_t graph;
        hipGraphExec_t exec;
        NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
        add<<<1, 64, 0, stream>>>(data + 64 * part, data + 64 * part, 1);
        NEED(hipStreamEndCapture(stream, &graph));
        NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
        return exec;
    };
    hipGraphExec_t shared = made(THREADS);
    hipStream_t common;
    NEED(hipStreamCreateWithFlags(&common, hipStreamNonBlocking));
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; ++t) {
        threads.emplace_back([&, t] {
            hipGraphExec_t mine = made(t);
            hipStream_t stream;
            NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
            for (int i = 0; i < LAUNCHES; ++i) {
                NEED(hipGraphLaunch(mine, stream));
                NEED(hipGraphLaunch(shared, common));
            }
            NEED(hipStreamSynchronize(stream));
        });
    }
    for (std::thread& thread : threads) thread.join();
    NEED(hipStreamSynchronize(common));
    std::vector<int> host((THREADS + 1) * 64);
    NEED(hipMemcpy(host.data(), data, host.size() * sizeof(int), hipMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; ++t) show_all("own graph", &host[64 * t], 64, LAUNCHES);
    show_all("shared graph", &host[64 * THREADS], 64, THREADS * LAUNCHES);
    return 0;
}
