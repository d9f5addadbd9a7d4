// Less usual forms of copies on a capturing stream.
// DIFFERS graph, hipMemcpyPeerAsync: 6.3 copies at once and records nothing; HIP 7 documentation of
//     hipMemcpyPeerAsync
#include "captured.h"

#include <functional>

int main() {
    char *a, *b;
    char host[64];
    for (char** data : {&a, &b}) NEED(hipMalloc(reinterpret_cast<void**>(data), 64));
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&launch));
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"hipMemcpyPeerAsync", [&] { return hipMemcpyPeerAsync(b, 0, a, 0, 64, stream); }},
        {"hipMemcpy2DAsync",
         [&] { return hipMemcpy2DAsync(b, 16, a, 8, 8, 4, hipMemcpyDeviceToDevice, stream); }},
    };
    for (const Call& call : calls) {
        std::string name = call.name;
        NEED(hipMemset(a, 7, 64));
        NEED(hipMemset(b, 0, 64));
        NEED(hipDeviceSynchronize());
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        show(name, call.make());
        hipGraph_t graph = nullptr;
        hipError_t ended = hipStreamEndCapture(stream, &graph);
        show("end, " + name, ended);
        show("graph, " + name, shape_of(ended == hipSuccess ? graph : nullptr));
        if (ended == hipSuccess) run_once(graph, launch);
        NEED(hipMemcpy(host, b, 64, hipMemcpyDeviceToHost));
        show_sum(("data, " + name).c_str(), host, 64);
    }
    return 0;
}
