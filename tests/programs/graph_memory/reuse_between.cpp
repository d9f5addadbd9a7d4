// Memory that two graphs share because they run one behind the other is each one's own while it runs.
#include "graph_memory.h"

struct Chain {
    hipGraphExec_t exec;
    std::vector<unsigned char> host;
};

static void make(Chain& chain, size_t bytes, unsigned value) {
    hipGraph_t graph = new_graph();
    void* address;
    hipGraphNode_t alloc = add_alloc(graph, {}, bytes, &address), fill = add_fill(graph, alloc, address, bytes, value), copy;
    chain.host.resize(bytes);
    NEED(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, chain.host.data(), address, bytes, hipMemcpyDeviceToHost));
    add_free(graph, {copy}, address);
    chain.exec = instantiate(graph);
}

int main() {
    constexpr size_t bytes = 4 * MiB;
    Chain chains[3];
    for (unsigned n = 0; n < 3; ++n) make(chains[n], bytes, n + 1);
    hipStream_t stream = new_stream();
    for (int round = 0; round < 3; ++round) {
        for (auto& chain : chains) NEED(hipGraphLaunch(chain.exec, stream));
    }
    NEED(hipStreamSynchronize(stream));
    for (unsigned n = 0; n < 3; ++n) {
        show_all("on one stream", chains[n].host.data(), bytes, static_cast<unsigned char>(n + 1));
    }
    show_footprint("on one stream");
    // On streams of their own they run at a time.
    hipStream_t streams[3] = {new_stream(), new_stream(), new_stream()};
    for (int round = 0; round < 3; ++round) {
        for (unsigned n = 0; n < 3; ++n) NEED(hipGraphLaunch(chains[n].exec, streams[n]));
    }
    NEED(hipDeviceSynchronize());
    for (unsigned n = 0; n < 3; ++n) {
        show_all("on streams of their own", chains[n].host.data(), bytes, static_cast<unsigned char>(n + 1));
    }
}
