// A capture of nothing is a graph that can be instantiated and launched.
#include "captured.h"

int main() {
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    hipGraph_t graph = nullptr;
    show("end", hipStreamEndCapture(stream, &graph));
    show("graph", shape_of(graph));
    hipGraphExec_t exec = nullptr;
    show("instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    show("launch", hipGraphLaunch(exec, stream));
    show("synchronise", hipStreamSynchronize(stream));
    show("destroy it", hipGraphExecDestroy(exec));
    show("destroy the graph", hipGraphDestroy(graph));
    return 0;
}
