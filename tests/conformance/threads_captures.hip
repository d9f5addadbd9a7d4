// Four threads capture at the same time, each a graph of its own.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    const int THREADS = 4;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), THREADS * 64 * sizeof(int)));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        NEED(hipMemset(data, 0, THREADS * 64 * sizeof(int)));
        NEED(hipDeviceSynchronize());
        hipGraph_t graphs[THREADS] = {};
        hipError_t ended[THREADS];
        unsigned long long ids[THREADS] = {};
        std::vector<std::thread> threads;
        for (int t = 0; t < THREADS; ++t) {
            threads.emplace_back([&, t] {
                hipStream_t stream;
                hipStreamCaptureStatus state;
                NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
                NEED(hipStreamBeginCapture(stream, mode.value));
                NEED(hipStreamGetCaptureInfo(stream, &state, &ids[t]));
                set<<<1, 64, 0, stream>>>(data + 64 * t, t);
                for (int i = 0; i < t; ++i) add<<<1, 64, 0, stream>>>(data + 64 * t, data + 64 * t, 10);
                ended[t] = hipStreamEndCapture(stream, &graphs[t]);
            });
        }
        for (std::thread& thread : threads) thread.join();
        std::sort(ids, ids + THREADS);
        show("ids of their own, " + name, std::adjacent_find(ids, ids + THREADS) == ids + THREADS);
        hipStream_t launch;
        NEED(hipStreamCreate(&launch));
        int host[THREADS * 64];
        for (int t = 0; t < THREADS; ++t) {
            show("end " + std::to_string(t) + ", " + name, ended[t]);
            show("graph " + std::to_string(t) + ", " + name, shape_of(graphs[t]));
            run_once(graphs[t], launch);
        }
        NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
        for (int t = 0; t < THREADS; ++t) {
            show_all(("data " + std::to_string(t) + ", " + name).c_str(), host + 64 * t, 64, 11 * t);
        }
    }
    return 0;
}
