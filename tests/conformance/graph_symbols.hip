// Copy nodes to and from symbols: data, offsets and refusals.
// DIFFERS from, null symbol: 5.2.3 has the general code for it; hipErrorInvalidSymbol (HIP 7
//     documentation of hipGraphAddMemcpyNodeFromSymbol)
// proves: hipGraphAddKernelNode, hipGraphAddMemcpyNodeFromSymbol, hipGraphAddMemcpyNodeToSymbol
#include "kernels.h"

__device__ int table[16];
__constant__ int constants[8];

__global__ void combine(int* to) { to[threadIdx.x] = table[threadIdx.x] + constants[threadIdx.x]; }

int main() {
    int values[16], back[16] = {};
    for (int i = 0; i < 16; ++i) values[i] = 10 * i;
    int* data = device_memory<int>(8, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t whole, part, fixed, down, node;
    const size_t bytes = sizeof values;
    show("to a symbol", hipGraphAddMemcpyNodeToSymbol(&whole, graph, nullptr, 0, HIP_SYMBOL(table), values,
        bytes, 0, hipMemcpyHostToDevice));
    int tail[2] = {-5, -6};
    show("to a part of it", hipGraphAddMemcpyNodeToSymbol(&part, graph, &whole, 1, HIP_SYMBOL(table), tail, 8,
        8, hipMemcpyHostToDevice));
    int fixed_values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    show("to a constant", hipGraphAddMemcpyNodeToSymbol(&fixed, graph, &part, 1, HIP_SYMBOL(constants),
        fixed_values, 32, 0, hipMemcpyHostToDevice));
    Launch<int*> launch(combine, dim3(1), dim3(8), data);
    NEED(hipGraphAddKernelNode(&node, graph, &fixed, 1, &launch.params));
    show("from a symbol", hipGraphAddMemcpyNodeFromSymbol(&down, graph, &node, 1, back, HIP_SYMBOL(table),
        bytes, 0, hipMemcpyDeviceToHost));
    int third = 0;
    show("from a part of it", hipGraphAddMemcpyNodeFromSymbol(&node, graph, &down, 1, &third,
        HIP_SYMBOL(table), 4, 12, hipMemcpyDeviceToHost));
    run(instantiate(graph), nullptr);
    line("table: %d %d %d %d %d %d", back[0], back[1], back[2], back[3], back[4], back[15]);
    show("one entry", third);
    auto found = contents(data, 8);
    line("kernel: %d %d %d %d", found[0], found[1], found[2], found[7]);

    show("to, null symbol", hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, nullptr, values, 4, 0,
        hipMemcpyHostToDevice));
    show("to, null source", hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(table),
        nullptr, 4, 0, hipMemcpyHostToDevice));
    show("to, too many bytes", hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(table),
        values, 65, 0, hipMemcpyHostToDevice));
    show("to, offset too far", hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(table),
        values, 8, 60, hipMemcpyHostToDevice));
    show("from, null symbol", hipGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, back, nullptr, 4, 0,
        hipMemcpyDeviceToHost));
    show("from, null destination", hipGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, nullptr,
        HIP_SYMBOL(table), 4, 0, hipMemcpyDeviceToHost));
    show("from, too many bytes", hipGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, back,
        HIP_SYMBOL(table), 65, 0, hipMemcpyDeviceToHost));
    show("from, offset too far", hipGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, back,
        HIP_SYMBOL(table), 8, 60, hipMemcpyDeviceToHost));
    show("to, null graph", hipGraphAddMemcpyNodeToSymbol(&node, nullptr, nullptr, 0, HIP_SYMBOL(table),
        values, 4, 0, hipMemcpyHostToDevice));
    show("from, null graph", hipGraphAddMemcpyNodeFromSymbol(&node, nullptr, nullptr, 0, back,
        HIP_SYMBOL(table), 4, 0, hipMemcpyDeviceToHost));
    show("to, no place for the node", hipGraphAddMemcpyNodeToSymbol(nullptr, graph, nullptr, 0,
        HIP_SYMBOL(table), values, 4, 0, hipMemcpyHostToDevice));
    show("from, no place for the node", hipGraphAddMemcpyNodeFromSymbol(nullptr, graph, nullptr, 0, back,
        HIP_SYMBOL(table), 4, 0, hipMemcpyDeviceToHost));
    NEED(hipGraphDestroy(graph));
}
