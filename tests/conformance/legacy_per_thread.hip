// The thread's own stream is ordered with the legacy stream, and not with other threads' own.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    int* pinned;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), 0));
    std::memset(pinned, 0, 64 * sizeof(int));
    set_slowly<<<1, 64, 0, hipStreamPerThread>>>(pinned, 5, 400);
    multiply<<<1, 64>>>(pinned, 2);
    show("synchronise null", hipStreamSynchronize(nullptr));
    show_all("per thread, then legacy", pinned, 64, 10);
    set_slowly<<<1, 64>>>(pinned, 6, 400);
    multiply<<<1, 64, 0, hipStreamPerThread>>>(pinned, 3);
    show("synchronise the thread's own", hipStreamSynchronize(hipStreamPerThread));
    show_all("legacy, then per thread", pinned, 64, 18);

    Hold hold;
    wait_until_open<<<1, 1, 0, hipStreamPerThread>>>(hold.flag);
    hipError_t there = hipErrorUnknown, query = hipErrorUnknown;
    std::thread([&] {
        set<<<1, 64, 0, hipStreamPerThread>>>(pinned, 7);
        there = hipStreamSynchronize(hipStreamPerThread);
        query = hipStreamQuery(hipStreamPerThread);
    }).join();
    show("another thread's own stream", there);
    show("its query", query);
    show_all("its data", pinned, 64, 7);
    show("this thread's own stream", hipStreamQuery(hipStreamPerThread));
    hold.open();
    show("released", hipStreamSynchronize(hipStreamPerThread));
    return 0;
}
