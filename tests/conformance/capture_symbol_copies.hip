// Copies to and from a symbol on a capturing stream.
#include "captured.h"
#include "hold.h"

__device__ int table[16];

int main() {
    int from[16], to[16] = {};
    for (int i = 0; i < 16; ++i) from[i] = i * i;
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), sizeof from));
    NEED(hipMemset(data, 0, sizeof from));
    hipStream_t stream, launch;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamCreate(&launch));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    show("to the symbol",
         hipMemcpyToSymbolAsync(HIP_SYMBOL(table), from, sizeof from, 0, hipMemcpyHostToDevice, stream));
    show("part of it", hipMemcpyToSymbolAsync(HIP_SYMBOL(table), from, 8, 8, hipMemcpyHostToDevice, stream));
    show("to the device",
         hipMemcpyFromSymbolAsync(data, HIP_SYMBOL(table), sizeof from, 0, hipMemcpyDeviceToDevice, stream));
    show("beyond its end",
         hipMemcpyFromSymbolAsync(data, HIP_SYMBOL(table), sizeof from, 4, hipMemcpyDeviceToDevice, stream));
    show("to the host",
         hipMemcpyFromSymbolAsync(to, HIP_SYMBOL(table), sizeof to, 0, hipMemcpyDeviceToHost, stream));
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(stream, &graph));
    show("graph", shape_of(graph));
    // Host memory is read when the graph runs.
    from[0] = 1000;
    run_once(graph, launch);
    for (int i : {0, 1, 2, 3, 15}) show("host " + std::to_string(i), to[i]);
    NEED(hipMemcpy(to, data, sizeof to, hipMemcpyDeviceToHost));
    for (int i : {0, 1, 2, 3, 15}) show("device " + std::to_string(i), to[i]);
    return 0;
}
