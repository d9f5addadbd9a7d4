// What hipMemcpy2D and its asynchronous form refuse: pitches, empty boxes, null operands, kinds.
#include "observe.h"

// DIFFERS bad kind: 5.2.3 takes any number for a kind; hipErrorInvalidMemcpyDirection is for that
//     (cudaMemcpy2D)
int main() {
    char* device = nullptr;
    NEED(hipMalloc(&device, 64 * 16));
    std::vector<char> host(64 * 32);
    char* h = host.data();
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    const hipMemcpyKind up = hipMemcpyHostToDevice;

    show("plain", hipMemcpy2D(device, 64, h, 64, 32, 16, up));
    show("destination pitch below the width", hipMemcpy2D(device, 16, h, 64, 32, 16, up));
    show("source pitch below the width", hipMemcpy2D(device, 64, h, 16, 32, 16, up));
    show("destination pitch 0", hipMemcpy2D(device, 0, h, 64, 32, 16, up));
    show("source pitch 0", hipMemcpy2D(device, 64, h, 0, 32, 16, up));
    show("pitch below the width in one row", hipMemcpy2D(device, 16, h, 16, 32, 1, up));
    show("width 0", hipMemcpy2D(device, 64, h, 64, 0, 16, up));
    show("height 0", hipMemcpy2D(device, 64, h, 64, 32, 0, up));
    show("width and height 0", hipMemcpy2D(device, 64, h, 64, 0, 0, up));
    show("width 0, pitch 0", hipMemcpy2D(device, 0, h, 0, 0, 16, up));
    show("null destination", hipMemcpy2D(nullptr, 64, h, 64, 32, 16, up));
    show("null source", hipMemcpy2D(device, 64, nullptr, 64, 32, 16, up));
    show("null destination, height 0", hipMemcpy2D(nullptr, 64, h, 64, 32, 0, up));
    show("null source, width 0", hipMemcpy2D(device, 64, nullptr, 64, 0, 16, up));
    show("bad kind", hipMemcpy2D(device, 64, h, 64, 32, 16, hipMemcpyKind(9)));
    show("one row too many", hipMemcpy2D(device, 64, h, 64, 32, 17, up));
    show("the last row to its end", hipMemcpy2D(device, 64, h, 64, 64, 16, up));
    show("last row beyond the end", hipMemcpy2D(device + 33, 64, h, 64, 32, 16, up));

    show("async, plain", hipMemcpy2DAsync(device, 64, h, 64, 32, 16, up, stream));
    show("async, destination pitch below the width", hipMemcpy2DAsync(device, 16, h, 64, 32, 16, up, stream));
    show("async, source pitch below the width", hipMemcpy2DAsync(device, 64, h, 16, 32, 16, up, stream));
    show("async, width 0", hipMemcpy2DAsync(device, 64, h, 64, 0, 16, up, stream));
    show("async, height 0", hipMemcpy2DAsync(device, 64, h, 64, 32, 0, up, stream));
    show("async, null destination", hipMemcpy2DAsync(nullptr, 64, h, 64, 32, 16, up, stream));
    show("async, null source", hipMemcpy2DAsync(device, 64, nullptr, 64, 32, 16, up, stream));
    show("bad kind, async", hipMemcpy2DAsync(device, 64, h, 64, 32, 16, hipMemcpyKind(9), stream));
    show("async, one row too many", hipMemcpy2DAsync(device, 64, h, 64, 32, 17, up, stream));
    show("synchronize", hipStreamSynchronize(stream));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(device));
}
