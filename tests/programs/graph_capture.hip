// The documentation's graph, recorded by stream capture: memory, host function, copies and kernels.
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
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  double* a = nullptr;
  int* b = nullptr;
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&a), n * sizeof(double), stream));
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&b), n * sizeof(int), stream));
  CHECK(hipLaunchHostFunc(stream, fill, &job));
  CHECK(hipMemcpyAsync(a, host.data(), n * sizeof(double), hipMemcpyHostToDevice, stream));
  kernelA<<<grid, block, 0, stream>>>(a);
  CHECK(hipGetLastError());
  kernelB<<<grid, block, 0, stream>>>(b);
  CHECK(hipGetLastError());
  kernelC<<<grid, block, 0, stream>>>(a, b);
  CHECK(hipGetLastError());
  CHECK(hipMemcpyAsync(host.data(), a, n * sizeof(double), hipMemcpyDeviceToHost, stream));
  CHECK(hipFreeAsync(a, stream));
  CHECK(hipFreeAsync(b, stream));
  hipGraph_t graph;
  CHECK(hipStreamEndCapture(stream, &graph));

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
  std::puts("Validation passed.");
  return 0;
}
