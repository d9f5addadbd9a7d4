// Many threads put work on one stream: nothing is lost.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    const int THREADS = 4, LAUNCHES = 50;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    for (unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
        std::string name = flags == hipStreamDefault ? "blocking" : "non-blocking";
        NEED(hipMemset(data, 0, 64 * sizeof(int)));
        NEED(hipDeviceSynchronize());
        hipStream_t stream;
        NEED(hipStreamCreateWithFlags(&stream, flags));
        std::vector<std::thread> threads;
        for (int t = 0; t < THREADS; ++t) {
            threads.emplace_back([=] {
                for (int i = 0; i < LAUNCHES; ++i) add<<<1, 64, 0, stream>>>(data, data, 1);
                NEED(hipGetLastError());
            });
        }
        for (std::thread& thread : threads) thread.join();
        show("synchronise, " + name, hipStreamSynchronize(stream));
        int host[64];
        NEED(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
        show_all(("data, " + name).c_str(), host, 64, THREADS * LAUNCHES);
    }
    return 0;
}
