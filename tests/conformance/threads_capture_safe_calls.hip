// Another thread works on while one captures without restricting it.
#include "captured.h"
#include "hold.h"

#include <thread>

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64 * sizeof(int)));
    NEED(hipMemset(data, 0, 64 * sizeof(int)));
    NEED(hipDeviceSynchronize());
    hipStream_t other;
    NEED(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    int value = 1;
    for (const CaptureMode& mode : {CAPTURE_MODES[1], CAPTURE_MODES[2]}) {
        std::string name = mode.name;
        hipStream_t stream;
        NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        NEED(hipStreamBeginCapture(stream, mode.value));
        hipError_t copied = hipErrorUnknown, synchronised = hipErrorUnknown, allocated = hipErrorUnknown;
        std::string state;
        int host[64] = {};
        std::thread([&] {
            void* memory = nullptr;
            allocated = hipMalloc(&memory, 64);
            set<<<1, 64, 0, other>>>(data, value);
            copied = hipMemcpyAsync(host, data, sizeof host, hipMemcpyDeviceToHost, other);
            synchronised = hipStreamSynchronize(other);
            state = state_of(stream);
        }).join();
        show("hipMalloc, " + name, allocated);
        show("hipMemcpyAsync, " + name, copied);
        show("hipStreamSynchronize, " + name, synchronised);
        show_all(("data, " + name).c_str(), host, 64, value);
        show("state seen there, " + name, state);
        show_end(name, stream);
        ++value;
    }
    return 0;
}
