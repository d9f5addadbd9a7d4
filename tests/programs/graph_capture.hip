// The documentation's graph, recorded by stream capture: memory, host function, copies and kernels.
//
// With NO_GRAPH_MEMORY, as HIP 5.2.3 can have it: memory is allocated beforehand, and the host function is a node that
// joins the captured graph.
#include "check.h"
#include "kernels.h"

int main(int argc, char** argv) {
  const size_t n = problem_size(argc, argv);
  const int rounds = launches(argc, argv);
  const dim3 grid(static_cast<unsigned>(n / 1024)), block(1024);
  std::vector<double> host(n);
  Fill job{&host, 2.0};

  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  double* a = nullptr;
  int* b = nullptr;
#ifdef NO_GRAPH_MEMORY
  CHECK(hipMalloc(reinterpret_cast<void**>(&a), n * sizeof(double)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&b), n * sizeof(int)));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
#else
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&a), n * sizeof(double), stream));
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&b), n * sizeof(int), stream));
  CHECK(hipLaunchHostFunc(stream, fill, &job));
#endif
  CHECK(hipMemcpyAsync(a, host.data(), n * sizeof(double), hipMemcpyHostToDevice, stream));
  kernelA<<<grid, block, 0, stream>>>(a);
  CHECK(hipGetLastError());
  kernelB<<<grid, block, 0, stream>>>(b);
  CHECK(hipGetLastError());
  kernelC<<<grid, block, 0, stream>>>(a, b);
  CHECK(hipGetLastError());
  CHECK(hipMemcpyAsync(host.data(), a, n * sizeof(double), hipMemcpyDeviceToHost, stream));
  hipGraph_t graph;
#ifdef NO_GRAPH_MEMORY
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphNode_t root, fill_node;
  size_t roots = 1;
  CHECK(hipGraphGetRootNodes(graph, &root, &roots));
  hipHostNodeParams params{};
  params.fn = fill;
  params.userData = &job;
  CHECK(hipGraphAddHostNode(&fill_node, graph, nullptr, 0, &params));
  CHECK(hipGraphAddDependencies(graph, &fill_node, &root, 1));
#else
  CHECK(hipFreeAsync(a, stream));
  CHECK(hipFreeAsync(b, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
#endif

  hipGraphExec_t exec;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 0; round < rounds; ++round) {
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    if (!all_equal(host, 7.0)) return 1;
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
#ifdef NO_GRAPH_MEMORY
  CHECK(hipFree(a));
  CHECK(hipFree(b));
#endif
  std::puts("Validation passed.");
  return 0;
}
