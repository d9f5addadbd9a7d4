// What fills on a capturing stream record: element sizes, shapes; and the data of the graph.
// DIFFERS hipMemset2DAsync: 5.2.3 refuses to capture it; HIP documentation, stream capture
// DIFFERS graph, hipMemset2DAsync: as above; HIP documentation, stream capture
// DIFFERS graph, hipMemset3DAsync: 5.2.3 drops it without an error; HIP documentation, stream capture
// DIFFERS hipMemset3DAsync, data: as above; HIP documentation, stream capture
#include "captured.h"

#include <functional>

int main() {
    const size_t SIZE = 256;
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), SIZE));
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&launch));
    hipPitchedPtr pitched = make_hipPitchedPtr(data, 16, 12, 4);
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
    };
    const Call calls[] = {
        {"hipMemsetAsync", [&] { return hipMemsetAsync(data, 0x1234, 100, stream); }},
        {"hipMemsetD8Async", [&] { return hipMemsetD8Async(data + 1, 0x21, 33, stream); }},
        {"hipMemsetD16Async", [&] { return hipMemsetD16Async(data + 2, 0x2122, 33, stream); }},
        {"hipMemsetD32Async", [&] { return hipMemsetD32Async(data + 4, 0x21222324, 33, stream); }},
        {"hipMemset2DAsync", [&] { return hipMemset2DAsync(data, 16, 0x55, 10, 6, stream); }},
        // HIP: 5.2.3 records fills of no bytes and of no rows too, and aborts when the graph is launched.
        {"hipMemset3DAsync",
         [&] { return hipMemset3DAsync(pitched, 0x66, make_hipExtent(12, 4, 3), stream); }},
    };
    for (const Call& call : calls) {
        std::string name = call.name;
        NEED(hipMemset(data, 0, SIZE));
        NEED(hipDeviceSynchronize());
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        show(name, call.make());
        hipGraph_t graph = nullptr;
        hipError_t ended = hipStreamEndCapture(stream, &graph);
        show("end, " + name, ended);
        if (ended != hipSuccess) continue;
        show("graph, " + name, shape_of(graph));
        run_once(graph, launch);
        char host[SIZE];
        NEED(hipMemcpy(host, data, SIZE, hipMemcpyDeviceToHost));
        show_sum((name + ", data").c_str(), host, SIZE);
        NEED(hipGraphDestroy(graph));
    }
    return 0;
}
