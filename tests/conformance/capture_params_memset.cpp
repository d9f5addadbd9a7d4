// A captured fill has the parameters of the node that the explicit call adds.
#include "captured.h"

#include <functional>

static std::string described(hipGraphNode_t node, const char* base) {
    hipMemsetParams params = {};
    hipError_t error = hipGraphMemsetNodeGetParams(node, &params);
    if (error != hipSuccess) return observe::name_of(error);
    return "offset " + std::to_string(static_cast<char*>(params.dst) - base) + ", value " +
           std::to_string(params.value) + ", elements of " + std::to_string(params.elementSize) + ", " +
           std::to_string(params.width) + " x " + std::to_string(params.height);
}

int main() {
    char* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 4096));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    struct Fill {
        const char* name;
        size_t offset;
        unsigned value, element;
        size_t width;
        std::function<hipError_t(const Fill&)> capture;
    };
    const Fill fills[] = {
        {"hipMemsetAsync", 0, 7, 1, 100,
         [&](const Fill& f) { return hipMemsetAsync(data, static_cast<int>(f.value), f.width, stream); }},
        {"hipMemsetD8Async", 4, 8, 1, 64,
         [&](const Fill& f) { return hipMemsetD8Async(data + 4, static_cast<uint8_t>(f.value), f.width, stream); }},
        {"hipMemsetD16Async", 8, 9, 2, 32,
         [&](const Fill& f) { return hipMemsetD16Async(data + 8, static_cast<uint16_t>(f.value), f.width, stream); }},
        {"hipMemsetD32Async", 16, 10, 4, 16,
         [&](const Fill& f) { return hipMemsetD32Async(data + 16, static_cast<int>(f.value), f.width, stream); }},
    };
    for (const Fill& fill : fills) {
        std::string name = fill.name;
        NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        show(name, fill.capture(fill));
        hipGraph_t captured, other;
        NEED(hipStreamEndCapture(stream, &captured));
        show("captured, " + name, described(nodes_of(captured).at(0), data));
        hipMemsetParams params = {};
        params.dst = data + fill.offset;
        params.value = fill.value;
        params.elementSize = fill.element;
        params.width = fill.width;
        params.height = 1;
        params.pitch = fill.width * fill.element;
        hipGraphNode_t node;
        NEED(hipGraphCreate(&other, 0));
        NEED(hipGraphAddMemsetNode(&node, other, nullptr, 0, &params));
        show("explicit, " + name, described(node, data));
        NEED(hipGraphDestroy(captured));
        NEED(hipGraphDestroy(other));
    }
    return 0;
}
