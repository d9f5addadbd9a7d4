// What a free node refuses: everything but an allocation of a graph that is not freed yet.
#include "graph_memory.h"

int main() {
    hipGraph_t graph = new_graph();
    void *address, *device;
    hipGraphNode_t alloc = add_alloc(graph, {}, 4096, &address), node;
    NEED(hipMalloc(&device, 4096));
    int host = 0;
    auto attempt = [&](const char* label, void* pointer) {
        show(label, hipGraphAddMemFreeNode(&node, graph, &alloc, 1, pointer));
    };
    attempt("null", nullptr);
    attempt("host memory", &host);
    attempt("garbage", reinterpret_cast<void*>(0xdeadbeef));
    attempt("the highest address", reinterpret_cast<void*>(UINTPTR_MAX));
    attempt("memory of hipMalloc", device);
    attempt("behind the start of an allocation", static_cast<char*>(address) + 256);
    show("no place for the node", hipGraphAddMemFreeNode(nullptr, graph, &alloc, 1, address));
    show("no graph", hipGraphAddMemFreeNode(&node, nullptr, &alloc, 1, address));
    show("dependencies missing", hipGraphAddMemFreeNode(&node, graph, nullptr, 1, address));
    attempt("the allocation", address);
    attempt("the allocation again", address);
    size_t nodes = 0;
    NEED(hipGraphGetNodes(graph, nullptr, &nodes));
    show("nodes", nodes);
    NEED(hipFree(device));
    NEED(hipGraphDestroy(graph));
}
