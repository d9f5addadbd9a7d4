// The current device and the last error belong to a thread.
#include <atomic>
#include <thread>

#include "observe.h"

int main() {
    NEED(hipSetDevice(0));
    show("wrong device", hipSetDevice(5));
    std::thread([] {
        show("last error of a new thread", hipPeekAtLastError());
        int current = -1;
        show("current in a new thread", hipGetDevice(&current));
        show("device of a new thread", current);
        show("null in the thread", hipGetDevice(nullptr));
        show("last error of the thread", hipPeekAtLastError());
    }).join();
    show("last error of the first thread", hipGetLastError());
    show("after it was taken", hipGetLastError());

    // Memory and streams belong to the process.
    int* memory = nullptr;
    hipStream_t stream = nullptr;
    std::thread([&] {
        NEED(hipMalloc(&memory, 4096));
        NEED(hipStreamCreate(&stream));
    }).join();
    int value = 7;
    show("copy to another thread's memory", hipMemcpy(memory, &value, sizeof value, hipMemcpyHostToDevice));
    int back = 0;
    show("copy on another thread's stream",
         hipMemcpyAsync(&back, memory, sizeof back, hipMemcpyDeviceToHost, stream));
    show("wait for another thread's stream", hipStreamSynchronize(stream));
    show("value", back);
    std::thread([&] {
        show("free in a third thread", hipFree(memory));
        show("destroy in a third thread", hipStreamDestroy(stream));
    }).join();

    // Many threads at once.
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&good, t] {
            int* own = nullptr;
            int sent = t, got = -1;
            bool ok = hipSetDevice(0) == hipSuccess && hipMalloc(&own, sizeof *own) == hipSuccess &&
                      hipMemcpy(own, &sent, sizeof sent, hipMemcpyHostToDevice) == hipSuccess &&
                      hipMemcpy(&got, own, sizeof got, hipMemcpyDeviceToHost) == hipSuccess && got == t &&
                      hipFree(own) == hipSuccess && hipPeekAtLastError() == hipSuccess;
            good += ok;
        });
    }
    for (std::thread& thread : threads) thread.join();
    show("threads that got their number back", good.load());
}
