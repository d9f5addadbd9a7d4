// hipGraphExecUpdate where a node is of another kind and an edge goes elsewhere.
// DIFFERS another edge: 5.2.3 compares the number of nodes only, so an edge is lost; other edges are
//     TopologyChanged (HIP 7 documentation of hipGraphExecUpdate)
// proves: hipGraphAddMemcpyNode1D, hipGraphAddMemsetNode, hipGraphExecUpdate
#include "graph.h"

int main() {
    unsigned* a = device_memory<unsigned>(16, 1);
    unsigned* b = device_memory<unsigned>(16, 2);
    hipMemsetParams set = fill_params(a, 5, 16);
    // Three nodes; the second copies or fills, and what is behind it may be behind the first.
    auto build = [&](bool copies, bool turned) {
        hipGraph_t graph;
        hipGraphNode_t first, second, third;
        NEED(hipGraphCreate(&graph, 0));
        NEED(hipGraphAddMemsetNode(&first, graph, nullptr, 0, &set));
        names().add("first", first);
        if (copies) {
            NEED(hipGraphAddMemcpyNode1D(&second, graph, &first, 1, b, a, 16, hipMemcpyDeviceToDevice));
        } else {
            NEED(hipGraphAddMemsetNode(&second, graph, &first, 1, &set));
        }
        names().add("second", second);
        NEED(hipGraphAddMemsetNode(&third, graph, turned ? &first : &second, 1, &set));
        names().add("third", third);
        return graph;
    };
    hipGraphExec_t exec = instantiate(build(true, false));
    show_update("another kind", exec, build(false, false));
    show_update("another edge", exec, build(true, true));
    show_update("another kind and another edge", exec, build(false, true));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
