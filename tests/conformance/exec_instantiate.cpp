// hipGraphInstantiate and hipGraphInstantiateWithFlags: arguments and what comes back.
// proves: hipGraphExecDestroy, hipGraphInstantiate, hipGraphInstantiateWithFlags
#include "graph.h"

int main() {
    hipGraph_t graph;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    host(trace, graph, "a");
    hipGraphExec_t exec = nullptr, second = nullptr;
    hipGraphNode_t bad = reinterpret_cast<hipGraphNode_t>(&trace);
    char log[64];
    std::memset(log, 'x', sizeof log);
    show("plain", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    show("a handle was stored", exec != nullptr);
    show("with an error node and a log", hipGraphInstantiate(&second, graph, &bad, log, sizeof log));
    show("two executables have two handles", exec != second);
    run(exec, nullptr);
    trace.show_order("first runs");
    run(second, nullptr);
    trace.show_order("second runs");
    NEED(hipGraphExecDestroy(second));
    show("log, but no error node", hipGraphInstantiate(&second, graph, nullptr, log, sizeof log));
    NEED(hipGraphExecDestroy(second));
    show("log of no bytes", hipGraphInstantiate(&second, graph, &bad, log, 0));
    NEED(hipGraphExecDestroy(second));
    show("no place for the handle", hipGraphInstantiate(nullptr, graph, nullptr, nullptr, 0));
    show("null graph", hipGraphInstantiate(&second, nullptr, nullptr, nullptr, 0));
    show("flags 0", hipGraphInstantiateWithFlags(&second, graph, 0));
    run(second, nullptr);
    trace.show_order("made with flags 0");
    NEED(hipGraphExecDestroy(second));
    show("flag to free on launch", hipGraphInstantiateWithFlags(&second, graph,
        hipGraphInstantiateFlagAutoFreeOnLaunch));
    run(second, nullptr);
    trace.show_order("made to free on launch");
    NEED(hipGraphExecDestroy(second));
    show("with flags, no place for the handle", hipGraphInstantiateWithFlags(nullptr, graph, 0));
    show("with flags, null graph", hipGraphInstantiateWithFlags(&second, nullptr, 0));
    show("destroy", hipGraphExecDestroy(exec));
    show("destroy null", hipGraphExecDestroy(nullptr));
    NEED(hipGraphDestroy(graph));
}
