// What the programs about memory of graphs share: graphs of allocation and free nodes, and what is said of them.
//
// Each program prints one line an observation; NAME.expected has what the documented rules make of it
// (docs/graph-memory-rules.md says which), line by line.
#pragma once

#include "../../conformance/observe.h"

#if HIP_VERSION_MAJOR < 6
#include "../toolchain/graph_memory.h"
#endif

constexpr size_t MiB = size_t{1} << 20;

// Parameters of an allocation of a device's memory.
inline hipMemAllocNodeParams allocation_of(size_t bytes, int device = 0) {
    hipMemAllocNodeParams params{};
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location.type = hipMemLocationTypeDevice;
    params.poolProps.location.id = device;
    params.bytesize = bytes;
    return params;
}

inline hipGraph_t new_graph() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    return graph;
}

// Adds an allocation node; `address` is where its memory lies.
inline hipGraphNode_t add_alloc(hipGraph_t graph, const std::vector<hipGraphNode_t>& after, size_t bytes, void** address) {
    hipGraphNode_t node;
    auto params = allocation_of(bytes);
    NEED(hipGraphAddMemAllocNode(&node, graph, after.data(), after.size(), &params));
    *address = params.dptr;
    return node;
}

inline hipGraphNode_t add_free(hipGraph_t graph, const std::vector<hipGraphNode_t>& after, void* address) {
    hipGraphNode_t node;
    NEED(hipGraphAddMemFreeNode(&node, graph, after.data(), after.size(), address));
    return node;
}

// Adds a node that sets every byte.
inline hipGraphNode_t add_fill(hipGraph_t graph, hipGraphNode_t after, void* address, size_t bytes, unsigned value) {
    hipGraphNode_t node;
    hipMemsetParams params{};
    params.dst = address;
    params.elementSize = 1;
    params.height = 1;
    params.pitch = bytes;
    params.value = value;
    params.width = bytes;
    NEED(hipGraphAddMemsetNode(&node, graph, &after, 1, &params));
    return node;
}

inline hipGraphExec_t instantiate(hipGraph_t graph, unsigned long long flags = 0) {
    hipGraphExec_t exec;
    NEED(hipGraphInstantiateWithFlags(&exec, graph, flags));
    return exec;
}

// A graph that allocates and fills memory, and frees it unless it is to be `left` allocated.
inline hipGraph_t graph_of(size_t bytes, bool left, void** address, unsigned value = 5) {
    hipGraph_t graph = new_graph();
    hipGraphNode_t alloc = add_alloc(graph, {}, bytes, address);
    hipGraphNode_t fill = add_fill(graph, alloc, *address, bytes < 4096 ? bytes : 4096, value);
    if (!left) add_free(graph, {fill}, *address);
    return graph;
}

inline hipStream_t new_stream() {
    hipStream_t stream;
    NEED(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
}

inline void run(hipGraphExec_t exec, hipStream_t stream) {
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
}

// Says whether the first and the last of `bytes` bytes have a value.
inline void show_filled(const char* label, const void* address, size_t bytes, unsigned char value) {
    unsigned char ends[2] = {0, 0};
    NEED(hipMemcpy(&ends[0], address, 1, hipMemcpyDeviceToHost));
    NEED(hipMemcpy(&ends[1], static_cast<const char*>(address) + bytes - 1, 1, hipMemcpyDeviceToHost));
    show(label, ends[0] == value && ends[1] == value);
}

inline unsigned long long graph_attribute(hipGraphMemAttributeType attribute) {
    unsigned long long value = ~0ull;
    NEED(hipDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

// What the device says of its graphs' memory, in MiB.
inline void show_footprint(const char* label) {
    line("%s: used %llu, high %llu; reserved %llu, high %llu", label,
         graph_attribute(hipGraphMemAttrUsedMemCurrent) / MiB, graph_attribute(hipGraphMemAttrUsedMemHigh) / MiB,
         graph_attribute(hipGraphMemAttrReservedMemCurrent) / MiB, graph_attribute(hipGraphMemAttrReservedMemHigh) / MiB);
}
