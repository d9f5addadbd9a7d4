// Allocating, freeing and pinning while a capture is open: forbidden unless it is relaxed.
// DIFFERS state after: 6.3 leaves the streams of a capture that has ended invalidated; HIP header,
//     hipStreamCaptureStatusInvalidated; HIP 7.14 changes, hipStreamEndCapture
#include "captured.h"

#include <functional>

int main() {
    // HIP: 5.2.3 aborts where this is unregistered.
    static char pageable[8192];
    void *device = nullptr, *pinned = nullptr, *spare = nullptr, *spare_pinned = nullptr;
    size_t pitch;
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"hipMalloc", [&] { return hipMalloc(&device, 64); }},
        {"hipFree", [&] { return hipFree(spare); }},
        {"hipHostMalloc", [&] { return hipHostMalloc(&pinned, 64, 0); }},
        {"hipHostFree", [&] { return hipHostFree(spare_pinned); }},
        {"hipMallocManaged", [&] { return hipMallocManaged(&device, 64); }},
        {"hipMallocPitch", [&] { return hipMallocPitch(&device, &pitch, 64, 4); }},
        {"hipHostRegister", [&] { return hipHostRegister(pageable, sizeof pageable, 0); }},
    };
    for (const CaptureMode& mode : CAPTURE_MODES) {
        for (const Call& call : calls) {
            std::string name = std::string(call.name) + ", " + mode.name;
            NEED(hipMalloc(&spare, 64));
            NEED(hipHostMalloc(&spare_pinned, 64, 0));
            hipStream_t stream;
            NEED(hipStreamCreate(&stream));
            NEED(hipStreamBeginCapture(stream, mode.value));
            show(name, call.make());
            show("state during " + name, state_of(stream));
            show_end(name, stream);
            NEED(hipStreamDestroy(stream));
        }
    }
    return 0;
}
