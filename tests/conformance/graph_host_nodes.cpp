// Host nodes run once each, behind what they depend on, with the data they were given.
// proves: hipGraphAddHostNode
#include "graph.h"

static std::vector<int> seen;
static void note(void* data) { seen.push_back(*static_cast<int*>(data)); }
static void null_seen(void* data) { seen.push_back(data == nullptr ? -1 : -2); }

static void print(const char* label) {
    std::string list;
    for (int value : seen) list += " " + std::to_string(value);
    line("%s:%s", label, list.c_str());
    seen.clear();
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    int values[] = {10, 20, 30};
    hipGraphNode_t node = nullptr, last = nullptr;
    for (int& value : values) {
        hipHostNodeParams params = {note, &value};
        show("add", hipGraphAddHostNode(&node, graph, last ? &last : nullptr, last ? 1 : 0, &params));
        last = node;
    }
    hipHostNodeParams params = {null_seen, nullptr};
    NEED(hipGraphAddHostNode(&node, graph, &last, 1, &params));
    hipGraphExec_t exec = instantiate(graph);
    run(exec, nullptr);
    print("values in order, then null");
    values[1] = 21;
    run(exec, nullptr);
    print("the data belongs to the caller");

    hipGraph_t wide;
    NEED(hipGraphCreate(&wide, 0));
    Trace trace;
    auto root = host(trace, wide, "0 root");
    std::vector<hipGraphNode_t> leaves;
    for (const char* name : {"1 a", "1 b", "1 c", "1 d"}) leaves.push_back(host(trace, wide, name, {root}));
    host(trace, wide, "2 join", {leaves[0], leaves[1], leaves[2], leaves[3]});
    run(instantiate(wide), nullptr);
    auto done = trace.take();
    show("first", done.front());
    show("last", done.back());
    std::sort(done.begin(), done.end());
    std::string all;
    for (auto& name : done) all += name + "; ";
    show("all", all);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(wide));
}
