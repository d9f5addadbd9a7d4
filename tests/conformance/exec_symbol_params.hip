// hipGraphExecMemcpyNodeSetParamsToSymbol and FromSymbol.
// DIFFERS to another symbol: 5.2.3 refuses to copy from the host to a symbol here; the direction fits
//     (HIP 7 documentation of hipGraphExecMemcpyNodeSetParamsToSymbol)
// DIFFERS from another symbol: 5.2.3 refuses to copy from a symbol to the host here; the direction fits
//     (HIP 7 documentation of hipGraphExecMemcpyNodeSetParamsFromSymbol)
// DIFFERS second: follows from that; HIP 7 documentation of copies from and to symbols
// proves: hipGraphAddMemcpyNodeFromSymbol, hipGraphAddMemcpyNodeToSymbol
// proves: hipGraphExecMemcpyNodeSetParamsFromSymbol, hipGraphExecMemcpyNodeSetParamsToSymbol
#include "kernels.h"

__device__ int first[8];
__device__ int second[8];

int main() {
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, others[8] = {11, 12, 13, 14, 15, 16, 17, 18}, back[8] = {};
    hipGraph_t graph, foreign;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&foreign, 0));
    hipGraphNode_t up, down, elsewhere;
    NEED(hipGraphAddMemcpyNodeToSymbol(&up, graph, nullptr, 0, HIP_SYMBOL(first), values, 32, 0,
        hipMemcpyHostToDevice));
    NEED(hipGraphAddMemcpyNodeFromSymbol(&down, graph, &up, 1, back, HIP_SYMBOL(first), 32, 0,
        hipMemcpyDeviceToHost));
    NEED(hipGraphAddMemcpyNodeToSymbol(&elsewhere, foreign, nullptr, 0, HIP_SYMBOL(first), values, 32, 0,
        hipMemcpyHostToDevice));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    line("first: %d %d", back[0], back[7]);
    show("to another symbol", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, up, HIP_SYMBOL(second), others,
        32, 0, hipMemcpyHostToDevice));
    show("from another symbol", hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, down, back,
        HIP_SYMBOL(second), 32, 0, hipMemcpyDeviceToHost));
    run(exec, nullptr);
    line("second: %d %d", back[0], back[7]);
    run(instantiate(graph), nullptr);
    line("the graph is unchanged: %d %d", back[0], back[7]);
    show("to, null executable", hipGraphExecMemcpyNodeSetParamsToSymbol(nullptr, up, HIP_SYMBOL(second),
        values, 4, 0, hipMemcpyHostToDevice));
    show("to, null node", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, nullptr, HIP_SYMBOL(second), values,
        4, 0, hipMemcpyHostToDevice));
    show("to, null symbol", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, up, nullptr, values, 4, 0,
        hipMemcpyHostToDevice));
    show("to, null source", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, up, HIP_SYMBOL(second), nullptr, 4,
        0, hipMemcpyHostToDevice));
    show("to, no bytes", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, up, HIP_SYMBOL(second), values, 0, 0,
        hipMemcpyHostToDevice));
    show("to, offset too far", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, up, HIP_SYMBOL(second), values,
        8, 28, hipMemcpyHostToDevice));
    show("to, node of another graph", hipGraphExecMemcpyNodeSetParamsToSymbol(exec, elsewhere,
        HIP_SYMBOL(second), values, 4, 0, hipMemcpyHostToDevice));
    show("from, null executable", hipGraphExecMemcpyNodeSetParamsFromSymbol(nullptr, down, back,
        HIP_SYMBOL(second), 4, 0, hipMemcpyDeviceToHost));
    show("from, null node", hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, nullptr, back, HIP_SYMBOL(second),
        4, 0, hipMemcpyDeviceToHost));
    show("from, null symbol", hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, down, back, nullptr, 4, 0,
        hipMemcpyDeviceToHost));
    show("from, null destination", hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, down, nullptr,
        HIP_SYMBOL(second), 4, 0, hipMemcpyDeviceToHost));
    show("from, no bytes", hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, down, back, HIP_SYMBOL(second), 0,
        0, hipMemcpyDeviceToHost));
    show("from, offset too far", hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, down, back,
        HIP_SYMBOL(second), 8, 28, hipMemcpyDeviceToHost));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(foreign));
}
