// What hipGraphAddMemsetNode refuses.
// DIFFERS no width: 5.2.3 does not check; hipErrorInvalidValue (HIP 7 documentation of hipMemsetParams)
// DIFFERS pitch below the width: 5.2.3 does not check; hipErrorInvalidValue (HIP 7 documentation of
//     hipMemsetParams)
// proves: hipGraphAddMemsetNode
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    unsigned* memory = device_memory<unsigned>(64, 0);
    hipMemsetParams good = fill_params(memory, 1, 8);
    hipGraphNode_t node;
    auto attempt = [&](const char* label, hipMemsetParams params) {
        show(label, hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
    };
    attempt("good", good);
    show("no place for the node", hipGraphAddMemsetNode(nullptr, graph, nullptr, 0, &good));
    show("null graph", hipGraphAddMemsetNode(&node, nullptr, nullptr, 0, &good));
    show("null parameters", hipGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr));
    show("count of dependencies alone", hipGraphAddMemsetNode(&node, graph, nullptr, 1, &good));
    hipMemsetParams bad = good;
    bad.dst = nullptr;
    attempt("null destination", bad);
    for (unsigned size : {0u, 3u, 5u, 8u}) {
        bad = good;
        bad.elementSize = size;
        attempt(("elements of " + std::to_string(size) + " bytes").c_str(), bad);
    }
    bad = good;
    bad.width = 0;
    attempt("no width", bad);
    bad = good;
    bad.height = 0;
    attempt("no height", bad);
    bad = good;
    bad.width = 1 << 24;
    attempt("wider than the allocation", bad);
    bad = good;
    bad.height = 4;
    bad.pitch = 16;
    attempt("pitch below the width", bad);
    bad = good;
    bad.height = 1 << 20;
    bad.pitch = 32;
    attempt("higher than the allocation", bad);
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(memory));
}
