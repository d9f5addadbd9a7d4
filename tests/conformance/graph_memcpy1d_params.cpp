// hipGraphMemcpyNodeSetParams1D on a node of a graph.
// DIFFERS overlap: 5.2.3 refuses equal ends only; overlapping ones are hipErrorInvalidValue (HIP 7
//     documentation of hipGraphMemcpyNodeSetParams1D)
// DIFFERS direction 5: 5.2.3 has another code for it than for a new node; hipErrorInvalidMemcpyDirection
//     (HIP 7 documentation of hipGraphMemcpyNodeSetParams1D)
// proves: hipGraphAddMemcpyNode1D, hipGraphMemcpyNodeSetParams1D
#include "graph.h"

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    int* a = device_memory<int>(16, 1);
    int* b = device_memory<int>(16, 2);
    int first[16] = {}, second[16] = {};
    hipGraphNode_t node;
    NEED(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, first, a, 64, hipMemcpyDeviceToHost));
    hipGraphExec_t before = instantiate(graph);
    show("other source and destination", hipGraphMemcpyNodeSetParams1D(node, second, b, 32,
        hipMemcpyDeviceToHost));
    run(before, nullptr);
    line("executable made before: %d %d", first[0], second[0]);
    first[0] = 0;
    run(instantiate(graph), nullptr);
    line("executable made after: %d %d %d", first[0], second[7], second[8]);
    show("other direction", hipGraphMemcpyNodeSetParams1D(node, a, second, 4, hipMemcpyHostToDevice));
    run(instantiate(graph), nullptr);
    line("direction changed: %d %d", contents(a, 2)[0], contents(a, 2)[1]);
    show("null node", hipGraphMemcpyNodeSetParams1D(nullptr, a, second, 4, hipMemcpyHostToDevice));
    show("null destination", hipGraphMemcpyNodeSetParams1D(node, nullptr, second, 4, hipMemcpyHostToDevice));
    show("null source", hipGraphMemcpyNodeSetParams1D(node, a, nullptr, 4, hipMemcpyHostToDevice));
    show("no bytes", hipGraphMemcpyNodeSetParams1D(node, a, second, 0, hipMemcpyHostToDevice));
    show("destination is the source", hipGraphMemcpyNodeSetParams1D(node, a, a, 4, hipMemcpyDeviceToDevice));
    show("overlap", hipGraphMemcpyNodeSetParams1D(node, a + 1, a, 8, hipMemcpyDeviceToDevice));
    show("longer than the allocation", hipGraphMemcpyNodeSetParams1D(node, a, second, 1 << 24,
        hipMemcpyHostToDevice));
    show("direction 5", hipGraphMemcpyNodeSetParams1D(node, a, second, 4, static_cast<hipMemcpyKind>(5)));
    NEED(hipGraphExecDestroy(before));
    NEED(hipGraphDestroy(graph));
}
