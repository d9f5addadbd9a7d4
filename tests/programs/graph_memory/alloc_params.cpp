// What an allocation node refuses.
#include "graph_memory.h"

#include <climits>

static hipGraph_t graph;

template <typename Change>
static void attempt(const char* label, Change change) {
    auto params = allocation_of(4096);
    change(params);
    hipGraphNode_t node;
    show(label, hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
}

int main() {
    graph = new_graph();
    int devices;
    NEED(hipGetDeviceCount(&devices));
    std::vector<hipMemAccessDesc> access(static_cast<size_t>(devices) + 1);
    for (auto& desc : access) {
        desc.location.type = hipMemLocationTypeDevice;
        desc.location.id = 0;
        desc.flags = hipMemAccessFlagsProtReadWrite;
    }
    using Params = hipMemAllocNodeParams;
    attempt("valid", [](Params&) {});
    attempt("allocation type invalid", [](Params& p) { p.poolProps.allocType = hipMemAllocationTypeInvalid; });
    attempt("allocation type unknown", [](Params& p) { p.poolProps.allocType = static_cast<hipMemAllocationType>(99); });
    attempt("location type invalid", [](Params& p) { p.poolProps.location.type = hipMemLocationTypeInvalid; });
    attempt("location type unknown", [](Params& p) { p.poolProps.location.type = static_cast<hipMemLocationType>(99); });
    attempt("device -1", [](Params& p) { p.poolProps.location.id = -1; });
    attempt("device behind the last", [&](Params& p) { p.poolProps.location.id = devices; });
    attempt("device INT_MAX", [](Params& p) { p.poolProps.location.id = INT_MAX; });
    attempt("no bytes", [](Params& p) { p.bytesize = 0; });
    attempt("SIZE_MAX bytes", [](Params& p) { p.bytesize = SIZE_MAX; });
    attempt("as many descriptors as devices", [&](Params& p) {
        p.accessDescs = access.data();
        p.accessDescCount = static_cast<size_t>(devices);
    });
    attempt("one descriptor more", [&](Params& p) {
        p.accessDescs = access.data();
        p.accessDescCount = access.size();
    });
    attempt("descriptors missing", [](Params& p) { p.accessDescCount = 1; });
    hipGraphNode_t node;
    auto params = allocation_of(4096);
    show("no place for the node", hipGraphAddMemAllocNode(nullptr, graph, nullptr, 0, &params));
    show("no graph", hipGraphAddMemAllocNode(&node, nullptr, nullptr, 0, &params));
    show("dependencies missing", hipGraphAddMemAllocNode(&node, graph, nullptr, 1, &params));
    show("no parameters", hipGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr));
    size_t nodes = 0;
    NEED(hipGraphGetNodes(graph, nullptr, &nodes));
    show("nodes", nodes);
    NEED(hipGraphDestroy(graph));
}
