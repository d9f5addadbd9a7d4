// Work on the legacy stream while a blocking or a non-blocking stream captures.
// DIFFERS state after: 6.3 leaves the streams of a capture that has ended invalidated; HIP header,
//     hipStreamCaptureStatusInvalidated; HIP 7.14 changes, hipStreamEndCapture
#include "captured.h"

#include <functional>

int main() {
    char host[64] = {};
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"hipMemcpy to the device", [&] { return hipMemcpy(data, host, 64, hipMemcpyHostToDevice); }},
        {"hipMemcpy to the host", [&] { return hipMemcpy(host, data, 64, hipMemcpyDeviceToHost); }},
        {"hipMemset", [&] { return hipMemset(data, 0, 64); }},
        {"hipMemcpy2D", [&] { return hipMemcpy2D(host, 16, data, 16, 16, 4, hipMemcpyDeviceToHost); }},
        {"hipMemsetAsync on null", [&] { return hipMemsetAsync(data, 0, 64, nullptr); }},
        {"hipMemcpyAsync on null",
         [&] { return hipMemcpyAsync(data, host, 64, hipMemcpyHostToDevice, nullptr); }},
        {"hipStreamSynchronize on null", [&] { return hipStreamSynchronize(nullptr); }},
        {"hipStreamQuery on null", [&] { return hipStreamQuery(nullptr); }},
    };
    for (unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
        for (const CaptureMode& mode : CAPTURE_MODES) {
            for (const Call& call : calls) {
                std::string name = call.name;
                name += flags == hipStreamDefault ? ", blocking, " : ", non-blocking, ";
                name += mode.name;
                hipStream_t stream;
                NEED(hipStreamCreateWithFlags(&stream, flags));
                NEED(hipStreamBeginCapture(stream, mode.value));
                show(name, call.make());
                show("state during " + name, state_of(stream));
                show_end(name, stream);
            }
        }
    }
    return 0;
}
