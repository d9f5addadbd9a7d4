// A captured graph as a child of another and as a clone.
#include "captured.h"
#include "hold.h"

int main() {
    int *a, *b, *c;
    for (int** data : {&a, &b, &c}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), 64 * sizeof(int)));
        NEED(hipMemset(*data, 0, 64 * sizeof(int)));
    }
    Fork s;
    NEED(hipStreamBeginCapture(s.origin, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, s.origin>>>(a, a, 1);
    s.fork();
    add<<<1, 64, 0, s.other>>>(b, a, 10);
    // Of its own memory: nothing orders it and the kernel beside it.
    multiply<<<1, 64, 0, s.origin>>>(c, 1);
    s.join();
    sum<<<1, 64, 0, s.origin>>>(a, a, b);
    hipGraph_t captured, clone, outer;
    NEED(hipStreamEndCapture(s.origin, &captured));
    show("captured", shape_of(captured));
    NEED(hipGraphClone(&clone, captured));
    show("clone", shape_of(clone));
    NEED(hipGraphCreate(&outer, 0));
    hipGraphNode_t first, second;
    NEED(hipGraphAddChildGraphNode(&first, outer, nullptr, 0, captured));
    NEED(hipGraphAddChildGraphNode(&second, outer, &first, 1, clone));
    NEED(hipGraphDestroy(captured));
    NEED(hipGraphDestroy(clone));
    show("outer", shape_of(outer));
    hipStream_t launch;
    NEED(hipStreamCreate(&launch));
    run_once(outer, launch);
    int host[64];
    NEED(hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost));
    show_all("a", host, 64, 36);
    NEED(hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost));
    show_all("b", host, 64, 23);
    return 0;
}
