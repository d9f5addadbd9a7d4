// hipGraphExecKernelNodeSetParams: what may change, and what is refused.
// proves: hipGraphAddEmptyNode, hipGraphAddKernelNode, hipGraphExecKernelNodeSetParams
// proves: hipGraphKernelNodeGetParams
#include "kernels.h"

int main() {
    int* a = device_memory<int>(128, 1);
    int* b = device_memory<int>(128, 1);
    hipGraph_t graph, foreign;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&foreign, 0));
    auto node = kernel(graph, {}, add, 64, a, 10);
    auto elsewhere = kernel(foreign, {}, add, 64, a, 10);
    auto plain = empty(graph, "plain", {node});
    (void)plain;
    hipGraphExec_t exec = instantiate(graph);
    Launch<int*, int, int> larger(add, dim3(2), dim3(64), b, 20, 128);
    show("other arguments and a larger grid", hipGraphExecKernelNodeSetParams(exec, node, &larger.params));
    run(exec, nullptr);
    line("ran: %d %d %d", contents(a, 1)[0], contents(b, 1)[0], contents(b, 128)[127]);
    Launch<int*, int, int> product(multiply, dim3(2), dim3(64), b, 3, 128);
    show("another kernel", hipGraphExecKernelNodeSetParams(exec, node, &product.params));
    run(exec, nullptr);
    line("ran the other: %d %d", contents(b, 1)[0], contents(b, 128)[127]);
    run(instantiate(graph), nullptr);
    line("the graph is unchanged: %d %d", contents(a, 1)[0], contents(a, 128)[127]);
    hipKernelNodeParams got;
    NEED(hipGraphKernelNodeGetParams(node, &got));
    show("the node of the graph is unchanged",
        got.func == reinterpret_cast<void*>(add) && got.gridDim.x == 1);
    show("null executable", hipGraphExecKernelNodeSetParams(nullptr, node, &larger.params));
    show("null node", hipGraphExecKernelNodeSetParams(exec, nullptr, &larger.params));
    show("null parameters", hipGraphExecKernelNodeSetParams(exec, node, nullptr));
    show("node of another graph", hipGraphExecKernelNodeSetParams(exec, elsewhere, &larger.params));
    auto late = kernel(graph, {}, add, 64, a, 10);
    show("node added later", hipGraphExecKernelNodeSetParams(exec, late, &larger.params));
    run(exec, nullptr);
    line("after errors: %d", contents(b, 1)[0]);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(foreign));
}
