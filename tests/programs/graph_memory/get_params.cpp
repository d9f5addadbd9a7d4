// Nodes tell what they were made with.
#include "graph_memory.h"

int main() {
    hipGraph_t graph = new_graph();
    hipMemAccessDesc access{};
    access.location.type = hipMemLocationTypeDevice;
    access.flags = hipMemAccessFlagsProtReadWrite;
    auto given = allocation_of(5000);
    given.accessDescs = &access;
    given.accessDescCount = 1;
    hipGraphNode_t alloc, empty;
    NEED(hipGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &given));
    hipGraphNode_t free = add_free(graph, {alloc}, given.dptr);
    NEED(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
    hipMemAllocNodeParams found{};
    show("allocation", hipGraphMemAllocNodeGetParams(alloc, &found));
    line("%zu bytes, type %d, location %d of type %d, %zu descriptors", found.bytesize, found.poolProps.allocType,
         found.poolProps.location.id, found.poolProps.location.type, found.accessDescCount);
    show("address", found.dptr == given.dptr);
    show("descriptor", found.accessDescs && found.accessDescs->flags == hipMemAccessFlagsProtReadWrite);
    void* freed = nullptr;
    show("free", hipGraphMemFreeNodeGetParams(free, &freed));
    show("address", freed == given.dptr);
    hipGraphNodeType kind;
    NEED(hipGraphNodeGetType(alloc, &kind));
    show("kind of the allocation", static_cast<int>(kind));
    NEED(hipGraphNodeGetType(free, &kind));
    show("kind of the free", static_cast<int>(kind));
    show("allocation of a free node", hipGraphMemAllocNodeGetParams(free, &found));
    show("allocation of an empty node", hipGraphMemAllocNodeGetParams(empty, &found));
    show("allocation of no node", hipGraphMemAllocNodeGetParams(nullptr, &found));
    show("allocation to nowhere", hipGraphMemAllocNodeGetParams(alloc, nullptr));
    show("free of an allocation node", hipGraphMemFreeNodeGetParams(alloc, &freed));
    show("free of an empty node", hipGraphMemFreeNodeGetParams(empty, &freed));
    show("free of no node", hipGraphMemFreeNodeGetParams(nullptr, &freed));
    show("free to nowhere", hipGraphMemFreeNodeGetParams(free, nullptr));
    NEED(hipGraphDestroy(graph));
}
