// What the programs about graphs share: nodes have names, and lists of nodes are printed by name.
#pragma once

#include "observe.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>

// Names of nodes, for printing.
class Names {
public:
    hipGraphNode_t add(const std::string& name, hipGraphNode_t node) {
        names_[node] = name;
        return node;
    }

    std::string of(hipGraphNode_t node) const {
        if (node == nullptr) return "null";
        auto found = names_.find(node);
        return found == names_.end() ? "unnamed" : found->second;
    }

    std::string of(const hipGraphNode_t* nodes, size_t count) const {
        std::string list;
        for (size_t i = 0; i < count; ++i) list += (i ? " " : "") + of(nodes[i]);
        return count ? list : "none";
    }

private:
    std::map<hipGraphNode_t, std::string> names_;
};

inline Names& names() {
    static Names all;
    return all;
}

// An empty node called `name` behind `after`.
inline hipGraphNode_t empty(hipGraph_t graph, const char* name,
                            std::initializer_list<hipGraphNode_t> after = {}) {
    hipGraphNode_t node = nullptr;
    std::vector<hipGraphNode_t> list(after);
    NEED(hipGraphAddEmptyNode(&node, graph, list.empty() ? nullptr : list.data(), list.size()));
    return names().add(name, node);
}

inline size_t node_count(hipGraph_t graph) {
    size_t count = 0;
    NEED(hipGraphGetNodes(graph, nullptr, &count));
    return count;
}

inline size_t edge_count(hipGraph_t graph) {
    size_t count = 0;
    NEED(hipGraphGetEdges(graph, nullptr, nullptr, &count));
    return count;
}

