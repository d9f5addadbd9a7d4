// The arguments of calls as a profiler gets them: numbers, structures, launches, graphs.
// proves: hipRegisterApiCallback, hipRegisterActivityCallback
#include "profiler.h"

using profiler::data;

namespace {

int depth = 0;
// What the arguments are compared with.
hipStream_t stream = nullptr;
hipGraph_t graph = nullptr;
hipGraphNode_t node = nullptr;
void *to = nullptr, *from = nullptr;
const void* pointer = nullptr;

const char* same(const void* one, const void* other) { return one == other ? "the same" : "another"; }

void* on_activity(uint32_t, void*, const void*, void* arg) {
    return arg ? (--depth, nullptr) : std::memset(data(depth++), 0, sizeof(hip_api_data_t));
}

void print(const char* what, dim3 size) { line("  %s: %u %u %u", what, size.x, size.y, size.z); }

void on_api(uint32_t, uint32_t id, const void* given, void*) {
    auto* call = static_cast<const hip_api_data_t*>(given);
    if (call->phase != 0) return;
    line("%s", hipApiName(id));
    auto& args = call->args;
    switch (id) {
        case HIP_API_ID___hipPushCallConfiguration:
            print("grid", args.__hipPushCallConfiguration.gridDim);
            print("block", args.__hipPushCallConfiguration.blockDim);
            show("  shared", args.__hipPushCallConfiguration.sharedMem);
            show("  stream", same(args.__hipPushCallConfiguration.stream, stream));
            break;
        case HIP_API_ID_hipLaunchKernel:
            show("  function", same(args.hipLaunchKernel.function_address, pointer));
            print("grid", args.hipLaunchKernel.numBlocks);
            print("block", args.hipLaunchKernel.dimBlocks);
            show("  arguments", args.hipLaunchKernel.args ? "given" : "null");
            show("  shared", args.hipLaunchKernel.sharedMemBytes);
            show("  stream", same(args.hipLaunchKernel.stream, stream));
            break;
        case HIP_API_ID_hipMemcpyAsync:
            show("  to", same(args.hipMemcpyAsync.dst, to));
            show("  from", same(args.hipMemcpyAsync.src, from));
            show("  bytes", args.hipMemcpyAsync.sizeBytes);
            show("  kind", static_cast<int>(args.hipMemcpyAsync.kind));
            show("  stream", same(args.hipMemcpyAsync.stream, stream));
            break;
        case HIP_API_ID_hipMemcpy2DAsync:
            show("  to", same(args.hipMemcpy2DAsync.dst, to));
            show("  pitches", args.hipMemcpy2DAsync.dpitch);
            show("  and", args.hipMemcpy2DAsync.spitch);
            show("  width", args.hipMemcpy2DAsync.width);
            show("  height", args.hipMemcpy2DAsync.height);
            break;
        case HIP_API_ID_hipMemset3D:
            show("  pointer", same(args.hipMemset3D.pitchedDevPtr.ptr, to));
            show("  pitch", args.hipMemset3D.pitchedDevPtr.pitch);
            show("  value", args.hipMemset3D.value);
            show("  width", args.hipMemset3D.extent.width);
            show("  height", args.hipMemset3D.extent.height);
            show("  depth", args.hipMemset3D.extent.depth);
            break;
        case HIP_API_ID_hipMemsetD16:
            show("  value", static_cast<int>(args.hipMemsetD16.value));
            show("  count", args.hipMemsetD16.count);
            break;
        case HIP_API_ID_hipStreamCreateWithPriority:
            show("  stream", same(args.hipStreamCreateWithPriority.stream, pointer));
            show("  flags", args.hipStreamCreateWithPriority.flags);
            show("  priority", args.hipStreamCreateWithPriority.priority);
            break;
        case HIP_API_ID_hipGraphAddKernelNode:
            show("  node", same(args.hipGraphAddKernelNode.pGraphNode, &node));
            show("  graph", same(args.hipGraphAddKernelNode.graph, graph));
            show("  dependencies", args.hipGraphAddKernelNode.numDependencies);
            show("  parameters", same(args.hipGraphAddKernelNode.pNodeParams, pointer));
            show("  block", args.hipGraphAddKernelNode.pNodeParams->blockDim.x);
            break;
        case HIP_API_ID_hipGraphInstantiate:
            show("  graph", same(args.hipGraphInstantiate.graph, graph));
            show("  text", args.hipGraphInstantiate.bufferSize);
            break;
        case HIP_API_ID_hipStreamWaitValue32:
            show("  at", same(args.hipStreamWaitValue32.ptr, to));
            show("  value", static_cast<int>(args.hipStreamWaitValue32.value));
            show("  flags", args.hipStreamWaitValue32.flags);
            show("  mask", args.hipStreamWaitValue32.mask);
            break;
        default: break;
    }
}

__global__ void put(int* to, int value) { to[threadIdx.x] = value; }

}  // namespace

int main() {
    for (unsigned id = 1; id <= HIP_API_ID_LAST; ++id) {
        NEED(profiler::on_activity(id, on_activity, "activity"));
        NEED(profiler::on_api(id, on_api, "api"));
    }
    hipStream_t made;
    pointer = &made;
    NEED(hipStreamCreateWithPriority(&made, hipStreamNonBlocking, 0));
    stream = made;
    NEED(hipMalloc(&to, 4096));
    NEED(hipMalloc(&from, 4096));
    pointer = reinterpret_cast<const void*>(put);
    put<<<dim3(2, 3, 1), dim3(32, 2, 1), 16, stream>>>(static_cast<int*>(to), 5);
    NEED(hipMemcpyAsync(to, from, 77, hipMemcpyDeviceToDevice, stream));
    NEED(hipMemcpy2DAsync(to, 64, from, 32, 16, 5, hipMemcpyDeviceToDevice, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipMemset3D(make_hipPitchedPtr(to, 64, 64, 4), 9, make_hipExtent(10, 3, 2)));
    NEED(hipMemsetD16(to, 1234, 8));
    NEED(hipStreamWaitValue32(stream, to, 1234, hipStreamWaitValueEq, 0xffff));
    NEED(hipStreamSynchronize(stream));

    NEED(hipGraphCreate(&graph, 0));
    int value = 3;
    void* arguments[] = {&to, &value};
    hipKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(put);
    params.gridDim = dim3(1);
    params.blockDim = dim3(48);
    params.kernelParams = arguments;
    pointer = &params;
    NEED(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    hipGraphExec_t exec;
    NEED(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    NEED(hipGraphLaunch(exec, stream));
    NEED(hipStreamSynchronize(stream));
    NEED(hipGraphExecDestroy(exec));
    NEED(hipGraphDestroy(graph));
    NEED(hipFree(to));
    NEED(hipStreamDestroy(stream));
    show("depth", depth);
}
