// What copies on a capturing stream record: kinds, sizes, and the data of the graph.
#include "captured.h"

#include <functional>

int main() {
    char *a, *b, *pinned, *result;
    char pageable[64];
    for (char** data : {&a, &b}) NEED(hipMalloc(reinterpret_cast<void**>(data), 64));
    for (char** data : {&pinned, &result}) NEED(hipHostMalloc(reinterpret_cast<void**>(data), 64, 0));
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&launch));
    struct Call {
        const char* name;
        std::function<hipError_t()> make;
        bool writes;  // b gets 64 bytes of 7
    };
    const Call calls[] = {
        {"pageable to device",
         [&] { return hipMemcpyAsync(b, pageable, 64, hipMemcpyHostToDevice, stream); }, true},
        {"pinned to device",
         [&] { return hipMemcpyAsync(b, pinned, 64, hipMemcpyHostToDevice, stream); }, true},
        {"default kind", [&] { return hipMemcpyAsync(b, pinned, 64, hipMemcpyDefault, stream); }, true},
        {"device to device", [&] { return hipMemcpyAsync(b, a, 64, hipMemcpyDeviceToDevice, stream); }, true},
        {"hipMemcpyHtoDAsync", [&] { return hipMemcpyHtoDAsync(b, pinned, 64, stream); }, true},
        {"hipMemcpyDtoDAsync", [&] { return hipMemcpyDtoDAsync(b, a, 64, stream); }, true},
        {"device to pageable",
         [&] { return hipMemcpyAsync(result, a, 64, hipMemcpyDeviceToHost, stream); }, false},
        {"hipMemcpyDtoHAsync", [&] { return hipMemcpyDtoHAsync(result, a, 64, stream); }, false},
        {"host to host",
         [&] { return hipMemcpyAsync(result, pinned, 64, hipMemcpyHostToHost, stream); }, false},
        {"no bytes", [&] { return hipMemcpyAsync(b, a, 0, hipMemcpyDeviceToDevice, stream); }, false},
        {"onto itself", [&] { return hipMemcpyAsync(a, a, 64, hipMemcpyDeviceToDevice, stream); }, false},
    };
    for (const Call& call : calls) {
        std::string name = call.name;
        NEED(hipMemset(a, 7, 64));
        NEED(hipMemset(b, 0, 64));
        NEED(hipDeviceSynchronize());
        std::memset(pageable, 7, 64);
        std::memset(pinned, 7, 64);
        std::memset(result, 0, 64);
        NEED(hipStreamCreate(&stream));
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        show(name, call.make());
        hipGraph_t graph = nullptr;
        hipError_t ended = hipStreamEndCapture(stream, &graph);
        show("end, " + name, ended);
        if (ended != hipSuccess) continue;
        show("graph, " + name, shape_of(graph));
        run_once(graph, launch);
        char host[64];
        NEED(hipMemcpy(host, b, 64, hipMemcpyDeviceToHost));
        show_all((name + ", device").c_str(), host, 64, static_cast<char>(call.writes ? 7 : 0));
        show("host, " + name, static_cast<int>(result[63]));
        NEED(hipGraphDestroy(graph));
    }
    return 0;
}
