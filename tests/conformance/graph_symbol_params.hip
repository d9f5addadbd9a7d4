// hipGraphMemcpyNodeSetParamsToSymbol and FromSymbol.
// DIFFERS set to another symbol: 5.2.3 refuses to copy from the host to a symbol here; the direction fits
//     (HIP 7 documentation of hipGraphMemcpyNodeSetParamsToSymbol)
// DIFFERS set from another symbol: 5.2.3 refuses to copy from a symbol to the host here; the direction
//     fits (HIP 7 documentation of hipGraphMemcpyNodeSetParamsFromSymbol)
// DIFFERS second: follows from that; HIP 7 documentation of copies from and to symbols
// proves: hipGraphAddMemcpyNodeFromSymbol, hipGraphAddMemcpyNodeToSymbol
// proves: hipGraphMemcpyNodeSetParamsFromSymbol, hipGraphMemcpyNodeSetParamsToSymbol
#include "kernels.h"

__device__ int first[8];
__device__ int second[8];

int main() {
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t up, down;
    NEED(hipGraphAddMemcpyNodeToSymbol(&up, graph, nullptr, 0, HIP_SYMBOL(first), values, 32, 0,
        hipMemcpyHostToDevice));
    NEED(hipGraphAddMemcpyNodeFromSymbol(&down, graph, &up, 1, back, HIP_SYMBOL(first), 32, 0,
        hipMemcpyDeviceToHost));
    show("set to another symbol", hipGraphMemcpyNodeSetParamsToSymbol(up, HIP_SYMBOL(second), values, 16, 8,
        hipMemcpyHostToDevice));
    show("set from another symbol", hipGraphMemcpyNodeSetParamsFromSymbol(down, back, HIP_SYMBOL(second), 32,
        0, hipMemcpyDeviceToHost));
    run(instantiate(graph), nullptr);
    line("second: %d %d %d %d %d %d", back[0], back[1], back[2], back[3], back[5], back[6]);
    show("to, null node", hipGraphMemcpyNodeSetParamsToSymbol(nullptr, HIP_SYMBOL(second), values, 4, 0,
        hipMemcpyHostToDevice));
    show("to, null symbol", hipGraphMemcpyNodeSetParamsToSymbol(up, nullptr, values, 4, 0,
        hipMemcpyHostToDevice));
    show("to, null source", hipGraphMemcpyNodeSetParamsToSymbol(up, HIP_SYMBOL(second), nullptr, 4, 0,
        hipMemcpyHostToDevice));
    show("to, no bytes", hipGraphMemcpyNodeSetParamsToSymbol(up, HIP_SYMBOL(second), values, 0, 0,
        hipMemcpyHostToDevice));
    show("to, offset too far", hipGraphMemcpyNodeSetParamsToSymbol(up, HIP_SYMBOL(second), values, 8, 28,
        hipMemcpyHostToDevice));
    show("from, null node", hipGraphMemcpyNodeSetParamsFromSymbol(nullptr, back, HIP_SYMBOL(second), 4, 0,
        hipMemcpyDeviceToHost));
    show("from, null symbol", hipGraphMemcpyNodeSetParamsFromSymbol(down, back, nullptr, 4, 0,
        hipMemcpyDeviceToHost));
    show("from, null destination", hipGraphMemcpyNodeSetParamsFromSymbol(down, nullptr, HIP_SYMBOL(second), 4,
        0, hipMemcpyDeviceToHost));
    show("from, no bytes", hipGraphMemcpyNodeSetParamsFromSymbol(down, back, HIP_SYMBOL(second), 0, 0,
        hipMemcpyDeviceToHost));
    show("from, offset too far", hipGraphMemcpyNodeSetParamsFromSymbol(down, back, HIP_SYMBOL(second), 8, 28,
        hipMemcpyDeviceToHost));
    NEED(hipGraphDestroy(graph));
}
