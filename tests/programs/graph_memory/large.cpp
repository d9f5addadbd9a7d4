// Allocations as large as tests of footprints make them cost no more than what is touched.
#include "graph_memory.h"

int main() {
    constexpr size_t bytes = 2048 * MiB;
    void* address;
    hipGraph_t graph = new_graph();
    hipGraphNode_t alloc = add_alloc(graph, {}, bytes, &address), node;
    hipGraphNode_t first = add_fill(graph, alloc, address, 4096, 1);
    hipGraphNode_t last = add_fill(graph, first, static_cast<char*>(address) + bytes - 4096, 4096, 2);
    unsigned char ends[2];
    NEED(hipGraphAddMemcpyNode1D(&node, graph, &last, 1, &ends[0], address, 1, hipMemcpyDeviceToHost));
    NEED(hipGraphAddMemcpyNode1D(&node, graph, &node, 1, &ends[1], static_cast<char*>(address) + bytes - 1, 1,
                                 hipMemcpyDeviceToHost));
    add_free(graph, {node}, address);
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    line("ends: %d %d", ends[0], ends[1]);
    show_footprint("launched");
}
