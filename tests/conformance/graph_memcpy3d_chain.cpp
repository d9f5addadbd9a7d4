// A graph of box copies between host and device memory of different pitches, launched, changed and launched again.
#include "observe.h"

static const size_t row = 64, rows = 6, slices = 4, total = row * rows * slices;

int main() {
    unsigned char *a = nullptr, *b = nullptr;
    NEED(hipMalloc(&a, total));
    NEED(hipMalloc(&b, total));
    NEED(hipMemset(a, 1, total));
    NEED(hipMemset(b, 2, total));
    std::vector<unsigned char> input(total), output(total, 0);
    for (size_t i = 0; i < total; ++i) input[i] = static_cast<unsigned char>(i * 11 + 1);
    auto box = [](void* to, hipPos dst, void* from, hipPos src, hipMemcpyKind kind) {
        hipMemcpy3DParms p;
        std::memset(&p, 0, sizeof p);
        p.srcPtr = make_hipPitchedPtr(from, row, row, rows);
        p.srcPos = src;
        p.dstPtr = make_hipPitchedPtr(to, row, row, rows);
        p.dstPos = dst;
        p.extent = make_hipExtent(24, 3, 2);
        p.kind = kind;
        return p;
    };
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t in, through, out;
    hipMemcpy3DParms p = box(a, make_hipPos(4, 1, 1), input.data(), make_hipPos(0, 0, 0), hipMemcpyHostToDevice);
    show("in", hipGraphAddMemcpyNode(&in, graph, nullptr, 0, &p));
    p = box(b, make_hipPos(9, 2, 0), a, make_hipPos(4, 1, 1), hipMemcpyDeviceToDevice);
    show("through", hipGraphAddMemcpyNode(&through, graph, &in, 1, &p));
    p = box(output.data(), make_hipPos(0, 3, 2), b, make_hipPos(9, 2, 0), hipMemcpyDeviceToHost);
    show("out", hipGraphAddMemcpyNode(&out, graph, &through, 1, &p));
    hipGraphExec_t exec;
    hipStream_t stream;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    NEED(hipStreamCreate(&stream));
    for (int launch = 0; launch < 3; ++launch) {
        show("launch", hipGraphLaunch(exec, stream));
        NEED(hipStreamSynchronize(stream));
        show_sum("output", output.data(), total);
        for (auto& byte : input) byte = static_cast<unsigned char>(byte * 3);
    }
    p = box(b, make_hipPos(30, 0, 1), a, make_hipPos(6, 2, 1), hipMemcpyDeviceToDevice);
    show("change", hipGraphExecMemcpyNodeSetParams(exec, through, &p));
    show("launch", hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    show_sum("output", output.data(), total);
    std::vector<unsigned char> inside(total);
    NEED(hipMemcpy(inside.data(), b, total, hipMemcpyDeviceToHost));
    show_sum("in between", inside.data(), total);
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipStreamDestroy(stream));
    NEED(hipFree(a));
    NEED(hipFree(b));
}
