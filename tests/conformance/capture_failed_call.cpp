// A call with bad arguments on a capturing stream: its code, and what becomes of the capture.
// DIFFERS copy of a bad kind: 5.2.3 records the copy; HIP documentation, hipMemcpyAsync and
//     hipErrorInvalidMemcpyDirection
// DIFFERS graph of copy of a bad kind: as above; HIP documentation, hipErrorInvalidMemcpyDirection
#include "captured.h"

#include <functional>

int main() {
    char* data;
    char host[64];
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    hipStream_t stream;
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"memset of null", [&] { return hipMemsetAsync(nullptr, 0, 64, stream); }},
        {"copy to null", [&] { return hipMemcpyAsync(nullptr, data, 64, hipMemcpyDeviceToDevice, stream); }},
        {"copy from null", [&] { return hipMemcpyAsync(data, nullptr, 64, hipMemcpyHostToDevice, stream); }},
        {"copy of a bad kind",
         [&] { return hipMemcpyAsync(data, host, 64, static_cast<hipMemcpyKind>(9), stream); }},
        {"record of a null event", [&] { return hipEventRecord(nullptr, stream); }},
        {"wait for a null event", [&] { return hipStreamWaitEvent(stream, nullptr, 0); }},
        {"callback null", [&] { return hipStreamAddCallback(stream, nullptr, nullptr, 0); }},
    };
    for (const Call& call : calls) {
        std::string name = call.name;
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        NEED(hipMemsetAsync(data, 1, 64, stream));
        show(name, call.make());
        show("state, " + name, state_of(stream));
        show_end(name, stream);
    }
    return 0;
}
