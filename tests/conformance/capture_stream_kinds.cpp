// Streams of every kind can be captured.
#include "captured.h"

#include <functional>

#include <hip/hip_ext.h>

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    uint32_t units[] = {0xff};
    int least, greatest;
    NEED(hipDeviceGetStreamPriorityRange(&least, &greatest));
    struct Kind {
        const char* name;
        std::function<hipError_t(hipStream_t*)> create;
    };
    const Kind kinds[] = {
        {"blocking", [](hipStream_t* s) { return hipStreamCreate(s); }},
        {"non-blocking", [](hipStream_t* s) { return hipStreamCreateWithFlags(s, hipStreamNonBlocking); }},
        {"urgent", [&](hipStream_t* s) { return hipStreamCreateWithPriority(s, hipStreamDefault, greatest); }},
        {"not urgent", [&](hipStream_t* s) { return hipStreamCreateWithPriority(s, hipStreamNonBlocking, least); }},
        {"on some units", [&](hipStream_t* s) { return hipExtStreamCreateWithCUMask(s, 1, units); }},
    };
    for (const Kind& kind : kinds) {
        std::string name = kind.name;
        hipStream_t stream;
        NEED(kind.create(&stream));
        show("begin, " + name, hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
        show("state, " + name, state_of(stream));
        show("fill, " + name, hipMemsetAsync(data, 1, 64, stream));
        hipGraph_t graph;
        show("end, " + name, hipStreamEndCapture(stream, &graph));
        show("graph, " + name, shape_of(graph));
        run_once(graph, stream);
        NEED(hipStreamDestroy(stream));
        NEED(hipGraphDestroy(graph));
    }
    return 0;
}
