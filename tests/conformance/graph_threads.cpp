// Threads that build, instantiate and launch graphs of their own.
// proves: hipGraphAddHostNode
#include "graph.h"

#include <thread>

static void work(int number, long* sum, bool* good) {
    *good = true;
    auto check = [&](hipError_t error) { *good &= error == hipSuccess; };
    for (int round = 0; round < 10; ++round) {
        hipGraph_t graph;
        hipStream_t stream;
        check(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        check(hipGraphCreate(&graph, 0));
        hipHostNodeParams add = {[](void* to) { *static_cast<long*>(to) += 1; }, sum};
        hipGraphNode_t last = nullptr;
        for (int i = 0; i < 5 + number; ++i) {
            hipGraphNode_t node;
            check(hipGraphAddHostNode(&node, graph, last ? &last : nullptr, last ? 1 : 0, &add));
            last = node;
        }
        hipGraphExec_t exec;
        check(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
        check(hipGraphLaunch(exec, stream));
        check(hipStreamSynchronize(stream));
        check(hipGraphExecDestroy(exec));
        check(hipGraphDestroy(graph));
        check(hipStreamDestroy(stream));
    }
}

int main() {
    long sums[2] = {};
    bool good[2] = {};
    std::thread first(work, 0, &sums[0], &good[0]), second(work, 1, &sums[1], &good[1]);
    first.join();
    second.join();
    show("calls of the first thread succeeded", good[0]);
    show("calls of the second thread succeeded", good[1]);
    show("host nodes of the first", sums[0]);
    show("host nodes of the second", sums[1]);

    hipGraph_t graph;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    auto a = host(trace, graph, "a");
    host(trace, graph, "b", {a});
    hipGraphExec_t exec = nullptr;
    std::thread([&] { NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0)); }).join();
    std::thread([&] { run(exec, nullptr); }).join();
    trace.show_order("built, instantiated and launched in three threads");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
}
