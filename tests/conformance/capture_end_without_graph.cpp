// Where a capture's graph goes: nowhere, to a variable that had one, to one that is used again.
#include "captured.h"

int main() {
    hipStream_t stream;
    char* data;
    NEED(hipStreamCreate(&stream));
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 64));
    hipGraph_t graph, first;
    NEED(hipGraphCreate(&graph, 0));
    first = graph;
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 1, 64, stream));
    // What the variable held does not matter.
    show("end into a variable in use", hipStreamEndCapture(stream, &graph));
    show("another graph", graph != first);
    show("its shape", shape_of(graph));
    show("the first one is still a graph", hipGraphDestroy(first));
    first = graph;
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipMemsetAsync(data, 2, 32, stream));
    NEED(hipMemsetAsync(data, 3, 16, stream));
    show("end into it again", hipStreamEndCapture(stream, &graph));
    show("its shape now", shape_of(graph));
    show("shape of the one before", shape_of(first));
    return 0;
}
