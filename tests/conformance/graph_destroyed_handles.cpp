// Handles of what has been destroyed, as far as 5.2.3 survives them.
// HIP: 5.2.3 crashes on a destroyed graph in most other functions, or goes on as if it existed.
// proves: hipGraphAddEmptyNode, hipGraphAddHostNode, hipGraphClone, hipGraphDestroyNode
#include "graph.h"

int main() {
    hipGraph_t graph, dead, clone;
    Trace trace;
    NEED(hipGraphCreate(&graph, 0));
    NEED(hipGraphCreate(&dead, 0));
    auto lost = host(trace, dead, "lost");
    hipGraphExec_t exec = instantiate(dead);
    NEED(hipGraphDestroy(dead));
    show("destroy a graph again", hipGraphDestroy(dead));
    show("clone a destroyed graph", hipGraphClone(&clone, dead));
    show("destroy a node of a destroyed graph", hipGraphDestroyNode(lost));
    run(exec, nullptr);
    trace.show_order("its executable runs");
    auto gone = empty(graph, "gone");
    show("destroy a node", hipGraphDestroyNode(gone));
    show("destroy it again", hipGraphDestroyNode(gone));
    NEED(hipGraphExecDestroy(exec));
    show("launch a destroyed executable", hipGraphLaunch(exec, nullptr));
    int word = 0;
    show("launch what is no executable", hipGraphLaunch(reinterpret_cast<hipGraphExec_t>(&word), nullptr));
    NEED(hipGraphDestroy(graph));
}
