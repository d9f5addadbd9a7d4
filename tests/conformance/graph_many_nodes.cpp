// A thousand nodes: counts, and the ends of lists that are asked for in full.
// proves: hipGraphAddEmptyNode, hipGraphClone, hipGraphDestroyNode, hipGraphGetNodes, hipGraphGetRootNodes
// proves: hipGraphNodeGetDependencies
#include "graph.h"

int main() {
    const size_t count = 1000;
    hipGraph_t chain, fan;
    NEED(hipGraphCreate(&chain, 0));
    std::vector<hipGraphNode_t> nodes;
    for (size_t i = 0; i < count; ++i) {
        hipGraphNode_t node;
        NEED(hipGraphAddEmptyNode(&node, chain, i ? &nodes.back() : nullptr, i ? 1 : 0));
        nodes.push_back(node);
    }
    show("chain, nodes", node_count(chain));
    show("chain, edges", edge_count(chain));
    show("chain, nodes come in the order of insertion", nodes_of(chain) == nodes);
    size_t roots = 0;
    NEED(hipGraphGetRootNodes(chain, nullptr, &roots));
    show("chain, roots", roots);
    std::sort(nodes.begin(), nodes.end());
    show("chain, all handles differ", std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end());

    NEED(hipGraphCreate(&fan, 0));
    nodes.clear();
    for (size_t i = 0; i < count; ++i) {
        hipGraphNode_t node;
        NEED(hipGraphAddEmptyNode(&node, fan, nullptr, 0));
        nodes.push_back(node);
    }
    hipGraphNode_t join;
    NEED(hipGraphAddEmptyNode(&join, fan, nodes.data(), nodes.size()));
    size_t found = 0;
    NEED(hipGraphNodeGetDependencies(join, nullptr, &found));
    show("fan, dependencies of the join", found);
    std::vector<hipGraphNode_t> dependencies(found);
    NEED(hipGraphNodeGetDependencies(join, dependencies.data(), &found));
    show("fan, dependencies come in the order given", dependencies == nodes);
    NEED(hipGraphGetRootNodes(fan, nullptr, &found));
    show("fan, roots", found);
    show("fan, edges", edge_count(fan));
    hipGraph_t clone;
    NEED(hipGraphClone(&clone, fan));
    show("clone of the fan, nodes", node_count(clone));
    show("clone of the fan, edges", edge_count(clone));
    for (size_t i = 0; i < count; i += 2) NEED(hipGraphDestroyNode(nodes[i]));
    show("half removed, nodes", node_count(fan));
    show("half removed, edges", edge_count(fan));
    hipGraphExec_t exec = instantiate(chain);
    run(exec, nullptr);
    NEED(hipGraphExecDestroy(exec));
    for (auto graph : {chain, fan, clone}) show("destroy", hipGraphDestroy(graph));
}
