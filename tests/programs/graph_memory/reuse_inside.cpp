// Allocations of one graph whose lifetimes do not overlap have the same memory; those that overlap do not.
#include "graph_memory.h"

int main() {
    constexpr size_t bytes = 32 * MiB;
    hipGraph_t graph = new_graph();
    std::vector<unsigned char> host(3);
    hipGraphNode_t last = nullptr;
    for (unsigned step = 0; step < 3; ++step) {
        void* address;
        hipGraphNode_t alloc = add_alloc(graph, last ? std::vector<hipGraphNode_t>{last} : std::vector<hipGraphNode_t>{},
                                         bytes, &address);
        hipGraphNode_t fill = add_fill(graph, alloc, address, bytes, step + 1), copy;
        NEED(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, &host[step], static_cast<char*>(address) + bytes - 1, 1,
                                     hipMemcpyDeviceToHost));
        last = add_free(graph, {copy}, address);
    }
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    line("one behind the other: %d %d %d", host[0], host[1], host[2]);
    show_footprint("one behind the other");
    NEED(hipGraphExecDestroy(exec));
    NEED(hipDeviceGraphMemTrim(0));

    hipGraph_t wide = new_graph();
    void *first, *second;
    hipGraphNode_t one = add_alloc(wide, {}, bytes, &first), two = add_alloc(wide, {one}, bytes, &second);
    hipGraphNode_t fill = add_fill(wide, two, first, bytes, 7), other = add_fill(wide, fill, second, bytes, 8), copy;
    NEED(hipGraphAddMemcpyNode1D(&copy, wide, &other, 1, host.data(), first, 1, hipMemcpyDeviceToHost));
    add_free(wide, {copy}, first);
    add_free(wide, {copy}, second);
    hipGraphExec_t both = instantiate(wide);
    run(both, nullptr);
    show("at a time", static_cast<int>(host[0]));
    show_footprint("at a time");
}
