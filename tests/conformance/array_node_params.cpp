// Copy nodes with arrays: the parameters come back with the arrays and in elements; which ones can be set.
// proves: hipGraphAddMemcpyNode, hipGraphMemcpyNodeGetParams, hipGraphMemcpyNodeSetParams
#include "array.h"

static float host[4096];

static void see(const char* label, const hipMemcpy3DParms& p, hipArray* from, hipArray* to) {
    line("%s: source %s at %zu %zu %zu, %s", label, p.srcArray == from ? "as given" : "another", p.srcPos.x, p.srcPos.y,
         p.srcPos.z, p.srcPtr.ptr ? "memory" : "no memory");
    line("%s: target %s at %zu %zu %zu, %s", label, p.dstArray == to ? "as given" : "another", p.dstPos.x, p.dstPos.y,
         p.dstPos.z, p.dstPtr.ptr ? "memory" : "no memory");
    line("%s: %zu %zu %zu, kind %d", label, p.extent.width, p.extent.height, p.extent.depth, static_cast<int>(p.kind));
}

int main() {
    hipArray *a = cube(), *b = cube();
    hipGraph_t graph;
    NEED(hipGraphCreate(&graph, 0));
    hipGraphNode_t in, through, out;
    hipMemcpy3DParms p{};
    p.srcPtr = make_hipPitchedPtr(host, 64, 16, 8);
    p.dstArray = a;
    p.dstPos = make_hipPos(1, 2, 1);
    p.extent = make_hipExtent(8, 4, 2);
    p.kind = hipMemcpyHostToDevice;
    show("add in", hipGraphAddMemcpyNode(&in, graph, nullptr, 0, &p));
    hipMemcpy3DParms q{};
    q.srcArray = a;
    q.srcPos = make_hipPos(3, 0, 2);
    q.dstArray = b;
    q.dstPos = make_hipPos(0, 5, 0);
    q.extent = make_hipExtent(13, 3, 2);
    q.kind = hipMemcpyDeviceToDevice;
    show("add through", hipGraphAddMemcpyNode(&through, graph, &in, 1, &q));
    hipMemcpy3DParms r{};
    r.srcArray = b;
    r.dstPtr = make_hipPitchedPtr(host, 64, 16, 8);
    r.dstPos = make_hipPos(8, 1, 0);
    r.extent = make_hipExtent(4, 4, 3);
    r.kind = hipMemcpyDeviceToHost;
    show("add out", hipGraphAddMemcpyNode(&out, graph, &through, 1, &r));
    hipMemcpy3DParms found{};
    show("get in", hipGraphMemcpyNodeGetParams(in, &found));
    see("in", found, nullptr, a);
    line("in: pitch %zu, rows %zu", found.srcPtr.pitch, found.srcPtr.ysize);
    show("get through", hipGraphMemcpyNodeGetParams(through, &found));
    see("through", found, a, b);
    show("get out", hipGraphMemcpyNodeGetParams(out, &found));
    see("out", found, b, nullptr);
    show("set back", hipGraphMemcpyNodeSetParams(out, &found));
    p.dstArray = b;
    p.dstPos = make_hipPos(0, 0, 0);
    show("set in", hipGraphMemcpyNodeSetParams(in, &p));
    show("get in again", hipGraphMemcpyNodeGetParams(in, &found));
    see("in again", found, nullptr, b);
    hipGraphExec_t exec;
    show("instantiate", hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    p.dstArray = a;
    show("set in the executable", hipGraphExecMemcpyNodeSetParams(exec, in, &p));
    show("destroy", hipGraphExecDestroy(exec));
    show("destroy the graph", hipGraphDestroy(graph));
    NEED(hipFreeArray(a));
    NEED(hipFreeArray(b));
}
