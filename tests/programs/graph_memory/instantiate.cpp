// A graph that allocates or frees has one executable at a time.
#include "graph_memory.h"

static void observe_graph(const char* what, hipGraph_t graph) {
    hipGraphExec_t first, second;
    line("%s", what);
    show("first", hipGraphInstantiate(&first, graph, nullptr, nullptr, 0));
    show("second", hipGraphInstantiate(&second, graph, nullptr, nullptr, 0));
    show("second, with flags", hipGraphInstantiateWithFlags(&second, graph, 0));
    show("destroy", hipGraphExecDestroy(first));
    show("behind that", hipGraphInstantiate(&second, graph, nullptr, nullptr, 0));
    NEED(hipGraphExecDestroy(second));
}

int main() {
    void *inside, *left, *address;
    observe_graph("allocates and frees", graph_of(4096, false, &inside));
    hipGraph_t leaving = graph_of(4096, true, &left);
    observe_graph("allocates", leaving);
    hipGraph_t freeing = new_graph();
    add_free(freeing, {}, left);
    observe_graph("frees", freeing);
    NEED(hipMalloc(&address, 4096));
    hipGraph_t plain = new_graph();
    hipGraphNode_t node;
    NEED(hipGraphAddEmptyNode(&node, plain, nullptr, 0));
    add_fill(plain, node, address, 4096, 1);
    hipGraphExec_t first, second;
    line("neither");
    show("first", hipGraphInstantiate(&first, plain, nullptr, nullptr, 0));
    show("second", hipGraphInstantiate(&second, plain, nullptr, nullptr, 0));
}
