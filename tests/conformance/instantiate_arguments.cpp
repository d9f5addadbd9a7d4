// hipGraphInstantiate with and without places for the node and the text of an error; nothing is wrong here.
// proves: hipGraphInstantiate, hipGraphInstantiateWithFlags
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    host(trace, graph, "b", {a});
    hipGraphExec_t exec = nullptr;
    hipGraphNode_t node = nullptr;
    char text[32] = "";
    auto once = [&](const char* label, hipError_t made) {
        show(label, made);
        if (made != hipSuccess) return;
        run(exec, nullptr);
        trace.show_order("runs");
        NEED(hipGraphExecDestroy(exec));
    };
    once("no places", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    once("a place for the node", hipGraphInstantiate(&exec, graph, &node, nullptr, 0));
    show("no node is to blame", node == nullptr);
    once("places for both", hipGraphInstantiate(&exec, graph, &node, text, sizeof text));
    show("no node", node == nullptr);
    show("no text", text[0] == 0);
    once("no flags", hipGraphInstantiateWithFlags(&exec, graph, 0));
    once("automatic free", hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
    show("no place for the executable", hipGraphInstantiate(nullptr, graph, &node, text, sizeof text));
    show("no graph", hipGraphInstantiate(&exec, nullptr, &node, text, sizeof text));
    NEED(hipGraphDestroy(graph));
}
