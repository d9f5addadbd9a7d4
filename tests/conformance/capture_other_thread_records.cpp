// A stream that one thread captures can be fed by another.
#include "captured.h"

#include <thread>

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    NEED(hipMemset(data, 0, 64));
    for (const CaptureMode& mode : CAPTURE_MODES) {
        std::string name = mode.name;
        NEED(hipStreamBeginCapture(stream, mode.value));
        show("first half here, " + name, hipMemsetAsync(data, 1, 32, stream));
        hipError_t recorded = hipErrorUnknown;
        std::thread([&] { recorded = hipMemsetAsync(data + 32, 2, 32, stream); }).join();
        show("second half elsewhere, " + name, recorded);
        show_end(name, stream);
    }
    NEED(hipFree(data));
    NEED(hipStreamDestroy(stream));
    return 0;
}
