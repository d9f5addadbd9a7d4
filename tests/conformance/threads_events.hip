// One thread records an event, another waits for it on its own stream.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    int *a, *b;
    for (int** data : {&a, &b}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    NEED(hipDeviceSynchronize());
    hipStream_t first, second;
    hipEvent_t event;
    NEED(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    NEED(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    NEED(hipEventCreate(&event));
    for (int round = 0; round < 3; ++round) {
        std::string name = "round " + std::to_string(round);
        std::thread([&] {
            set_slowly<<<1, 64, 0, first>>>(a, 5 + round, 300);
            NEED(hipEventRecord(event, first));
        }).join();
        hipError_t waited = hipErrorUnknown, synchronised = hipErrorUnknown, reached = hipErrorUnknown;
        std::thread([&] {
            waited = hipStreamWaitEvent(second, event, 0);
            add<<<1, 64, 0, second>>>(b, a, 1);
            synchronised = hipStreamSynchronize(second);
            reached = hipEventQuery(event);
        }).join();
        show("wait, " + name, waited);
        show("synchronise, " + name, synchronised);
        show("event, " + name, reached);
        int host[64];
        NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
        show_all(("data, " + name).c_str(), host, 64, 6 + round);
    }
    return 0;
}
