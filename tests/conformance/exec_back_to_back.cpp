// Launches of one executable without waiting in between run one after the other.
#include "graph.h"

static int running = 0, most = 0, calls = 0;

static void enter(void*) {
    most = std::max(most, ++running);
    ++calls;
}
static void leave(void*) { --running; }

int main() {
    hipGraph_t graph;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t first, second;
    hipHostNodeParams in = {enter, nullptr}, out = {leave, nullptr};
    NEED(hipGraphAddHostNode(&first, graph, nullptr, 0, &in));
    NEED(hipGraphAddHostNode(&second, graph, &first, 1, &out));
    hipGraphExec_t exec = instantiate(graph);
    bool launched = true;
    for (int i = 0; i < 20; ++i) launched &= hipGraphLaunch(exec, stream) == hipSuccess;
    show("20 launches", launched);
    show("synchronize", hipStreamSynchronize(stream));
    show("calls", calls);
    show("running at once", most);
    show("still running", running);
    show("query", hipStreamQuery(stream));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipStreamDestroy(stream));
}
