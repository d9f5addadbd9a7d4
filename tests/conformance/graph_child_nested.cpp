// Child graphs in child graphs, in order.
// proves: hipGraphAddChildGraphNode, hipGraphAddHostNode, hipGraphClone
#include "graph.h"

int main() {
    Trace trace;
    hipGraph_t inner, middle, outer;
    NEED(hipGraphCreate(&inner, 0));
    NEED(hipGraphCreate(&middle, 0));
    NEED(hipGraphCreate(&outer, 0));
    auto i1 = host(trace, inner, "inner1");
    host(trace, inner, "inner2", {i1});
    auto m1 = host(trace, middle, "middle1");
    hipGraphNode_t node;
    show("inner in middle", hipGraphAddChildGraphNode(&node, middle, &m1, 1, inner));
    host(trace, middle, "middle2", {node});
    auto o1 = host(trace, outer, "outer1");
    show("middle in outer", hipGraphAddChildGraphNode(&node, outer, &o1, 1, middle));
    host(trace, outer, "outer2", {node});
    show("nodes of inner", node_count(inner));
    show("nodes of middle", node_count(middle));
    show("nodes of outer", node_count(outer));
    hipGraphExec_t exec = instantiate(outer);
    run(exec, nullptr);
    trace.show_order("order");
    run(exec, nullptr);
    trace.show_order("order of a second launch");
    hipGraph_t clone;
    show("clone of outer", hipGraphClone(&clone, outer));
    show("nodes of the clone", node_count(clone));
    run(instantiate(clone), nullptr);
    trace.show_order("the clone's order");
    NEED(hipGraphExecDestroy(exec));
    for (auto graph : {inner, middle, outer, clone}) show("destroy", hipGraphDestroy(graph));
}
