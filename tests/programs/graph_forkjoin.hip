// Capture that forks over three streams and joins again, a memset node, a child graph, parameters
// exchanged between launches, and timing by events.
#include "check.h"
#include <vector>

__global__ void scale(int* data, int factor) { data[threadIdx.x + blockIdx.x * blockDim.x] *= factor; }
__global__ void offset(int* data, int value) { data[threadIdx.x + blockIdx.x * blockDim.x] += value; }
__global__ void sum(int* out, const int* x, const int* y, const int* z) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] += x[i] + y[i] + z[i];
}

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? problem_size(argc, argv) : 64 * 1024;
  const size_t bytes = n * sizeof(int);
  const dim3 grid(static_cast<unsigned>(n / 256)), block(256);
  int *x, *y, *z, *out, *total;
  CHECK(hipMalloc(reinterpret_cast<void**>(&x), bytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&y), bytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&z), bytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&out), bytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&total), bytes));
  int* pinned;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), bytes, hipHostMallocDefault));
  for (size_t i = 0; i < n; ++i) pinned[i] = static_cast<int>(i % 1000);
  CHECK(hipMemset(total, 0, bytes));

  hipStream_t s1, s2, s3;
  CHECK(hipStreamCreate(&s1));
  CHECK(hipStreamCreateWithFlags(&s2, hipStreamNonBlocking));
  CHECK(hipStreamCreate(&s3));
  hipEvent_t fork, join2, join3, start, stop;
  CHECK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  CHECK(hipEventCreateWithFlags(&join2, hipEventDisableTiming));
  CHECK(hipEventCreateWithFlags(&join3, hipEventDisableTiming));
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));

  // The child: total += out, as a graph of its own.
  hipGraph_t child;
  CHECK(hipGraphCreate(&child, 0));
  hipGraphNode_t child_node;
  int* zeros;
  CHECK(hipMalloc(reinterpret_cast<void**>(&zeros), bytes));
  CHECK(hipMemset(zeros, 0, bytes));
  void* child_arguments[] = {&total, &out, &zeros, &zeros};
  hipKernelNodeParams child_params{};
  child_params.func = reinterpret_cast<void*>(sum);
  child_params.gridDim = grid;
  child_params.blockDim = block;
  child_params.kernelParams = child_arguments;
  CHECK(hipGraphAddKernelNode(&child_node, child, nullptr, 0, &child_params));

  CHECK(hipStreamBeginCapture(s1, hipStreamCaptureModeGlobal));
  CHECK(hipMemsetAsync(out, 0, bytes, s1));
  CHECK(hipEventRecord(fork, s1));
  CHECK(hipStreamWaitEvent(s2, fork, 0));
  CHECK(hipStreamWaitEvent(s3, fork, 0));
  CHECK(hipMemcpyAsync(x, pinned, bytes, hipMemcpyHostToDevice, s1));
  scale<<<grid, block, 0, s1>>>(x, 2);
  CHECK(hipGetLastError());
  CHECK(hipMemcpyAsync(y, pinned, bytes, hipMemcpyHostToDevice, s2));
  scale<<<grid, block, 0, s2>>>(y, 3);
  offset<<<grid, block, 0, s2>>>(y, 5);
  CHECK(hipGetLastError());
  CHECK(hipMemsetAsync(z, 0, bytes, s3));
  offset<<<grid, block, 0, s3>>>(z, 7);
  CHECK(hipGetLastError());
  CHECK(hipEventRecord(join2, s2));
  CHECK(hipEventRecord(join3, s3));
  CHECK(hipStreamWaitEvent(s1, join2, 0));
  CHECK(hipStreamWaitEvent(s1, join3, 0));
  sum<<<grid, block, 0, s1>>>(out, x, y, z);
  CHECK(hipGetLastError());
  hipGraph_t graph;
  CHECK(hipStreamEndCapture(s1, &graph));

  // The captured graph's only leaf is the sum; the child follows it.
  size_t count = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  std::vector<hipGraphNode_t> nodes(count);
  CHECK(hipGraphGetNodes(graph, nodes.data(), &count));
  hipGraphNode_t leaf = nullptr, scale_x = nullptr;
  for (hipGraphNode_t node : nodes) {
    size_t dependents = 0;
    CHECK(hipGraphNodeGetDependentNodes(node, nullptr, &dependents));
    hipGraphNodeType type;
    CHECK(hipGraphNodeGetType(node, &type));
    if (dependents == 0) leaf = node;
    if (type == hipGraphNodeTypeKernel) {
      hipKernelNodeParams params{};
      CHECK(hipGraphKernelNodeGetParams(node, &params));
      if (params.func == reinterpret_cast<void*>(scale) && *static_cast<int*>(params.kernelParams[1]) == 2) {
        scale_x = node;
      }
    }
  }
  if (leaf == nullptr || scale_x == nullptr) {
    std::fprintf(stderr, "the captured graph has no leaf or lost a kernel's parameters\n");
    return 1;
  }
  hipGraphNode_t child_in_graph;
  CHECK(hipGraphAddChildGraphNode(&child_in_graph, graph, &leaf, 1, child));

  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipEventRecord(start, s1));
  const int factors[] = {2, 10, -1};
  for (int factor : factors) {
    if (factor != 2) {
      void* arguments[] = {&x, &factor};
      hipKernelNodeParams params{};
      params.func = reinterpret_cast<void*>(scale);
      params.gridDim = grid;
      params.blockDim = block;
      params.kernelParams = arguments;
      // The launch before may still be in flight: it must not see the new factor.
      CHECK(hipGraphExecKernelNodeSetParams(exec, scale_x, &params));
    }
    CHECK(hipGraphLaunch(exec, s1));
  }
  CHECK(hipEventRecord(stop, s1));
  CHECK(hipEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  if (!(milliseconds > 0.0f && milliseconds < 600000.0f)) {
    std::fprintf(stderr, "elapsed time %f ms\n", static_cast<double>(milliseconds));
    return 1;
  }

  std::vector<int> result(n);
  CHECK(hipMemcpy(result.data(), total, bytes, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < n; ++i) {
    int value = static_cast<int>(i % 1000), expected = 0;
    for (int factor : factors) expected += value * factor + (value * 3 + 5) + 7;
    if (result[i] != expected) {
      std::fprintf(stderr, "element %zu is %d, not %d\n", i, result[i], expected);
      return 1;
    }
  }

  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipGraphDestroy(child));
  for (hipEvent_t event : {fork, join2, join3, start, stop}) CHECK(hipEventDestroy(event));
  for (hipStream_t stream : {s1, s2, s3}) CHECK(hipStreamDestroy(stream));
  for (int* pointer : {x, y, z, out, total, zeros}) CHECK(hipFree(pointer));
  CHECK(hipHostFree(pinned));
  std::puts("Validation passed.");
  return 0;
}