inline std::vector<hipGraphNode_t> nodes_of(hipGraph_t graph) {
    size_t count = node_count(graph);
    std::vector<hipGraphNode_t> nodes(count);
    if (count) NEED(hipGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
}

// Prints the nodes in the order in which they are returned.
inline void show_nodes(const char* label, hipGraph_t graph) {
    auto nodes = nodes_of(graph);
    line("%s: %zu: %s", label, nodes.size(), names().of(nodes.data(), nodes.size()).c_str());
}

// Prints the edges sorted by name.
inline void show_edges(const char* label, hipGraph_t graph) {
    size_t count = edge_count(graph);
    std::vector<hipGraphNode_t> from(count), to(count);
    if (count) NEED(hipGraphGetEdges(graph, from.data(), to.data(), &count));
    std::vector<std::string> edges;
    for (size_t i = 0; i < count; ++i) edges.push_back(names().of(from[i]) + ">" + names().of(to[i]));
    std::sort(edges.begin(), edges.end());
    std::string list;
    for (auto& edge : edges) list += " " + edge;
    line("%s: %zu:%s", label, count, count ? list.c_str() : " none");
}

// Prints a node list that a getter returns, sorted by name.
template <typename Get, typename Of>
void show_list(const char* label, Get get, Of of) {
    size_t count = 0;
    NEED(get(of, nullptr, &count));
    std::vector<hipGraphNode_t> nodes(count);
    if (count) NEED(get(of, nodes.data(), &count));
    std::sort(nodes.begin(), nodes.end(),
              [](hipGraphNode_t a, hipGraphNode_t b) { return names().of(a) < names().of(b); });
    line("%s: %zu: %s", label, count, names().of(nodes.data(), count).c_str());
}

// Asks a getter for nodes with an array that has room for so many, and prints all that was stored.
template <typename Get, typename Of>
void show_array(const char* label, Get get, Of of, size_t room) {
    auto untouched = reinterpret_cast<hipGraphNode_t>(&room);
    names().add("untouched", untouched);
    std::vector<hipGraphNode_t> array(8, untouched);
    size_t count = room;
    std::string at = label;
    show(label, get(of, array.data(), &count));
    show((at + ", count").c_str(), count);
    show((at + ", array").c_str(), names().of(array.data(), array.size()));
}

inline void show_roots(const char* label, hipGraph_t graph) { show_list(label, hipGraphGetRootNodes, graph); }
inline void show_dependencies(const char* label, hipGraphNode_t node) {
    show_list(label, hipGraphNodeGetDependencies, node);
}
inline void show_dependents(const char* label, hipGraphNode_t node) {
    show_list(label, hipGraphNodeGetDependentNodes, node);
}

// What host nodes have done, in the order in which they did it.
class Trace {
public:
    struct Step {
        Trace* trace;
        std::string name;
    };

    // Parameters of a host node that notes `name`.
    hipHostNodeParams step(const std::string& name) {
        steps_.push_back(new Step{this, name});
        return {&Trace::run, steps_.back()};
    }

    void note(const std::string& name) {
        std::lock_guard<std::mutex> lock(mutex_);
        done_.push_back(name);
    }

    std::vector<std::string> take() {
        std::lock_guard<std::mutex> lock(mutex_);
        return std::move(done_);
    }

    // Prints what was noted since the last call, in order.
    void show_order(const char* label) {
        std::string list;
        for (auto& name : take()) list += (list.empty() ? "" : " ") + name;
        line("%s: %s", label, list.empty() ? "nothing" : list.c_str());
    }

    // Prints what was noted since the last call, sorted.
    void show_set(const char* label) {
        auto done = take();
        std::sort(done.begin(), done.end());
        std::string list;
        for (auto& name : done) list += (list.empty() ? "" : " ") + name;
        line("%s: %s", label, list.empty() ? "nothing" : list.c_str());
    }

private:
    static void run(void* step) {
        auto* given = static_cast<Step*>(step);
        given->trace->note(given->name);
    }

    std::mutex mutex_;
    std::vector<std::string> done_;
    std::vector<Step*> steps_;
};

// A host node called `name` that notes its name, behind `after`.
inline hipGraphNode_t host(Trace& trace, hipGraph_t graph, const char* name,
                           std::initializer_list<hipGraphNode_t> after = {}) {
    hipGraphNode_t node = nullptr;
    std::vector<hipGraphNode_t> list(after);
    hipHostNodeParams params = trace.step(name);
    NEED(hipGraphAddHostNode(&node, graph, list.empty() ? nullptr : list.data(), list.size(), &params));
    return names().add(name, node);
}

inline hipGraphExec_t instantiate(hipGraph_t graph) {
    hipGraphExec_t exec = nullptr;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

// Launches in a stream and waits for it.
inline void run(hipGraphExec_t exec, hipStream_t stream) {
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
}

inline std::string result_name(hipGraphExecUpdateResult result) {
    switch (static_cast<int>(result)) {
        case hipGraphExecUpdateSuccess: return "Success";
        case hipGraphExecUpdateError: return "Error";
        case hipGraphExecUpdateErrorTopologyChanged: return "TopologyChanged";
        case hipGraphExecUpdateErrorNodeTypeChanged: return "NodeTypeChanged";
        case hipGraphExecUpdateErrorFunctionChanged: return "FunctionChanged";
        case hipGraphExecUpdateErrorParametersChanged: return "ParametersChanged";
        case hipGraphExecUpdateErrorNotSupported: return "NotSupported";
        case hipGraphExecUpdateErrorUnsupportedFunctionChange: return "UnsupportedFunctionChange";
        default: return "result " + std::to_string(static_cast<int>(result));
    }
}

// Updates an executable and prints the outcome on three lines.
inline void show_update(const char* label, hipGraphExec_t exec, hipGraph_t graph) {
    hipGraphNode_t node = nullptr;
    auto result = static_cast<hipGraphExecUpdateResult>(99);
    std::string at = label;
    show(at.c_str(), hipGraphExecUpdate(exec, graph, &node, &result));
    show((at + ", result").c_str(), result_name(result));
    show((at + ", node").c_str(), names().of(node));
}

// The kind of a node by name. Releases number the kinds from 1 (to 5.2) or from 0: an empty node tells which.
inline std::string kind_of(hipGraphNode_t node) {
    static const int shift = [] {
        hipGraph_t graph;
        hipGraphNodeType type;
        NEED(hipGraphCreate(&graph, 0));
        hipGraphNode_t node;
        NEED(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
        NEED(hipGraphNodeGetType(node, &type));
        NEED(hipGraphDestroy(graph));
        return 6 - static_cast<int>(type);
    }();
    hipGraphNodeType type;
    NEED(hipGraphNodeGetType(node, &type));
    switch (static_cast<int>(type) + shift) {
        case 1: return "kernel";
        case 2: return "memcpy";
        case 3: return "memset";
        case 4: return "host";
        case 5: return "child graph";
        case 6: return "empty";
        case 7: return "event wait";
        case 8: return "event record";
        default: return "another kind";
    }
}

// Parameters of a memset node for rows of `width` elements.
inline hipMemsetParams fill_params(void* dst, unsigned value, size_t width, size_t height = 1,
                                   size_t pitch = 0, unsigned element = 4) {
    hipMemsetParams params = {};
    params.dst = dst;
    params.elementSize = element;
    params.value = value;
    params.width = width;
    params.height = height;
    params.pitch = pitch;
    return params;
}

// Device memory with `count` elements, each of them `value`.
template <typename T>
T* device_memory(size_t count, T value) {
    T* memory = nullptr;
    std::vector<T> values(count, value);
    NEED(hipMalloc(reinterpret_cast<void**>(&memory), count * sizeof(T)));
    NEED(hipMemcpy(memory, values.data(), count * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
std::vector<T> contents(const T* memory, size_t count) {
    std::vector<T> values(count);
    NEED(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}
