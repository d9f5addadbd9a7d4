// Cycles: accepted as edges, refused when the graph is instantiated.
#include "graph.h"

static void attempt(const char* label, hipGraph_t graph) {
    hipGraphExec_t exec = nullptr;
    std::string at = label;
    show(label, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    show((at + ", handle").c_str(), exec == nullptr ? "null" : "stored");
    exec = nullptr;
    show((at + ", with flags").c_str(), hipGraphInstantiateWithFlags(&exec, graph, 0));
}

int main() {
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    auto a = empty(graph, "a"), b = empty(graph, "b", {a}), c = empty(graph, "c", {b});
    show("c > a", hipGraphAddDependencies(graph, &c, &a, 1));
    show_roots("roots of a ring", graph);
    attempt("ring of three", graph);
    NEED(hipGraphRemoveDependencies(graph, &c, &a, 1));
    hipGraphExec_t exec = nullptr;
    show("ring broken", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    NEED(hipGraphExecDestroy(exec));
    show("c > b beside b > c", hipGraphAddDependencies(graph, &c, &b, 1));
    show_roots("roots with a ring of two behind a", graph);
    attempt("ring of two behind a root", graph);
    auto d = empty(graph, "d", {c});
    (void)d;
    attempt("ring of two with a tail", graph);
    hipGraph_t around;
    NEED(hipGraphCreate(&around, 0));
    hipGraphNode_t child;
    show("as a child graph", hipGraphAddChildGraphNode(&child, around, nullptr, 0, graph));
    attempt("a child graph with a ring", around);
    NEED(hipGraphDestroy(around));
    NEED(hipGraphDestroy(graph));
}
