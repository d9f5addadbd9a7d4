// hipGraphAddMemcpyNode1D: data to the device, within it, and back.
// proves: hipGraphAddMemcpyNode1D
#include "graph.h"

int main() {
    const size_t count = 1000;
    std::vector<int> source(count), back(count, -1);
    for (size_t i = 0; i < count; ++i) source[i] = static_cast<int>(3 * i + 1);
    int* a = device_memory<int>(count, 0);
    int* b = device_memory<int>(count, 0);
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t up, across, down;
    const size_t bytes = count * sizeof(int);
    show("add to the device", hipGraphAddMemcpyNode1D(&up, graph, nullptr, 0, a, source.data(), bytes,
        hipMemcpyHostToDevice));
    show("add within it", hipGraphAddMemcpyNode1D(&across, graph, &up, 1, b, a, bytes,
        hipMemcpyDeviceToDevice));
    show("add back", hipGraphAddMemcpyNode1D(&down, graph, &across, 1, back.data(), b, bytes,
        hipMemcpyDeviceToHost));
    hipGraphExec_t exec = instantiate(graph);
    show("nothing is copied before the launch", back[0]);
    run(exec, nullptr);
    show("round trip", back == source);
    for (auto& value : source) value += 5;
    run(exec, nullptr);
    show("host memory is read at the launch", back == source);

    hipGraph_t part;
    NEED(hipGraphCreate(&part, 0));
    std::vector<int> small(4, 0);
    NEED(hipGraphAddMemcpyNode1D(&down, part, nullptr, 0, small.data() + 1, a + 10, 8,
        hipMemcpyDeviceToHost));
    run(instantiate(part), nullptr);
    line("part of it: %d %d %d %d", small[0], small[1] == source[10], small[2] == source[11], small[3]);

    int* pinned = nullptr;
    NEED(hipHostMalloc(reinterpret_cast<void**>(&pinned), bytes, 0));
    std::memset(pinned, 0, bytes);
    hipGraph_t to_pinned;
    NEED(hipGraphCreate(&to_pinned, 0));
    NEED(hipGraphAddMemcpyNode1D(&down, to_pinned, nullptr, 0, pinned, a, bytes, hipMemcpyDeviceToHost));
    run(instantiate(to_pinned), nullptr);
    show("to pinned memory", std::equal(source.begin(), source.end(), pinned));
    for (auto g : {graph, part, to_pinned}) NEED(hipGraphDestroy(g));
    NEED(hipHostFree(pinned));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
