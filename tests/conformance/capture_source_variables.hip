// A captured kernel keeps its arguments as they were; copies read host memory when the graph runs.
#include "captured.h"
#include "hold.h"

struct Pair {
    int factor;
    int* out;
};
__global__ void scale(Pair by, const int* in) { by.out[threadIdx.x] = in[threadIdx.x] * by.factor; }

int main() {
    int *in, *out, *spare;
    int host[64], result[64];
    for (int** data : {&in, &out, &spare}) {
        NEED(hipMalloc(reinterpret_cast<void**>(data), sizeof host));
        NEED(hipMemset(*data, 0, sizeof host));
    }
    for (int& x : host) x = 2;
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    Pair pair = {3, out};
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipMemcpyAsync(in, host, sizeof host, hipMemcpyHostToDevice, stream));
    scale<<<1, 64, 0, stream>>>(pair, in);
    pair = {100, spare};
    hipGraph_t graph;
    NEED(hipStreamEndCapture(stream, &graph));
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    // The executable graph lives without the graph.
    NEED(hipGraphDestroy(graph));
    for (int value : {5, 7}) {
        for (int& x : host) x = value;
        NEED(hipGraphLaunch(exec, stream));
        NEED(hipStreamSynchronize(stream));
        NEED(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost));
        show_all("out", result, 64, 3 * value);
        NEED(hipMemcpy(result, spare, sizeof result, hipMemcpyDeviceToHost));
        show_all("not touched", result, 64, 0);
    }
    return 0;
}
