// hipGraphExecUpdate from graphs of one shape: made alike, and with the nodes' dependencies given in one call.
// proves: hipGraphAddDependencies, hipGraphExecUpdate
#include "graph.h"

int main() {
    Trace trace;
    auto make = [&](const char* suffix, bool edges_later) {
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        std::string tail = suffix;
        auto a = host(trace, graph, ("a" + tail).c_str());
        if (edges_later) {
            auto b = host(trace, graph, ("b" + tail).c_str());
            auto c = host(trace, graph, ("c" + tail).c_str());
            hipGraphNode_t from[] = {a, b}, to[] = {b, c};
            NEED(hipGraphAddDependencies(graph, from, to, 2));
        } else {
            auto b = host(trace, graph, ("b" + tail).c_str(), {a});
            host(trace, graph, ("c" + tail).c_str(), {b});
        }
        return graph;
    };
    hipGraph_t first = make("1", false), second = make("2", false), third = make("3", true);
    hipGraphExec_t exec = instantiate(first);
    run(exec, nullptr);
    trace.show_order("as it was made");
    show_update("a graph made alike", exec, second);
    run(exec, nullptr);
    trace.show_order("runs");
    show_update("edges added later", exec, third);
    run(exec, nullptr);
    trace.show_order("runs");
    show_update("back again", exec, first);
    run(exec, nullptr);
    trace.show_order("runs");
    NEED(hipGraphExecDestroy(exec));
    for (auto each : {first, second, third}) NEED(hipGraphDestroy(each));
}
