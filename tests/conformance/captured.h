// What programs on capture share: the modes, the names of states, and graphs printed so that equal graphs
// print equally: nodes counted by type, edges by the types of their ends, nothing by address or by an order
// that nobody promises.
#pragma once

#include "graph.h"

// Labels that are put together.
template <typename T>
inline void show(const std::string& label, T value) {
    show(label.c_str(), value);
}

struct CaptureMode {
    hipStreamCaptureMode value;
    const char* name;
};
static const CaptureMode CAPTURE_MODES[] = {{hipStreamCaptureModeGlobal, "global"},
                                            {hipStreamCaptureModeThreadLocal, "thread-local"},
                                            {hipStreamCaptureModeRelaxed, "relaxed"}};

inline std::string state_name(hipStreamCaptureStatus state) {
    switch (static_cast<int>(state)) {
        case hipStreamCaptureStatusNone: return "none";
        case hipStreamCaptureStatusActive: return "active";
        case hipStreamCaptureStatusInvalidated: return "invalidated";
        default: return "state " + std::to_string(static_cast<int>(state));
    }
}

// The capture state of a stream, or the error of asking for it.
inline std::string state_of(hipStream_t stream) {
    hipStreamCaptureStatus state = static_cast<hipStreamCaptureStatus>(7);
    hipError_t error = hipStreamIsCapturing(stream, &state);
    return error == hipSuccess ? state_name(state) : observe::name_of(error);
}

// 5.2.3 has kinds of their own for linear copies and for copies of symbols.
inline std::string work_of(hipGraphNode_t node) {
    std::string kind = kind_of(node);
    return kind == "another kind" ? "memcpy" : kind;
}

inline std::string counted(const std::map<std::string, int>& counts) {
    std::string text;
    for (const auto& [what, count] : counts) {
        text += (text.empty() ? "" : ", ") + what + " x" + std::to_string(count);
    }
    return text.empty() ? "none" : text;
}

// "nodes: kernel x2, memcpy x1; edges: kernel -> memcpy x2; roots 2"
inline std::string shape_of(hipGraph_t graph) {
    if (graph == nullptr) return "no graph";
    size_t count = 0, edges = 0, roots = 0;
    if (hipGraphGetNodes(graph, nullptr, &count) != hipSuccess) return "not a graph";
    std::vector<hipGraphNode_t> nodes(count);
    if (count > 0) NEED(hipGraphGetNodes(graph, nodes.data(), &count));
    NEED(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
    std::vector<hipGraphNode_t> from(edges), to(edges);
    if (edges > 0) NEED(hipGraphGetEdges(graph, from.data(), to.data(), &edges));
    NEED(hipGraphGetRootNodes(graph, nullptr, &roots));
    std::map<std::string, int> by_type, by_ends;
    for (hipGraphNode_t node : nodes) ++by_type[work_of(node)];
    for (size_t i = 0; i < edges; ++i) ++by_ends[work_of(from[i]) + " -> " + work_of(to[i])];
    return "nodes: " + counted(by_type) + "; edges: " + counted(by_ends) + "; roots " + std::to_string(roots);
}

// Ends a capture: the code, the graph, and the state that the stream is left in.
inline void show_end(const std::string& label, hipStream_t stream) {
    hipGraph_t graph = nullptr;
    hipError_t error = hipStreamEndCapture(stream, &graph);
    show("end of " + label, error);
    show("graph of " + label, shape_of(error == hipSuccess ? graph : nullptr));
    show("state after " + label, state_of(stream));
    if (error == hipSuccess && graph != nullptr) NEED(hipGraphDestroy(graph));
}

// A stream to capture and one to fork to, with the events for it. Every scenario takes new ones: 5.2.3 leaves
// forked streams in the capture for ever, so they cannot be used again, nor destroyed.
struct Fork {
    hipStream_t origin, other;
    hipEvent_t forked, joined;

    explicit Fork(unsigned flags = hipStreamDefault) {
        NEED(hipStreamCreateWithFlags(&origin, flags));
        NEED(hipStreamCreateWithFlags(&other, flags));
        NEED(hipEventCreate(&forked));
        NEED(hipEventCreate(&joined));
    }
    void fork() {
        NEED(hipEventRecord(forked, origin));
        NEED(hipStreamWaitEvent(other, forked, 0));
    }
    void join() {
        NEED(hipEventRecord(joined, other));
        NEED(hipStreamWaitEvent(origin, joined, 0));
    }
};

// Runs a graph once.
inline void run_once(hipGraph_t graph, hipStream_t stream) {
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipGraphExecDestroy(exec));
}
