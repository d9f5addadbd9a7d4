// Two devices: copy and fill nodes whose memory is on one or the other, launched on streams of either.
// DEVICES: 2
#include "graph.h"

const int count = 1000;
const size_t bytes = count * sizeof(int);

int main() {
    int *memory[2];
    hipStream_t stream[2];
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMalloc(&memory[device], bytes));
        NEED(hipStreamCreate(&stream[device]));
    }
    NEED(hipSetDevice(0));
    std::vector<int> in(count), out(count);
    for (int i = 0; i < count; ++i) in[i] = i * 11;

    // Host to the first, first to the second; then second to the host.
    hipGraph_t graph, home;
    hipGraphNode_t up, across, down;
    NEED(hipGraphCreate(&graph, 0));
    show("to the first", hipGraphAddMemcpyNode1D(&up, graph, nullptr, 0, memory[0], in.data(), bytes,
                                                 hipMemcpyHostToDevice));
    show("to the second",
         hipGraphAddMemcpyNode1D(&across, graph, &up, 1, memory[1], memory[0], bytes, hipMemcpyDeviceToDevice));
    NEED(hipGraphCreate(&home, 0));
    show("to the host", hipGraphAddMemcpyNode1D(&down, home, nullptr, 0, out.data(), memory[1], bytes,
                                                hipMemcpyDeviceToHost));
    hipGraphExec_t exec = instantiate(graph), back = instantiate(home);
    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipMemset(memory[1], 0, bytes));
        std::fill(out.begin(), out.end(), -1);
        line("launch on device %d: %s", device, observe::name_of(hipGraphLaunch(exec, stream[device])).c_str());
        NEED(hipStreamSynchronize(stream[device]));
        // In one graph 5.2.3 copies to the host without waiting for the copy between devices.
        run(back, stream[device]);
        show("arrived", out == in);
    }
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphExecDestroy(back));
    NEED(hipGraphDestroy(graph));
    NEED(hipGraphDestroy(home));

    // Fills on both, then both to the host.
    NEED(hipSetDevice(0));
    NEED(hipGraphCreate(&graph, 0));
    std::vector<int> filled(2 * count, -1);
    for (int device : {0, 1}) {
        hipMemsetParams fill = {};
        fill.dst = memory[device];
        fill.elementSize = sizeof(int);
        fill.value = 50u + device;
        fill.width = count;
        fill.height = 1;
        hipGraphNode_t node, copy;
        show("fill", hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
        show("copy", hipGraphAddMemcpyNode1D(&copy, graph, &node, 1, filled.data() + count * device, memory[device],
                                             bytes, hipMemcpyDeviceToHost));
    }
    exec = instantiate(graph);
    run(exec, stream[0]);
    show_all("fill of the first", filled.data(), count, 50);
    show_all("fill of the second", filled.data() + count, count, 51);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));

    for (int device : {0, 1}) {
        NEED(hipSetDevice(device));
        NEED(hipStreamDestroy(stream[device]));
        NEED(hipFree(memory[device]));
    }
}
