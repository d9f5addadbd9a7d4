// A captured kernel has the parameters of the node that the explicit call adds, and arguments of its own.
#include "captured.h"
#include "hold.h"

static void describe(const std::string& label, hipGraphNode_t node, const void* function) {
    hipKernelNodeParams params = {};
    hipError_t error = hipGraphKernelNodeGetParams(node, &params);
    show(label, error);
    if (error != hipSuccess) return;
    show("function of " + label, params.func == function);
    show("grid of " + label, static_cast<int>(params.gridDim.x * 100 + params.gridDim.y * 10 + params.gridDim.z));
    show("block of " + label, static_cast<int>(params.blockDim.x * 100 + params.blockDim.y * 10 + params.blockDim.z));
    show("shared bytes of " + label, params.sharedMemBytes);
    show("second argument of " + label, *static_cast<int*>(params.kernelParams[1]));
}

int main() {
    int* data;
    NEED(hipMalloc(reinterpret_cast<void**>(&data), 4096 * sizeof(int)));
    hipStream_t stream;
    NEED(hipStreamCreate(&stream));
    const void* function = reinterpret_cast<const void*>(set);
    int value = 5;
    void* arguments[] = {&data, &value};
    NEED(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NEED(hipLaunchKernel(function, dim3(2, 1, 1), dim3(8, 2, 4), arguments, 256, stream));
    value = 9;
    hipGraph_t captured, other;
    NEED(hipStreamEndCapture(stream, &captured));
    describe("captured", nodes_of(captured).at(0), function);
    value = 5;
    hipKernelNodeParams params = {};
    params.func = const_cast<void*>(function);
    params.gridDim = dim3(2, 1, 1);
    params.blockDim = dim3(8, 2, 4);
    params.sharedMemBytes = 256;
    params.kernelParams = arguments;
    hipGraphNode_t node;
    NEED(hipGraphCreate(&other, 0));
    NEED(hipGraphAddKernelNode(&node, other, nullptr, 0, &params));
    value = 9;
    describe("explicit", node, function);
    return 0;
}
