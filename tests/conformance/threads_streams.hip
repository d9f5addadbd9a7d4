// Six threads with a stream each, at the same time.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    const int THREADS = 6;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), THREADS * 64 * sizeof(int)));
    NEED(hipMemset(data, 0, THREADS * 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; ++t) {
        threads.emplace_back([=] {
            hipStream_t stream;
            NEED(hipStreamCreateWithFlags(&stream, t % 2 ? hipStreamNonBlocking : hipStreamDefault));
            int* mine = data + 64 * t;
            set<<<1, 64, 0, stream>>>(mine, t);
            for (int i = 0; i < 30; ++i) add<<<1, 64, 0, stream>>>(mine, mine, t + 1);
            NEED(hipGetLastError());
            NEED(hipStreamSynchronize(stream));
            NEED(hipStreamDestroy(stream));
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<int> host(THREADS * 64);
    NEED(hipMemcpy(host.data(), data, host.size() * sizeof(int), hipMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; ++t) {
        show_all(("thread " + std::to_string(t)).c_str(), &host[64 * t], 64, t + 30 * (t + 1));
    }
    return 0;
}
