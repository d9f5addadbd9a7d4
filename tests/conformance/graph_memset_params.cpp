// hipGraphMemsetNodeGetParams and SetParams.
// DIFFERS set rows: 6.3 takes no rows here, which its documentation does not say; HIP 7 documentation of
//     hipGraphMemsetNodeSetParams
// DIFFERS as set: 6.3 takes no rows here, which its documentation does not say; HIP 7 documentation of
//     hipGraphMemsetNodeSetParams
// DIFFERS unchanged by errors: 6.3 takes no rows here, which its documentation does not say; HIP 7
//     documentation of hipGraphMemsetNodeSetParams
// DIFFERS filled: 5.2.3 fills rows wrongly and 6.3 takes none, see graph_memset.cpp; hipMemsetParams (HIP 7
//     documentation of hipGraphAddMemsetNode)
// proves: hipGraphAddMemsetNode, hipGraphMemsetNodeGetParams, hipGraphMemsetNodeSetParams
#include "graph.h"

static void print(const char* label, const hipMemsetParams& p, const void* dst) {
    line("%s: destination %d element %u value %x width %zu height %zu pitch %zu", label, p.dst == dst,
        p.elementSize, p.value, p.width, p.height, p.pitch);
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    unsigned* a = device_memory<unsigned>(64, 0);
    unsigned* b = device_memory<unsigned>(64, 0);
    hipMemsetParams params = fill_params(a, 0x11223344, 8), got = {};
    hipGraphNode_t node;
    show("add", hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
    show("get", hipGraphMemsetNodeGetParams(node, &got));
    print("as given", got, a);
    hipMemsetParams rows = params;
    rows.dst = b;
    rows.elementSize = 2;
    rows.value = 0x7788;
    rows.width = 4;
    rows.height = 3;
    rows.pitch = 16;
    show("set rows", hipGraphMemsetNodeSetParams(node, &rows));
    NEED(hipGraphMemsetNodeGetParams(node, &got));
    print("as set", got, b);
    run(instantiate(graph), nullptr);
    line("filled: %x %x %x %x %x", contents(a, 1)[0], contents(b, 1)[0], contents(b, 3)[2],
        contents(b, 10)[9], contents(b, 13)[12]);
    show("get without a place", hipGraphMemsetNodeGetParams(node, nullptr));
    show("get of null", hipGraphMemsetNodeGetParams(nullptr, &got));
    show("set on null", hipGraphMemsetNodeSetParams(nullptr, &params));
    show("set null", hipGraphMemsetNodeSetParams(node, nullptr));
    hipMemsetParams bad = params;
    bad.dst = nullptr;
    show("set without a destination", hipGraphMemsetNodeSetParams(node, &bad));
    bad = params;
    bad.elementSize = 3;
    show("set with elements of 3 bytes", hipGraphMemsetNodeSetParams(node, &bad));
    bad = params;
    bad.height = 0;
    show("set without rows", hipGraphMemsetNodeSetParams(node, &bad));
    bad = params;
    bad.width = 1 << 24;
    show("set beyond the allocation", hipGraphMemsetNodeSetParams(node, &bad));
    NEED(hipGraphMemsetNodeGetParams(node, &got));
    print("unchanged by errors", got, b);
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
